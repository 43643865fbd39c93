"""What can be done at a table that lasts, one function a deed; each adds entries to the journal, or changes nothing.

Who types is a seat (`--as`), or the host: whoever has the file, and may do anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from os import urandom
from pathlib import Path
from typing import Any, Literal

import msgspec

from rpgres.dice.seeds import read_seed
from rpgres.engine.parameters import ACTOR, lay_distinct
from rpgres.engine.periods import check_period, period_names
from rpgres.engine.piles import lay_out
from rpgres.engine.players import NO, Prompt, Question, View
from rpgres.engine.records import Pending, QuestionRecord, Result
from rpgres.engine.run import default_policy
from rpgres.engine.table import NeedsAnswer, accepted
from rpgres.errors import ChoiceError, RpgresError, UsageError
from rpgres.journal import store
from rpgres.journal.chain import SALT, commitment
from rpgres.journal.checking import is_known, remember, require_whole
from rpgres.journal.commitments import check_opening, read_hex, seal_by
from rpgres.journal.paths import ABSENT, audience_at, set_by, value_at
from rpgres.journal.permissions import check_given, check_laid
from rpgres.journal.records import (
    ACTION,
    ALWAYS,
    RUNNING,
    SAID,
    Draft,
    Entries,
    Entry,
    History,
    Kind,
    Public,
    Secret,
    deed_of,
    drawn_in,
    found_in,
)
from rpgres.journal.replay import Ran, Run, asked_of, questions_of, run_at, run_of
from rpgres.journal.views import HOST, hidden_by, passed, seats_of
from rpgres.model.events import DecisionEvent
from rpgres.model.state import EMPTY, GM, ROLES, State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.sheets import Sheet, read_sheet, sheet_source
from rpgres.toml.reading import Source
from rpgres.version import __version__

TRUSTS = ("players", "gm")
MOST_TOLD = 6  # options that fit into a message


def utc_now() -> str:
    """Return the time of day as it stands in a journal."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def fresh_salt() -> bytes:
    """Return random bytes for a commitment."""
    return urandom(SALT)


class Place(msgspec.Struct, frozen=True):
    """A table's file, and where time and salts come from.

    Attributes:
        path: the file.
        folders: further folders with rulesets and house rules, beside those the table was begun with.
        now: returns the time.
        salt: returns `SALT` fresh random bytes.
    """

    path: Path
    folders: tuple[Path, ...] = ()
    now: Callable[[], str] = utc_now
    salt: Callable[[], bytes] = fresh_salt


class Done(msgspec.Struct, frozen=True):
    """What was added to a journal, and the journal as it is then."""

    history: History
    entries: tuple[Entry, ...]
    rules: Rules

    @property
    def entry(self) -> Entry:
        """The last entry that was added."""
        return self.entries[-1]


def rules_of(history: History, *, folders: Sequence[Path] = ()) -> Rules:
    """Return the rules a table is played by, as they are now.

    Raises:
        UsageError, PluginError, FileError: they are not there any more, or faulty.
    """
    new = history.new
    extra = (*map(Path, new.secret.folders), *folders)
    return load_rules(find_ruleset(new.public.ruleset, extra=extra), switches=new.public.switches, extra=extra)


def hash_of(rules: Rules) -> str:
    """Return the hash of the effective rules."""
    return str(rules.identity()["hash"])


def code_of(rules: Rules) -> str:
    """Return what names the code that the rules are played with: rpgres, and whatever brought the ruleset."""
    origin = rules.ruleset.origin
    brought = "" if origin is None or origin.builtin else f", {origin.distribution} {origin.version}"
    return f"rpgres {__version__}{brought}"


# ---------------------------------------------------------------------------------------------------------------------
# Beginning, and who sits down


def begin_table(
    place: Place,
    *,
    ruleset: str,
    sheets: Sequence[str],
    switches: Mapping[str, str] = EMPTY,
    seed: str | None = None,
    title: str = "",
    trust: str = "",
) -> Done:
    """Begin a table: make its file, with a commitment to its seed.

    Args:
        place: where.
        ruleset: its id.
        sheets: who sits there, as sheets are typed.
        switches: house rules that are not at their default.
        seed: what all chance is drawn from; a fresh one by default.
        title: what people call it.
        trust: whether numbers that players type and no sheet has count at once (`players`), or when the game master
            has confirmed them (`gm`); as the rules say by default.

    Raises:
        UsageError: something named does not exist, or two characters have one name.
        FileError: a sheet is faulty, there is a table already, or the file cannot be written.
    """
    if trust not in ("", *TRUSTS):
        raise UsageError(unknown("choice", trust, TRUSTS, of="--trust"))
    rules = load_rules(find_ruleset(ruleset, extra=place.folders), switches=switches, extra=place.folders)
    texts = {name: sheet_source(rules, name) for name in sheets}
    state = set_table(rules, texts)
    seed = read_seed(seed)
    salt = place.salt()
    public = Public(
        kind="new",
        at=place.now(),
        rules=hash_of(rules),
        code=code_of(rules),
        format=store.FORMAT,
        trust=trust or rules.file.trust,
        ruleset=rules.id,
        title=title,
        switches=dict(rules.switches),
        commitment=commitment(salt, seed.encode()).hex(),
    )
    folders = [str(folder.absolute()) for folder in place.folders]
    secret = Secret(seed=seed, salt=salt.hex(), folders=folders, sheets=_kept(rules, texts))
    entry = store.create(place.path, Draft(public, secret, state), salt=place.salt())
    remember(place.path, entry.hash, entry.hash)
    return Done(History(Entries(1, {0: entry}), state), (entry,), rules)


