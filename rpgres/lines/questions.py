"""What is typed at a question: which answer is meant, and `odds` and `why` in place of one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from rpgres.engine.players import NO, Question, View, named_option
from rpgres.model.state import slug
from rpgres.render.lines import Line
from rpgres.render.questions import keyed

if TYPE_CHECKING:
    from rpgres.engine.prepare import Prepared

SKIPS = ("n", "none", "nothing", "skip", "enter")  # other words for skipping an optional question
YES = ("y", "yes")  # for the only option there is
SKIP = "pass"  # typed to skip an optional decision, as Enter does
ODDS, WHY = "odds", "why"


def matching(question: Question, typed: str) -> list[str]:
    """Return the answers that a typed text may mean: what stands before an option, a name, the beginning of names.

    Enter skips an optional decision.
    """
    names, said = [option.name for option in question.offered], typed.lower()
    if question.optional:
        passes = typed in ("", "0", NO) or said in (SKIP, *SKIPS)
        if passes and not (typed and any(name.lower().startswith(said) for name in names)):
            return [NO]
        names.append(NO)
    keys = keyed(question)
    if said in YES and len(question.options) == 1:
        return [question.options[0].name]
    if said.startswith(f"{question.label} "):  # `invoke Burning Oil`
        said = said.partition(" ")[2]
    said = slug(said) if " " in said else said  # `Burning Oil` stands for burning-oil
    if said.isascii() and said.isdecimal():
        return [keys[said].name] if said in keys else []
    same = [name for name in names if name.lower() == said]
    if typed in names or len(same) == 1:
        return [typed] if typed in names else same
    if said in keys:
        return [keys[said].name]
    begun = [name for name in names if said and name.lower().startswith(said)]
    begun = begun or [name for name in names if len(said) > 2 and f"-{said}-" in f"-{slug(name)}-"]  # `hammer`
    if not begun and typed and (other := named_option(question.offered, typed)) is not None:
        return [other.name]  # `Ag4+` for Ag4, as `--choose` takes it
    plain = [name for name in begun if not any(name.startswith(f"{other}:") for other in begun)]
    return plain if len(plain) == 1 else begun  # another way to choose an option is typed in full


def odds_aside(
    prepared: Prepared,
    view: View,
    question: Question,
    watched: AbstractContextManager[Any] | None = None,
    *,
    has_enter: bool = True,
) -> list[Line]:
    """Return the chances of each option of a question.

    Args:
        prepared: the action that is under way, as the seat of the view knows the table.
        view: what the seat that is asked knows.
        watched: what shows meanwhile that this takes long, and whether a person stopped it.
        has_enter: whether an empty line skips the question, as at a terminal.
    """
    from rpgres.engine.players import default_policy, policy_of
    from rpgres.odds.decision import decision_odds
    from rpgres.render.questions import odds_lines, success_words

    name = default_policy(prepared.rules)
    with watched or nullcontext() as show:
        found = decision_odds(prepared, view, question, policies={"": policy_of(prepared.rules, name)})
    is_turn = any(one.is_turn for one in found)
    chance = success_words(prepared, view, question, is_turn=is_turn)
    about: dict[str, Any] = {"policy": name, "chance": chance, "is_interrupted": show is not None and show.is_stopped}
    return odds_lines(question, found, prepared.rules.file, **about, has_enter=has_enter)


def why_aside(prepared: Prepared, question: Question) -> list[Line]:
    """Return the rule of a question, with its file and line."""
    from rpgres.render.why import why_lines

    return why_lines(prepared.rules, prepared.action, question)
