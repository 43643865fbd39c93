"""How an actor declares when nobody does: from the own hand, the timeline and what was seen; never others' stacks."""

from __future__ import annotations

from rpgres import NO, Question, Ruleset, View


def register(ruleset: Ruleset) -> None:
    """Register the policies with a ruleset."""
    ruleset.policy("planner")(planner)


def planner(view: View, question: Question) -> str:
    """Return the first suggestion; see below."""
    return question.options[0].name if question.options else NO