def set_table(rules: Rules, texts: Mapping[str, Source]) -> State:
    """Return a table at which the characters of some sheets sit.

    Raises:
        UsageError: two have one name.
        FileError: a sheet is faulty.
    """
    state = State()
    for name, source in texts.items():
        sheet = read_sheet(rules, name, source=source)
        if sheet.character.name in state.characters:
            raise UsageError(f"two sheets are called {sheet.character.name!r}; rename one of the files")
        state = seated(rules, state, sheet)
    return state


def seated(rules: Rules, state: State, sheet: Sheet) -> State:
    """Return the state with a character, its tags and its piles; one of its name is replaced, with its tags.

    Raises:
        UsageError: the name means whoever plays a part in an action.
    """
    name = sheet.character.name
    if name in ROLES:
        raise UsageError(f"{name!r} means whoever plays that part in an action; rename the sheet's file")
    if name in state.characters:
        state = msgspec.structs.replace(state, tags=tuple(tag for tag in state.tags if tag.on != name))
    state = lay_distinct(state.with_character(sheet.character), sheet.tags)
    return lay_out(rules, state) if rules.file.piles else state


def _kept(rules: Rules, texts: Mapping[str, Source]) -> dict[str, tuple[str, str]]:
    return {name: (Path(source.path).name, source.text) for name, source in texts.items()}


def join(place: Place, sheet: str, *, seat: str | None = HOST) -> Done:
    """Let a character sit down, or replace its sheet.

    Args:
        place: the table.
        sheet: the sheet, as it is typed.
        seat: who types; a seat replaces no other's sheet, but the game master does.

    Raises:
        UsageError: an action waits for a decision, or the sheet is another seat's.
        FileError: the sheet is missing or faulty.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        _refuse_while_pending(history, "join", seat)
        if seat not in (HOST, GM) and history.new.public.trust == "gm":
            raise UsageError(f"at this table the game master or the host reads sheets, not {seat}: --as {GM}")
        source = sheet_source(rules, sheet)
        read = read_sheet(rules, sheet, source=source)
        name = read.character.name
        is_replaced = name in history.state.characters
        if is_replaced and seat not in (HOST, GM, history.state.seat_of(name)):
            raise UsageError(f"{name} sits at this table already, and its sheet is not {seat}'s to replace")
        state = seated(rules, history.state, read)
        secret = Secret(by=seat or "", sheets=_kept(rules, {sheet: source}), is_replaced=is_replaced)
        return [_draft(place, rules, "join", secret, state, character=name)]

    return _write(place, work)


# ---------------------------------------------------------------------------------------------------------------------
# Actions, beginnings and ends


def act(
    place: Place,
    action: str,
    inputs: Mapping[str, Any],
    *,
    actor: str = "",
    seat: str | None = HOST,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
    prompt: Prompt | None = None,
    note: str | None = None,
) -> Done:
    """Resolve an action at the table, or have it wait for a decision.

    Args:
        place: the table.
        action: the action's name.
        inputs: what was typed for it.
        actor: who acts; by default the seat's only character.
        seat: who types; answers and policies are then for its own decisions alone.
        given: results read off real dice, by label.
        choose: answers to decisions, by label.
        policies: policy by character, everybody's under an empty name.
        auto: whether the ruleset's first policy answers what nobody did.
        prompt: asks a person what waits then; each answer is an entry of its own, and what is shown is written by then.
        note: carried into the result.

    Raises:
        UsageError: something typed is unknown or impossible, or another action waits.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        _refuse_while_pending(history, "act", seat)
        _refuse_when_revealed(history)
        rules.require_action(action)
        who = actor_of(history, actor, seat, is_anybody=rules.file.actions[action].anybody)
        if seat is not HOST:
            check_laid(rules, history.state, action, inputs, actor=who, seat=seat)
        asked = Run(kind="act", name=action, actor=who, by=seat or "", inputs=dict(inputs), note=note)
        asked = _with_answers(
            rules, history.state, asked, seat, given=given, choose=choose, policies=policies, auto=auto
        )
        ran = _ran(rules, history, asked, seat=seat, given=given)
        return [_draft_of(place, rules, history, "act", ran, seat, action=action, actor=who)]

    return _put(place, _write(place, work), prompt, seat)


