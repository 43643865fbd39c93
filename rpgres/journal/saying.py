"""What may be said of chance and of where cards lie at a table that lasts, by whom, and how it is marked.

Whoever says which card is drawn, or that a card lies in a pile, learns from a refusal whether it lies somewhere else.
So a seat may say neither while there is a hand that it does not see; the host, who has the file, may say anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpgres.dealers import unknown_card
from rpgres.errors import GivenError, UsageError
from rpgres.inputs import ACTOR, form_parts
from rpgres.piles import lay_out
from rpgres.rulesets import Parameter, Rules
from rpgres.state import GM, State, pile_name, slug

THE_HOSTS = "the host says it, without --as"


def laid_by(rules: Rules, action: str, inputs: Mapping[str, Any], *, actor: str) -> dict[str, str]:
    """Return what the inputs of an action put on the table before it: the places, by the names that were typed.

    These are piles (`hand:mara`), counters and free uses; nothing of them comes from the seed.

    Args:
        rules: the ruleset in play.
        action: the action's name.
        inputs: what was typed for it.
        actor: who acts.
    """
    return {key: _place(rules, parameter, value, actor) for key, parameter, value in _laying(rules, action, inputs)}


def _laying(rules: Rules, action: str, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Parameter, Any]]:
    """Yield the inputs that put something on the table: as typed, what they are, and the value."""
    named = {
        alias: parameter
        for name, parameter in rules.parameters(action).items()
        for alias in (name, *parameter.aliases)
        if not parameter.is_argument or parameter.kind == "form"
    }
    for key, value in inputs.items():
        parameter = named.get(key.replace("_", "-"))
        if parameter is None or value is None:
            continue
        if parameter.kind == "form":
            if _piles_of(parameter, value):
                yield key, parameter, value
        elif parameter.kind != "tag" or _has_uses(value):
            yield key, parameter, value


def _piles_of(parameter: Parameter, value: Any) -> list[str]:
    """Return the piles of which forms say which cards lie there; what is no form is told by whoever reads it."""
    found = []
    for one in value if isinstance(value, list | tuple) else [value]:
        try:
            name, said = form_parts(parameter, one, option="")
        except UsageError:
            continue
        piles = [field.pile for key, field in parameter.fields.items() if field.pile and said.get(key)]
        found += [pile_name(pile, name) for pile in piles]
    return found


def _has_uses(value: Any) -> bool:
    texts = value if isinstance(value, list | tuple) else [value]
    return any(str(text).rpartition("=")[2].strip("0 ") for text in texts if "=" in str(text))


def _place(rules: Rules, parameter: Parameter, value: Any, actor: str) -> str:
    match parameter.kind:
        case "cards":
            return _pile(rules, parameter, actor)
        case "counter":
            holder = f"characters.{actor}." if parameter.holder == ACTOR else ""
            return f"{holder}counters.{parameter.counter}"
        case "form":
            return ", ".join(_piles_of(parameter, value))
    texts = value if isinstance(value, list | tuple) else [value]
    return ", ".join(f"tags.{slug(str(text).rpartition('=')[0] or str(text))}" for text in texts)


def _pile(rules: Rules, parameter: Parameter, actor: str) -> str:
    return pile_name(parameter.pile, actor if rules.file.piles[parameter.pile].each else "")


# ---------------------------------------------------------------------------------------------------------------------
# Who may say it


def check_laid(rules: Rules, state: State, action: str, inputs: Mapping[str, Any], *, actor: str, seat: str) -> None:
    """Check that a seat may say what it says of the table: its own hand, and as game master the rest.

    Args:
        rules: the ruleset in play.
        state: the table before the action.
        action, inputs, actor: what is typed, and for whom.
        seat: who types.

    Raises:
        UsageError: it may not.
    """
    _check_said(rules, action, inputs, seat=seat)
    for key, parameter, value in _laying(rules, action, inputs):
        option = f"--{key.replace('_', '-')}"
        if parameter.kind in ("cards", "form"):
            state = lay_out(rules, state)
            is_form = parameter.kind == "form"
            for name in _piles_of(parameter, value) if is_form else [_pile(rules, parameter, actor)]:
                _check_pile(state, name, option=option, seat=seat)
            unseen = [name for name in _unseen(rules, state, seat) if len(state.piles[name])]
            if unseen:
                raise UsageError(
                    f"{option}: there are cards that {seat} does not see ({', '.join(unseen)}), and what lies "
                    f"somewhere else could be told from the answer; {THE_HOSTS}"
                )
        elif seat != GM:
            raise UsageError(
                f"{option}: at a table that lasts, this is what it was left at; the game master corrects it with "
                "`rpgres table set`"
            )


def _check_said(rules: Rules, action: str, inputs: Mapping[str, Any], *, seat: str) -> None:
    """Check that no player says what the game master says.

    Raises:
        UsageError: one does.
    """
    for name, parameter in rules.parameters(action).items():
        typed = inputs.get(name.replace("-", "_"), inputs.get(name))
        if parameter.said_by == GM and seat != GM and typed not in (None, False, [], ()):
            raise UsageError(f"--{name}: the game master says this, or the host, and not {seat}: {parameter.help}")


def _check_pile(state: State, name: str, *, option: str, seat: str) -> None:
    pile = state.piles.get(name)
    if pile is None:  # of somebody who only comes to the table by what is typed
        return
    is_own = bool(pile.owner) and state.seat_of(pile.owner) == seat and (pile.audience is None or seat in pile.audience)
    if seat != GM and not is_own:
        raise UsageError(
            f"{option}: what lies in {name} is not {seat}'s to say; a seat says at most what it has in hand, and the "
            "host or the game master the rest"
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
    """Check what was read off real dice and cards as far as can be told now, before it lies there until it is asked.

    Args:
        rules: the ruleset in play.
        state: the table before the action.
        given: the results as typed, by label.
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
                    f"--given {label}={text}: which card is drawn is not {seat}'s to say where others hold cards in "
                    f"secret, as the answer could tell of them; {THE_HOSTS}"
                )


def _check_dice(rules: Rules, label: str, text: str) -> None:
    """Check a result that is no card: which dice are rolled is only known when they are."""
    if text.strip() and not any(char.isalpha() for char in text):
        return
    if rules.file.piles:
        raise GivenError(f"--given {label}={text}: {unknown_card(rules.cards, text)}", label=label)
    raise GivenError(f"--given {label}={text}: this is nothing that dice show, such as ++0- or 6,5,1", label=label)
