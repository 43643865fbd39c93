"""Who may type what at a persistent table: claims, results of dice, and cards.

A player who names a drawn card, or a card in a pile, learns from a refusal whether it is somewhere else.
So a seat may say neither while there is a hand that it does not see; the host, who has the file, may say anything.
What a player types and no sheet has is a claim: everybody sees it, and where the table trusts the game master, she
confirms it before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpgres.engine.events import Decided
from rpgres.engine.piles import lay_out
from rpgres.engine.players import HOSTS
from rpgres.engine.views import laying, typed_inputs
from rpgres.errors import GivenError, UsageError, called, named
from rpgres.model.cards import unknown_card
from rpgres.model.state import GM, State, slug
from rpgres.parameters.context import SHEET
from rpgres.parameters.form import forms_in
from rpgres.parameters.kinds import Described, kind_of
from rpgres.parameters.plain import is_set
from rpgres.rulesets import Parameter, Rules, is_public, speaker

HOST_CAN = f"the host can give it, without {named('as')}"


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


# ---------------------------------------------------------------------------------------------------------------------
# What is claimed


def claims_of(rules: Rules, state: State, action: str, inputs: Mapping[str, Any], *, actor: str) -> tuple[str, ...]:
    """Return what the inputs of an action claim, in words; what is not for everybody is named without its value.

    Args:
        state: the table before the action, whose sheets count.
    """
    found = [action] if rules.file.actions[action].confirmed else []
    found += [f"{SHEET} {inputs[SHEET]}"] if inputs.get(SHEET) is not None else []
    for key, parameter, value in typed_inputs(rules, action, inputs):
        name = key.replace("_", "-")
        if parameter.kind != "form":
            for one in _each(value) if parameter.kind != "cards" else [value]:
                found += _claims(rules, state, name, parameter, one, who=actor)
            continue
        for whom, said in forms_in(parameter, value):
            if parameter.seats and whom not in state.characters and speaker(parameter) == "confirmed":
                found.append(f"{name} {whom} (not at the table)")
            for key, one in said.items():
                if key in parameter.fields:
                    found += _claims(rules, state, f"{name} {whom}: {key}", parameter.fields[key], one, who=whom)
    return tuple(found)


def claims_in(rules: Rules, state: State, decided: Decided) -> tuple[str, ...]:
    """Return what a typed answer claims, as far as the ruleset's label says what stands in it.

    The game master's own answers claim nothing, nor do those that the host or a policy gives.
    """
    label = rules.file.labels.get(decided.label)
    if label is None or state.seat_of(decided.who) == GM or decided.means in (HOSTS, "policy"):
        return ()
    found: list[str] = []
    for part in decided.answer.split(","):
        key, sign, value = (text.strip() for text in part.partition("="))
        if key in label.fields:
            found += _claims(rules, state, key, label.fields[key], value if sign else True, who=decided.who)
    return tuple(found)


def _claims(rules: Rules, state: State, name: str, described: Described, value: Any, *, who: str) -> Iterator[str]:
    """Yield the claim of one value: none where the sheet says the same, or the seat may say it."""
    if speaker(described) != "confirmed" or _is_known(rules, state, described, value, who):
        return
    if not is_public(described):
        yield f"{name} (hidden)"
    elif is_set(value):
        yield name
    else:
        words = ":".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
        ability = slug(words.partition("=")[0])
        sheet = state.characters[who].abilities.get(ability) if who in state.characters else None
        yield f"{name} {words}" + (f" (sheet: {sheet})" if sheet is not None else "")


def _is_known(rules: Rules, state: State, described: Described, value: Any, who: str) -> bool:
    """Tell whether a value is what the table has, or what holds where nothing is typed."""
    if described.default is not None and str(value) == str(described.default):
        return True
    return kind_of(described).is_known(rules, state, described, value, who)


# ---------------------------------------------------------------------------------------------------------------------
# Who may say it


def check_laid(rules: Rules, state: State, action: str, inputs: Mapping[str, Any], *, actor: str, seat: str) -> None:
    """Check that a seat may say what it says of the table: its own hand, and as game master the rest."""
    _check_said(rules, action, inputs, seat=seat)
    for key, parameter, places in laying(rules, action, inputs, actor):
        option = named(key)
        if parameter.kind in ("cards", "form"):
            state = lay_out(rules, state)
            for name in places:
                _check_pile(state, name, option=option, seat=seat)
            unseen = [name for name in _unseen(rules, state, seat) if len(state.piles[name])]
            if unseen:
                raise UsageError(
                    f"{option}: {seat} does not see all cards ({', '.join(unseen)}), and the answer "
                    f"could reveal where they are; {HOST_CAN}"
                )
        elif seat != GM and parameter.said_by in ("", "gm"):
            raise UsageError(
                f"{option}: a persistent table keeps this value; "
                f"the game master can correct it with `{called('table set')}`"
            )


def _check_said(rules: Rules, action: str, inputs: Mapping[str, Any], *, seat: str) -> None:
    """Check that no player says what the game master says."""
    for _, where, described in _withheld(rules, action, inputs) if seat != GM else ():
        known = rules.parameters(action).items()
        takes = isinstance(described, Parameter) and described.seats
        naming = [named(key) for key, one in known if one.kind == "character" and one.said_by != GM]
        own = f"; you can name a character with {' or '.join(naming)}" if naming and takes else ""
        raise UsageError(f"{where}: only the game master or the host can give this, not {seat}: {described.help}{own}")


def _withheld(rules: Rules, action: str, inputs: Mapping[str, Any]) -> Iterator[tuple[str, str, Described]]:
    """Yield the inputs that no player may give: as typed, the option with the field of a form, and the parameter."""
    for key, parameter, value in typed_inputs(rules, action, inputs):
        option = named(key)
        if parameter.said_by == GM and value not in (False, "false", "no", [], ()):
            yield key, option, parameter
        for name, said in forms_in(parameter, value) if parameter.kind == "form" else ():
            fields = ((one, parameter.fields.get(one)) for one in said)
            yield from (
                (key, f"{option} {name}: {one}", field) for one, field in fields if field and speaker(field) == GM
            )


def said_by_gm(rules: Rules, action: str, inputs: Mapping[str, Any]) -> list[str]:
    """Return which inputs of an action no player says, by the names that were typed."""
    return list(dict.fromkeys(key for key, _, _ in _withheld(rules, action, inputs)))


def _check_pile(state: State, name: str, *, option: str, seat: str) -> None:
    pile = state.piles.get(name)
    if pile is None:  # of a character who joins the table by an input
        return
    is_own = bool(pile.owner) and state.seat_of(pile.owner) == seat and (pile.audience is None or seat in pile.audience)
    if seat != GM and not is_own:
        raise UsageError(
            f"{option}: {seat} cannot give the cards in {name}, only those in its own hand; "
            "the host or the game master can"
        )


def _unseen(rules: Rules, state: State, seat: str) -> Iterator[str]:
    """Yield the piles in which a seat does not see the cards, but for the decks that are drawn from.

    What others know of the top of a deck is not seen either.
    """
    for name, pile in state.piles.items():
        is_deck = name.partition(":")[0] in rules.laid
        is_known = pile.audience is None or seat in pile.audience
        if not is_known and (not is_deck or any(seats is not None and seat not in seats for seats in pile.knowers)):
            yield name


def check_given(rules: Rules, state: State, given: Mapping[str, Sequence[str]], *, seat: str | None) -> None:
    """Check results of real dice and cards as far as possible before they are asked for.

    Args:
        seat: who types; None for the host.

    Raises:
        GivenError: a result is none that anything could show.
        UsageError: a card is drawn by a seat that does not see where all of them lie.
    """
    hides = seat is not None and bool(given) and any(True for _ in _unseen(rules, lay_out(rules, state), seat))
    for label, results in given.items():
        for text in results:
            if not rules.file.piles or not rules.cards.matching(text):
                _check_dice(rules, label, text)
            elif hides:
                raise UsageError(
                    f"{named('given')} {label}={text}: {seat} cannot give a drawn card while others hold "
                    f"hidden cards, as the answer could reveal them; {HOST_CAN}"
                )


def _check_dice(rules: Rules, label: str, text: str) -> None:
    """Check a result that is no card: which dice are rolled is only known when they are."""
    if text.strip() and not any(char.isalpha() for char in text):
        return
    if rules.file.piles:
        raise GivenError.of(label, text, unknown_card(rules.cards, text))
    raise GivenError.of(label, text, "this is not a result of dice, such as ++0- or 6,5,1")