def turn(
    place: Place,
    moment: Literal["begin", "end"],
    period: str = "",
    *,
    seat: str | None = HOST,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
    prompt: Prompt | None = None,
) -> Done:
    """Begin or end a scene, an exchange, or what else the ruleset knows; see `act` for the arguments.

    Args:
        place: the table.
        moment: which of the two.
        period: of what; by default the scene begins, and what began last ends.

    Raises:
        UsageError: it cannot begin or end now, or something waits.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        if seat not in (HOST, GM):
            raise UsageError(f"only the game master says that something begins or ends, not {seat}")
        _refuse_while_pending(history, moment, seat)
        _refuse_when_revealed(history)
        name = period or _usual_period(history.state, moment)
        check_period(rules, history.state, period=name, moment=moment)
        asked = Run(kind=moment, name=name)
        asked = _with_answers(
            rules, history.state, asked, seat, given=given, choose=choose, policies=policies, auto=auto
        )
        ran = _ran(rules, history, asked, seat=seat, given=given)
        return [_draft_of(place, rules, history, moment, ran, seat, period=name)]

    return _put(place, _write(place, work), prompt, seat)


def _usual_period(state: State, moment: str) -> str:
    if moment == "begin":
        return "scene"
    if not state.periods:
        raise UsageError("nothing has begun, so nothing can end; `rpgres table begin scene` begins a scene")
    return state.periods[-1]


def answer(
    place: Place,
    *,
    seat: str | None = HOST,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
    prompt: Prompt | None = None,
    at: str = "",
    accepted: str = "",
) -> Done:
    """Answer the decision that is waited for, and go on with its action; see `act` for the arguments.

    What is given is for questions that are asked after this answer: what was rolled or drawn stays.

    Args:
        place: the table.
        at: the hash of the entry that is answered, when the answer was given elsewhere.
        accepted: of an answer from a file: what the host was shown of it and took.

    Raises:
        UsageError: nothing waits, the decision is another seat's, or the answer is none that is offered.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        pending = require_pending(history)
        if at and not _asks_still(history, pending, seat, at=at):
            raise UsageError(
                "this answer is to a question that is not asked any more; look at the table again with "
                "`rpgres table show` or a new view"
            )
        asked = require_own(history, pending, seat)
        _refuse_sealed(history, pending, seat)
        if not (choose or policies or auto):
            raise UsageError(f"say what you choose: --choose {asked.label}={_options(asked)}")
        draft = _answered(
            place, rules, history, pending, seat, given=given, choose=choose, policies=policies, auto=auto
        )
        return [msgspec.structs.replace(draft, secret=msgspec.structs.replace(draft.secret, accepted=accepted))]

    if prompt is not None and not (choose or policies or auto):
        history = store.read(place.path)
        rules = rules_of(history, folders=place.folders)
        check_seat(history, seat)
        asked = require_own(history, require_pending(history), seat)
        _refuse_sealed(history, require_pending(history), seat)
        choose = _typed(rules, history, prompt, seat)
        at = at or require_pending(history).hash
        if not choose:
            raise _undecided(asked)
    return _put(place, _write(place, work), prompt, seat)


def _put(place: Place, done: Done, prompt: Prompt | None, seat: str | None) -> Done:
    """Put what waits now to a person; each answer is an entry of its own, and the person may leave at any time."""
    if prompt is None or done.history.pending is None:
        return done
    choose = _typed(done.rules, done.history, prompt, seat)
    if not choose:
        return done
    more = answer(place, seat=seat, choose=choose, prompt=prompt, at=done.history.pending.hash)
    return msgspec.structs.replace(more, entries=(*done.entries, *more.entries))


def _typed(rules: Rules, history: History, prompt: Prompt, seat: str | None) -> dict[str, list[str]]:
    """Return what a person answers to the decision of a seat that waits; nothing where it is left undecided."""
    typed: dict[str, list[str]] = {}

    def once(view: View, question: Question) -> str | None:
        choice = prompt(view, question) if not typed and seat in (HOST, view.seat) else None
        if choice is not None:
            typed[question.label] = [choice]
        raise NeedsAnswer(question)

    _run_on(rules, history, once)
    return typed


def _run_on(rules: Rules, history: History, prompt: Prompt) -> None:
    """Run what waits up to the decision that it waits for, and ask it."""
    pending = require_pending(history)
    step = history.step(history.run_of(pending))
    ran = run_at(rules, history, run_of(history, pending), seed=history.new.secret.seed, step=step, prompt=prompt)
    if ran.fault is not None:
        raise ran.fault


def _refuse_sealed(history: History, pending: Entry, seat: str | None) -> None:
    """Refuse an answer of whoever has sealed theirs; the host's may be anybody's."""
    found = found_in(pending.secret)
    assert isinstance(found, Pending)
    seats = [seat] if seat is not HOST else [history.state.seat_of(one.who) for one in questions_of(found)]
    for one in seats:
        seal = seal_by(history, pending, one)
        if seal is not None:
            how = "" if seat is not HOST else "; the others answer with --as"
            raise UsageError(f"{one} sealed an answer in entry {seal.number}: `rpgres table open` opens it{how}")


