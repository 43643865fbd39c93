"""Beginning a table, and who sits down at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rpgres.dice.seeds import Streams, read_seed
from rpgres.engine.dealing import Dealt, with_hands
from rpgres.engine.piles import lay_out
from rpgres.engine.records import event_record
from rpgres.engine.views import HOST
from rpgres.errors import UsageError, called, named
from rpgres.journal import files, store
from rpgres.journal.chain import commitment
from rpgres.journal.checking import remember, stamp
from rpgres.journal.commands.pending import refuse_while_pending
from rpgres.journal.commands.writing import Done, Place, Transaction, code_of, hash_of, rules_in, rules_of, write
from rpgres.journal.history import Entries, History
from rpgres.journal.records import Draft, Public, Secret, kept_sheets
from rpgres.model.state import EMPTY, GM, NO_NAMES, State
from rpgres.parameters.context import check_plain
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.effects import with_tracks
from rpgres.rulesets.sheets import Sheet, read_sheet, sheet_names, sheet_source
from rpgres.rulesets.sheets import seated as sit_down
from rpgres.toml.reading import Source

TRUSTS = ("players", "gm")
DICE = ("seeded", "real")


def begin_table(
    place: Place,
    *,
    ruleset: str,
    sheets: Sequence[str],
    switches: Mapping[str, str] = EMPTY,
    seed: str | None = None,
    title: str = "",
    trust: str = "",
    dice: str = "",
    deals: bool = True,
) -> Done:
    """Begin a table: make its file, with a commitment to its seed.

    Args:
        switches: house rules that are not at their default.
        seed: what all chance is drawn from; a fresh one by default.
        trust: whether numbers that players type and no sheet has count at once (`players`), or when the game master
            has confirmed them (`gm`); as the rules say by default.
        dice: `real` where a language model at a seat may give results of real dice and cards; see `DICE`.
        deals: whether who sits down is dealt a hand, where the rules say so; not where cards are real.

    Raises:
        UsageError: something named does not exist, or two characters have one name.
        FileError: a sheet is faulty, there is a table already, or the file cannot be written.
    """
    if trust not in ("", *TRUSTS):
        raise UsageError(unknown("choice", trust, TRUSTS, of=named("trust")))
    if dice not in ("", *DICE):
        raise UsageError(unknown("choice", dice, DICE, of=named("dice")))
    rules = rules_in(ruleset, switches, (*files.beside(place.path), *place.folders))
    twice = next((name for name in sheets if sheets.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the sheet {twice!r} is named twice; copy it to a file of another name")
    texts = {name: _source(rules, name) for name in sheets}
    seed = read_seed(seed)
    salt = place.salt()
    dealt = set_table(rules, texts, streams=Streams(seed, salt=salt) if deals else None)
    public = Public(
        kind="new",
        at=place.now(),
        rules=hash_of(rules),
        code=code_of(rules),
        format=files.FORMAT,
        trust=trust or rules.file.trust,
        dice=dice if dice == "real" else "",
        deals=deals,
        ruleset=rules.id,
        title=title,
        switches=dict(rules.chosen),
        commitment=commitment(salt, seed.encode()).hex(),
    )
    folders = [files.kept_folder(folder, place.path) for folder in place.folders]
    secret = Secret(seed=seed, salt=salt.hex(), folders=folders, sheets=kept_sheets(texts), **kept_hands(dealt))
    entry = store.create(place.path, Draft(public, secret, dealt.state), salt=place.salt())
    remember(place.path, entry.hash, entry.hash, seen=stamp(place.path))
    return Done(History(Entries(1, {0: entry}), dealt.state, place.path), (entry,), rules)


def kept_hands(dealt: Dealt) -> dict[str, Any]:
    """Return what an entry keeps of the hands that were dealt as characters sat down, by its fields."""
    return {"dealt": tuple(map(event_record, dealt.cards)), "short": dealt.short}


def set_table(rules: Rules, texts: Mapping[str, Source], *, streams: Streams | None) -> Dealt:
    """Return a table at which the characters of some sheets sit.

    Args:
        streams: the seed's numbers; None where no hands are dealt.

    Raises:
        UsageError: two have one name.
        FileError: a sheet is faulty.
    """
    table = Dealt(with_tracks(rules, State()))
    for name, source in texts.items():
        sheet = read_sheet(rules, name, source=source)
        if sheet.character.name in table.state.characters:
            raise UsageError(f"two sheets have the name {sheet.character.name!r}; rename one of the files")
        dealt = seated(rules, table.state, sheet, streams=streams)
        table = Dealt(dealt.state, (*table.cards, *dealt.cards), table.short | dealt.short)
    return table


def streams_of(history: History) -> Streams | None:
    """Return what hands are dealt from where somebody sits down; None at a table where none are."""
    new = history.new
    return Streams(new.secret.seed, salt=bytes.fromhex(new.secret.salt)) if new.public.deals else None


def seated(rules: Rules, state: State, sheet: Sheet, *, streams: Streams | None, step: int = 0) -> Dealt:
    """Return the table with a character, its tags, its piles and its hand; one of its name is replaced, with its tags.

    Args:
        streams: what its hand is dealt from; None for no hand.

    Raises:
        UsageError: the name is a role in an action.
    """
    name = sheet.character.name
    if name in NO_NAMES:
        raise UsageError(f"{name!r} is reserved for a role or a view; rename the sheet's file")
    if name in state.characters:
        state = msgspec.structs.replace(state, tags=tuple(tag for tag in state.tags if tag.on != name))
    state = sit_down(state, sheet)
    if rules.file.piles:
        state = lay_out(rules, state)
        if streams is not None:
            return with_hands(rules, state, name, streams=streams, step=step)
    return Dealt(state)


def _source(rules: Rules, sheet: str) -> Source:
    check_plain(sheet)
    return sheet_source(rules, sheet)


def join(place: Place, sheet: str, *, seat: str | None = HOST) -> Done:
    """Let a character sit down, or replace its sheet.

    Args:
        seat: who types; a seat replaces no other's sheet, but the game master does.

    Raises:
        UsageError: an action waits for a decision, or the sheet is another seat's.
        FileError: the sheet is missing or faulty.
    """

    def work(at: Transaction) -> list[Draft]:
        history, rules = at.history, at.rules
        refuse_while_pending(history, "join", seat)
        if seat not in (HOST, GM) and history.new.public.trust == "gm":
            raise UsageError(
                f"at this table only the game master or the host can add sheets, not {seat}: {named('as')} {GM}"
            )
        source = _source(rules, sheet)
        read = read_sheet(rules, sheet, source=source)
        name = read.character.name
        is_replaced = name in history.state.characters
        if is_replaced and seat not in (HOST, GM, history.state.seat_of(name)):
            raise UsageError(f"{name} is already at this table, and {seat} cannot replace its sheet")
        dealt = seated(rules, history.state, read, streams=streams_of(history), step=history.step())
        secret = Secret(sheets=kept_sheets({sheet: source}), is_replaced=is_replaced, **kept_hands(dealt))
        return [at.draft("join", secret, dealt.state, character=name)]

    return write(place, seat, work)


def sheets_to_name(place: Place) -> str:
    """Return that a sheet has to be named, with those of the ruleset whose characters are not at the table."""
    history = store.read(place.path)
    rules = rules_of(history, folders=place.folders)
    known = [name for name in sheet_names(rules) if name not in history.state.characters]
    there = f"{rules.id} has {', '.join(known)}" if known else f"{rules.id} has no other sheet"
    return f"name the sheet of who joins: `{called('table join', *known[:1] or ['FILE'])}`; {there}; or a file"