def seal(place: Place, commitment: str, *, seat: str, answer: str | None = None, label: str = "") -> Done:
    """Hand in the commitment to an answer, which is given later, by opening it.

    Args:
        place: the table.
        commitment: sha256(salt + LABEL=ANSWER), as 64 hexadecimal digits.
        seat: whose answer. Everybody sees that it sealed one.
        answer: the answer, if it is known here: it is tried, and not kept.
        label: its label.

    Raises:
        UsageError: nothing is asked of the seat, it has sealed an answer already, or the answer cannot be given.
    """
    digits = read_hex(commitment, what="a commitment")

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        pending = require_pending(history)
        asked = require_own(history, pending, seat)
        before = seal_by(history, pending, seat)
        if before is not None:
            raise UsageError(f"{seat} sealed an answer in entry {before.number} already; it can only be opened")
        if answer is not None and label != asked.label:
            raise UsageError(f"{seat} is asked {asked.label!r}, not {label!r}")
        if answer is not None:
            _check_offered(rules, history, seat, answer)
        run = history.run_of(pending).number
        return [_draft(place, rules, "seal", Secret(by=seat), history.state, of=run, seat=seat, commitment=digits)]

    return _write(place, work)


def open_seal(place: Place, *, seat: str, label: str, text: str, salt: str) -> Done:
    """Answer with what was sealed, and go on with the action.

    Args:
        place: the table.
        seat: whose seal.
        label, text, salt: what was sealed.

    Raises:
        UsageError: nothing was sealed, this is something else, or it is no answer to what is asked.
    """
    salt = read_hex(salt, what="a salt")

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        pending = require_pending(history)
        require_own(history, pending, seat)
        seal = seal_by(history, pending, seat)
        if seal is None:
            raise UsageError(f"{seat} has sealed nothing that is asked now; `rpgres table answer` answers")
        check_opening(seal, label=label, answer=text, salt=salt)
        draft = _answered(place, rules, history, pending, seat, choose={label: [text]})
        if draft.public.attempt:
            return [draft]
        secret = msgspec.structs.replace(draft.secret, salt=salt, label=label, text=text)
        public = msgspec.structs.replace(draft.public, opens=seal.number)
        return [msgspec.structs.replace(draft, public=public, secret=secret)]

    return _write(place, work)


def _check_offered(rules: Rules, history: History, seat: str, choice: str) -> None:
    """Check that an answer is one that a seat is offered; nothing after the decision is run.

    Raises:
        ChoiceError: it is not.
    """

    def once(view: View, question: Question) -> str | None:
        if view.seat == seat:
            accepted(question, choice)
        raise NeedsAnswer(question)

    _run_on(rules, history, once)


def _asks_still(history: History, pending: Entry, seat: str | None, *, at: str) -> bool:
    """Tell whether an entry asks a seat what the pending one asks it, though others may have answered meanwhile."""
    if pending.hash == at:
        return True
    found = found_in(pending.secret)
    since = history.standing_from(history.run_of(pending).number)
    earlier = next((entry for entry in since if entry.hash == at and entry.kind in RUNNING), None)
    if earlier is None or history.run_of(earlier) != history.run_of(pending) or not isinstance(found, Pending):
        return False
    seen = found_in(earlier.secret)
    state = history.state
    return isinstance(seen, Pending) and (asked_of(state, seen, seat), _decided_by(state, seen, seat)) == (
        asked_of(state, found, seat),
        _decided_by(state, found, seat),
    )


def _decided_by(state: State, pending: Pending, seat: str | None) -> list[str]:
    return [
        event.answer
        for event in pending.events
        if isinstance(event, DecisionEvent) and seat in (HOST, state.seat_of(event.who))
    ]


def _options(asked: QuestionRecord) -> str:
    names = [option.name for option in asked.options]
    names = [*names, *([asked.form] if asked.form else []), *([NO] if asked.optional else [])]
    return "|".join(names) if len(names) <= MOST_TOLD else "..."


def _answered(
    place: Place,
    rules: Rules,
    history: History,
    pending: Entry,
    seat: str | None,
    *,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, str] = EMPTY,
    auto: bool = False,
) -> Draft:
    """Return the entry of an answer: the action run anew, with what was added to its answers."""
    begun = history.run_of(pending)
    if (begun.public.rules, begun.public.code) != (hash_of(rules), code_of(rules)):
        raise UsageError(
            f"the rules have changed since this {_thing(begun)} began; `rpgres table undo` takes it back, so that it "
            "can be done by the rules as they are now"
        )
    before = found_in(pending.secret)
    assert isinstance(before, Pending)
    asked = run_of(history, pending)
    asked = _with_answers(rules, history.state, asked, seat, given=given, choose=choose, policies=policies, auto=auto)
    ran = _ran(rules, history, asked, seat=seat, given=given, pending=pending)
    if isinstance(ran.found, Pending) and ran.found.answers == before.answers:
        raise ran.fault or _undecided(asked_of(history.state, before, seat) or before.question)
    # What was typed stands where the action began.
    ran = msgspec.structs.replace(ran, secret=msgspec.structs.replace(ran.secret, inputs={}, note=None))
    return _draft_of(place, rules, history, "answer", ran, seat, of=begun.number)


def _undecided(left: QuestionRecord) -> UsageError:
    return UsageError(f"this leaves {left.label!r} undecided: --choose {left.label}={_options(left)}")


def _thing(begun: Entry) -> str:
    return begun.public.action or f"{begun.kind} of the {begun.public.period}"


def _with_answers(
    rules: Rules,
    state: State,
    asked: Run,
    seat: str | None,
    *,
    given: Mapping[str, Sequence[str]],
    choose: Mapping[str, Sequence[str]],
    policies: Mapping[str, str],
    auto: bool,
) -> Run:
    """Return a run with further answers, which count for everybody or for the seat that gives them alone.

    Results stand in place of those of their label that nothing has asked for so far.
    """
    if rules.file.piles:  # kept one by one, so that what was asked for can be told from what was not
        one_by_one = rules.cards.one_by_one
        given = {label: [one for text in texts for one in one_by_one(text)] for label, texts in given.items()}
    check_given(rules, state, given, seat=seat)
    everybody = "" if seat is HOST else seat
    for who in policies:
        if seat is not HOST and who and seat != state.seat_of(asked.actor if who == ACTOR else who):
            raise UsageError(f"--policy {who}={policies[who]}: {seat} does not decide for {who}")
    more = {who or everybody: name for who, name in policies.items()}
    if auto:
        more.setdefault(everybody, default_policy(rules))
    results = {**asked.given, **{label: list(its) for label, its in given.items()}}
    asked = msgspec.structs.replace(asked, given=results, policies={**asked.policies, **more})
    if seat is HOST:
        return msgspec.structs.replace(asked, choose=_joined(asked.choose, choose))
    own = {**asked.own, seat: _joined(asked.own.get(seat, {}), choose)} if choose else asked.own
    return msgspec.structs.replace(asked, own=own)


def _joined(one: Mapping[str, Sequence[str]], more: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {label: [*one.get(label, ()), *more.get(label, ())] for label in (*one, *(set(more) - set(one)))}


def _ran(
    rules: Rules,
    history: History,
    asked: Run,
    *,
    seat: str | None,
    given: Mapping[str, Sequence[str]],
    pending: Entry | None = None,
) -> Ran:
    """Return what comes of a run; `fault` is what is told beside it.

    A refusal must be no way to look at what comes of an action and then do something else: what was shown stands.

    Args:
        rules: the ruleset in play.
        history: the table.
        asked: what is run.
        seat: who types.
        given: what was typed now of results.
        pending: the entry that is answered.

    Raises:
        RpgresError: something is impossible, and nothing is shown that was not known before.
    """
    step = history.step(history.run_of(pending) if pending is not None else None)
    before = found_in(pending.secret) if pending is not None else None
    _check_known(history, asked, before, given, step=step)
    seed, known = history.new.secret.seed, _shown(before)
    ran = run_at(rules, history, asked, seed=seed, step=step)
    if isinstance(ran.fault, ChoiceError):
        for fewer in _with_fewer(asked, seat, ran.fault.details.get("label", "")):
            then = run_at(rules, history, fewer, seed=seed, step=step)
            if not then.is_attempt and _shown(then.found) > known:
                return msgspec.structs.replace(then, fault=ran.fault)
    if ran.fault is not None and _shown(ran.found) <= known:
        raise ran.fault
    is_done = isinstance(ran.found, Result) and (asked.kind != "act" or ran.found.outcome)  # no claim was refused
    unused = [label for label in ran.secret.later if label in given] if is_done else []
    if unused and ran.fault is None:
        text = ran.secret.later[unused[0]][0]
        told = f"--given {unused[0]}={text} was not used: nothing of that label was asked again"
        return msgspec.structs.replace(ran, fault=UsageError(told))
    return ran


def _shown(found: Result | Pending | None) -> int:
    """Return how much a run has shown, beside what was decided."""
    return sum(not isinstance(event, DecisionEvent) for event in found.events) if found is not None else 0


def _with_fewer(asked: Run, seat: str | None, label: str) -> Iterator[Run]:
    """Yield a run without the last of the answers that were typed under a label, then without the last two, ..."""
    typed = asked.choose if seat is HOST else asked.own.get(seat, {})
    for count in reversed(range(len(typed.get(label, ())))):
        fewer = {**typed, label: typed[label][:count]}
        if seat is HOST:
            yield msgspec.structs.replace(asked, choose=fewer)
        else:
            yield msgspec.structs.replace(asked, own={**asked.own, seat: fewer})


def _check_known(
    history: History, asked: Run, before: Result | Pending | None, given: Mapping[str, Sequence[str]], *, step: int
) -> None:
    """Check that no result is said of what the seed has rolled already, in an action that was taken back or failed.

    Raises:
        UsageError: one is.
    """
    drawn = drawn_in(before) if before is not None else {}
    deed = deed_of(asked.name if asked.kind == "act" else "", asked.actor, {asked.kind: asked.name})
    for known in history.stands.known:
        label, first = known.label, len(drawn.get(known.label, ()))
        is_same = (known.step, known.deed) == (step, deed)
        if is_same and any(0 <= place - first < len(given.get(label, ())) for place in known.places):
            raise UsageError(
                f"--given {label}={given[label][0]}: the seed has answered this already, in entry {known.number}, "
                "and what was rolled or drawn stays, though nothing came of it; leave this out"
            )


def actor_of(history: History, actor: str, seat: str | None, *, is_anybody: bool = False) -> str:
    """Return who acts: whoever was named, or the only character that the seat has.

    Args:
        history: the table.
        actor: who was named; empty for nobody.
        seat: whose doing it is.
        is_anybody: whether it makes no difference who acts; then it is the game master's first character, or the first
            of all, for whoever may act with several.

    Raises:
        UsageError: there is no such character, it is another seat's, or there are several.
    """
    state = history.state
    if actor:
        if actor not in state.characters:
            raise UsageError(unknown("character", actor, state.characters, of="this table"))
        if seat not in (HOST, GM, state.seat_of(actor)):
            raise UsageError(f"{actor} is not {seat}'s to act with")
        return actor
    if not state.characters:
        raise UsageError("nobody sits at this table yet; `rpgres table join --sheet FILE` lets somebody sit down")
    # The game master may act with anybody, and means somebody in particular only where there is no player.
    own = [name for name in state.characters if seat in (HOST, state.seat_of(name))]
    if len(own) == 1:
        return own[0]
    players = [name for name in own if state.seat_of(name) != GM]
    if len(players) == 1 and seat is HOST:
        return players[0]
    if is_anybody and seat in (HOST, GM):
        own = [name for name in state.characters if state.seat_of(name) == GM] or list(state.characters)
    if is_anybody and own:
        return own[0]
    raise UsageError(f"say who acts: --actor {'|'.join(own or state.characters) or 'NAME'}")


# ---------------------------------------------------------------------------------------------------------------------
# Letting windows go by, taking back, correcting


def let_pass(place: Place, label: str = "", *, seat: str, until: str = ACTION) -> Done:
    """Have a seat let optional moments go by in advance, so that nobody waits for it.

    Args:
        place: the table.
        label: which moments; all when empty. Decisions that have to be taken are not touched.
        seat: whose moments.
        until: how long: `action` (until the action that is going on, or else the next one, is over), `always`, or the
            name of a period (until one of these begins or ends).

    Raises:
        UsageError: there is no such label or period.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        _check_label(rules, label)
        spans = [ACTION, *period_names(rules), ALWAYS]
        if until not in spans:
            raise UsageError(unknown("span", until, spans, of="--until"))
        drafts = [_draft(place, rules, "pass", Secret(by=seat, label=label, until=until), history.state)]
        pending = history.pending
        found = found_in(pending.secret) if pending is not None else None
        if pending is not None and isinstance(found, Pending):
            asked = asked_of(history.state, found, seat)
            if asked is not None and asked.optional and label in ("", asked.label):
                _refuse_sealed(history, pending, seat)
                then = history.with_draft(drafts[0])
                drafts.append(_answered(place, rules, then, pending, seat, choose={asked.label: [NO]}))
        return drafts

    return _write(place, work)


def _check_label(rules: Rules, label: str) -> None:
    from rpgres.engine.run import labels_of

    known = {
        name for action in rules.file.actions for name, kind in labels_of(rules, action).items() if kind != "chance"
    }
    known |= {name for name, text in rules.file.labels.items() if text.kind != "chance"}
    if label and label not in known:
        raise UsageError(unknown("decision", label, sorted(known), of=f"the ruleset {rules.id}"))


def may_pass(rules: Rules, label: str) -> bool:
    """Tell whether the data of a ruleset have a decision pass unused; only those can be let go by in advance."""
    own = rules.file.labels.get(label)
    if own is not None and own.optional:
        return True
    tables = {name for action in rules.file.actions.values() for name in action.tables}
    return any(
        is_optional
        for name in tables
        for row in rules.table(name).values()
        for asked, is_optional in _asked_in(rules, row.ask)
        if asked == label
    )


def _asked_in(rules: Rules, ask: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    for label, question in ask.items():
        shown = rules.menu(question.menu) if question.menu else question
        yield label, shown.optional
        for option in shown.options.values():
            yield from _asked_in(rules, option.ask)


def undo(place: Place, number: int | None = None, *, seat: str | None = HOST) -> Done:
    """Take back everything from an entry on; the journal keeps it, and the table is as it was before.

    Notes and passes that came later stay. One of these that is named is taken back alone.

    Args:
        place: the table.
        number: the entry; by default the last that stands, a whole action when that was answered in pieces, and no
            note or pass of somebody else.
        seat: who takes back: the game master, or a seat that only takes back what it did itself.

    Raises:
        UsageError: there is no such entry, it does not stand, or it is not this seat's to take back.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        before = _first_undone(history, number, seat)
        undone = history.undone_from(before)
        if any(entry.kind == "reveal" for entry in undone):
            raise UsageError("what was revealed is known and cannot be taken back; begin a new table")
        if seat not in (HOST, GM):
            _require_mine(history, undone, seat)
        is_said = history.entries[before].kind in SAID
        # All that stands and was done earlier had been done by then, as nothing is taken back without what follows it.
        state = history.state if is_said else store.read_state_after(place.path, history.entries[before - 1])
        passes = passed(history, undone, state, store.read_states_after(place.path, undone))
        secret = Secret(by=seat or "", passes=passes, stands=history.stands_without(before))
        return [_draft(place, rules, "undo", secret, state, before=before, alone=is_said)]

    return _write(place, work, is_mending=True)


def _first_undone(history: History, number: int | None, seat: str | None) -> int:
    if number is None:
        own = _last_own(history, seat or "")
        if own is None:
            raise UsageError("there is nothing to take back")
        return history.run_of(own).number
    if number == 0:
        raise UsageError("entry 0 is the table itself; delete its file to be rid of it")
    standing = history.standing_from(number) if 0 < number < len(history.entries) else []
    if not standing or standing[0].number != number:
        last = ", ".join(str(entry.number) for entry in history.standing_from(max(1, len(history.entries) - 12)))
        raise UsageError(f"there is no entry {number} that stands; the last that do: {last}")
    return number


def _last_own(history: History, by: str) -> Entry | None:
    """Return the last entry that stands and is no note or pass of somebody else; None where there is none."""
    first, count = len(history.entries), 1
    while first > 1:
        first, count = max(1, first - count), count * 2  # most often it is the last one
        for entry in reversed(history.standing_from(first)):
            if entry.kind not in SAID or entry.secret.by == by:
                return entry
    return None


def _require_mine(history: History, undone: Iterable[Entry], seat: str) -> None:
    for entry in undone:
        public = entry.public
        if entry.kind == "seal":
            raise UsageError(f"entry {entry.number} is sealed, and only the game master takes it back: --as {GM}")
        owners = {entry.secret.by, *_asked_before(history, entry)}
        if public.actor:
            owners.add(history.state.seat_of(public.actor))
        if seat not in owners:
            raise UsageError(f"entry {entry.number} is not {seat}'s to take back; the game master can, with --as {GM}")


def _asked_before(history: History, entry: Entry) -> set[str]:
    """Return the seats whose decisions an answer took; none for what is no answer."""
    asking = entry.secret.stands.pending
    if entry.kind != "answer" or entry.public.attempt or asking is None:
        return set()
    found, then = found_in(history.entries[asking.number].secret), found_in(entry.secret)
    if not isinstance(found, Pending):
        return set()
    asked = [(one.label, one.who) for one in questions_of(found)]
    left = [(one.label, one.who) for one in questions_of(then)] if isinstance(then, Pending) else []
    return {history.state.seat_of(who) for label, who in asked if (label, who) not in left}


def set_value(place: Place, path: str, text: str, *, seat: str | None = HOST, to: Sequence[str] = ()) -> Done:
    """Correct or award something: put a value at a place of the table.

    Args:
        place: the table.
        path: where, as in a scene's `expect`: `characters.mara.counters.fate-points`.
        text: the value as typed; what stands there tells its type.
        seat: the game master, or the host.
        to: the seats that may know of the tag, track or thing from now on; as before by default.

    Raises:
        UsageError: there is no such place, or the value does not fit.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        if seat not in (HOST, GM):
            raise UsageError(f"only the game master sets what lies on the table, not {seat}")
        _refuse_while_pending(history, "set", seat)
        for one in to:
            check_seat(history, one)
        before = history.state if seat is HOST else history.state.seen_by(seat)
        state = set_by(rules, history.state, path, text, seat=seat, to=to)
        was, value = value_at(before, path), value_at(state, path)
        audiences = [audience_at(one, path) for one in (before, state)]
        was_there = was != ABSENT  # nobody has seen before what is only laid now
        known = [seats for seats, is_there in zip(audiences, (was_there, True), strict=True) if is_there]
        readers = None if None in known else sorted({one for seats in known for one in seats or ()})
        secret = Secret(by=seat or "", path=path, text=text, was=was, value=value, to=readers, label=",".join(to))
        return [_draft(place, rules, "set", secret, state)]

    return _write(place, work)


def write_note(place: Place, text: str, *, seat: str | None = HOST, to: Sequence[str] = ()) -> Done:
    """Write something down in the journal.

    Args:
        place: the table.
        text: what.
        seat: whose note it is.
        to: the seats that may read it, beside its own; everybody by default.

    Raises:
        UsageError: there is no such seat, or nothing is said.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        if not text.strip():
            raise UsageError("a note says something")
        for one in to:
            check_seat(history, one)
        readers = list(dict.fromkeys([*to, *([seat] if seat is not HOST else [])])) if to else None
        return [_draft(place, rules, "note", Secret(by=seat or "", text=text, to=readers), history.state)]

    return _write(place, work)


def reveal(place: Place, *, seat: str | None = HOST) -> Done:
    """Tell the seed, so that everybody can check every roll; nothing more is played at the table.

    Raises:
        UsageError: something waits, or it was told already.
    """

    def work(history: History, rules: Rules) -> list[Draft]:
        check_seat(history, seat)
        if seat not in (HOST, GM):
            raise UsageError(f"only the game master reveals the seed, not {seat}")
        if history.revealed is not None:
            raise UsageError(f"the seed was revealed already, in entry {history.revealed.number}")
        _refuse_while_pending(history, "reveal", seat)
        told = history.new.secret
        return [_draft(place, rules, "reveal", Secret(by=seat or ""), history.state, seed=told.seed, salt=told.salt)]

    return _write(place, work)


# ---------------------------------------------------------------------------------------------------------------------
# What all of these share


def _write(
    place: Place,
    work: Callable[[History, Rules], list[Draft]],
    *,
    is_mending: bool = False,
) -> Done:
    loaded: list[Rules] = []
    known: list[bool] = []
    refused: list[RpgresError] = []

    def drafts(history: History) -> list[Draft]:
        if is_mending:
            known.append(is_known(place.path, history))
        else:
            require_whole(place.path, history)
        loaded.append(rules_of(history, folders=place.folders))
        found = work(history, loaded[0])
        refused.extend(draft.refused for draft in found if draft.refused is not None)
        return found

    history, added = store.write(place.path, drafts, salt=place.salt, is_mending=is_mending)
    if all(known):
        remember(place.path, history.new.hash, history.head.hash)
    for error in refused:
        error.add(_stands(history.head))
        error.details["entry"] = history.head.number
        raise error
    return Done(history, tuple(added), loaded[0])


def _stands(entry: Entry) -> str:
    """Return what is told of an entry that was written though something was refused."""
    if entry.public.attempt:
        return f"; nothing comes of it, but what was drawn is known (entry {entry.number}), and will be drawn again"
    if entry.secret.waits is not None:
        return f"; what came before is kept, and entry {entry.number} waits for an answer"
    return f"; entry {entry.number} stands without it, and `rpgres table log --last 1` shows it"


def _draft_of(
    place: Place, rules: Rules, history: History, kind: Kind, ran: Ran, seat: str | None, **public: Any
) -> Draft:
    """Return the entry of something that was run."""
    text = ran.fault.message if ran.fault is not None and ran.is_attempt else ""
    secret = msgspec.structs.replace(ran.secret, by=seat or "", text=text)
    secret = hidden_by(secret, history.state, ran.state)
    draft = _draft(place, rules, kind, secret, ran.state, attempt=ran.is_attempt, **public)
    return msgspec.structs.replace(draft, refused=ran.fault)


def _draft(place: Place, rules: Rules, kind: Kind, secret: Secret, state: State, **public: Any) -> Draft:
    rules_hash, code = hash_of(rules), code_of(rules)
    return Draft(Public(kind=kind, at=place.now(), rules=rules_hash, code=code, **public), secret, state)


def check_seat(history: History, seat: str | None) -> None:
    """Check that there is a seat of this name.

    Raises:
        UsageError: there is none.
    """
    known = seats_of(history.state)
    if seat is not HOST and seat not in known:
        raise UsageError(unknown("seat", seat, known, of="this table"))


def require_pending(history: History) -> Entry:
    """Return the entry that waits for a decision.

    Raises:
        UsageError: nothing waits.
    """
    pending = history.pending
    if pending is None:
        raise UsageError("nothing waits for an answer; `rpgres table show` shows the table")
    return pending


def require_own(history: History, pending: Entry, seat: str | None) -> QuestionRecord:
    """Return the decision that a seat has to take.

    Raises:
        UsageError: it is another seat's, and no more is told.
    """
    found = found_in(pending.secret)
    assert isinstance(found, Pending)
    asked = asked_of(history.state, found, seat)
    if asked is None:
        raise UsageError(f"nothing waits for an answer of {seat}; another seat is asked")
    return asked


def _refuse_while_pending(history: History, what: str, seat: str | None) -> None:
    pending = history.pending
    if pending is None:
        return
    found = found_in(pending.secret)
    assert isinstance(found, Pending)
    begun = history.run_of(pending)
    question = asked_of(history.state, found, seat)
    if question is not None:
        asked = f"{question.who} is asked {question.label!r}"
        how = f"answer it with `rpgres table answer --choose {question.label}={_options(question)}`"
    else:
        asked, how = "another seat is asked", "wait for its answer"
    raise UsageError(
        f"cannot {what} now: entry {begun.number} ({_thing(begun)}) waits for a decision, {asked}; {how}, or take the "
        "action back with `rpgres table undo`"
    )


def _refuse_when_revealed(history: History) -> None:
    if history.revealed is not None:
        raise UsageError(
            "the seed of this table is known, so nothing fair can be drawn at it any more; `rpgres table export` "
            "writes the sheets as they are now, for a new table"
        )
