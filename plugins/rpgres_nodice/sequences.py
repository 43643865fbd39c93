"""A whole action sequence: all declare, phase by phase is resolved, and between two phases all may change their minds.

A turn is one of three: all declare; all may abort and declare, before the timeline moves; a phase is resolved. What
each holds, and the timeline, is on the table; the place holds who is in it and what comes next.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from rpgres import Character, Effect, Map, Outcome, State, Table, Turn, UsageError, effect, named
from rpgres_nodice import declaring, resolving
from rpgres_nodice.effects import applied
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import Timeline, timeline_of

PERIOD = "sequence"


class Stage(msgspec.Struct, frozen=True):
    """Where a sequence stands, beside the state of the table.

    Attributes:
        own, others: the actors of either side, in the order in which they are asked.
        last: the phase after which it stops.
        is_whole: whether it begins and ends here, with full pools; else it goes on in one that has begun.
        comes: what the next turn is; a number where all may change their minds, as often as it was done since the
            last phase.
        phase: the phase that is resolved next, or was resolved last.
    """

    own: tuple[str, ...]
    others: tuple[str, ...]
    last: int
    is_whole: bool
    phase: int
    comes: Literal["begin", "declare", "resolve"] | int = "begin"

    def then(self, comes: Literal["declare", "resolve"] | int, *, phase: int | None = None) -> Stage:
        """Return the stage with another turn to come; with `phase` another phase is counted."""
        return msgspec.structs.replace(self, comes=comes, phase=self.phase if phase is None else phase)


def sequence(
    table: Table, actor: Character, *, against: tuple[str, ...] = (), beside: tuple[str, ...] = (), last_phase: int
) -> Stage:
    """Return where a sequence begins: with whom on which side."""
    own = tuple(dict.fromkeys((actor.name, *beside)))
    seated = [name for name, one in table.state.characters.items() if not one.is_out]
    others = tuple(dict.fromkeys(against)) or tuple(name for name in seated if name not in own)
    twice = next((name for name in others if name in own), None)
    if twice is not None:
        raise UsageError(f"{named('against')} {twice}: {twice} is on the actor's side")
    late = next((name for name in (*own, *others) if table.state.characters[name].is_out), None)
    if late is not None:
        raise UsageError(f"{late} is out, and cannot take part")
    if not others:
        message = f"nobody opposes {actor.name}; name the foes with {named('against')}"
        raise UsageError(message, path=("against",), reason="missing")
    is_whole, phase = PERIOD not in table.state.periods, timeline_of(table.state).phase
    if phase >= last_phase and not is_whole:
        raise UsageError(f"the current phase is already {phase}; {named('last-phase')} must be later")
    return Stage(own, others, last_phase, is_whole, 0 if is_whole else phase)


def turn(table: Table, stage: Stage) -> Turn | Outcome:
    """Take the next turn of a sequence, or return how it ended."""
    line = timeline_of(table.state)
    match stage.comes:
        case "begin":
            if stage.is_whole:
                return Turn(stage.then("declare"), Outcome("", effects=(effect("refresh"),)))
            return Turn(stage.then(0 if line.tokens else "declare"))
        case "declare":
            found = _declared(table, stage)
            return Turn(stage.then(0), Outcome("", effects=tuple(found)))
        case "resolve":
            return _resolved(table, stage)
        case changes:
            return _changed(table, stage, line, changes)


# ---------------------------------------------------------------------------------------------------------------------
# Declaring, and changing one's mind


def _there(state: State, stage: Stage) -> list[str]:
    """Return all who are still in it."""
    return [name for name in (*stage.own, *stage.others) if not state.characters[name].is_out]


def _foes(state: State, stage: Stage, name: str) -> tuple[str, ...]:
    """Return the foes of an actor who are still in it."""
    side = stage.others if name in stage.own else stage.own
    return tuple(one for one in side if not state.characters[one].is_out)


def _declared(table: Table, stage: Stage) -> list[Effect]:
    """Return the result of the first declarations, which all make together and in secret."""
    state, rules = table.state, table.rules
    names = _there(state, stage)
    needs_stack = rules.switches(Switches).ready == "stacks"
    questions = [
        declaring.question(rules, state, name, foes=_foes(state, stage, name), needs_stack=needs_stack)
        for name in names
    ]
    answers = table.ask_together(questions, secret=True)
    return [
        change
        for name, answer in zip(names, answers, strict=True)
        for change in declaring.declared(table, state, name, answer)
    ]


def _changed(table: Table, stage: Stage, line: Timeline, changes: int) -> Turn | Outcome:
    """Have all abort and declare between two phases; when none does, the timeline moves.

    Args:
        changes: how often something was changed since the last phase.
    """
    state, rules = table.state, table.rules
    names, ahead = _there(state, stage), line.next_phase()
    questions = [
        declaring.change_question(rules, state, name, foes=_foes(state, stage, name), ahead=ahead) for name in names
    ]
    answers = table.ask_together(questions, secret=True)
    found: list[Effect] = []
    for name, answer in zip(names, answers, strict=True):
        found += declaring.changed(table, state, name, answer)
    after = timeline_of(applied(state, found)).next_phase()
    is_free = rules.switches(Switches).pace == "free"
    goes_on = not found or is_free or changes + 1 == rules.file.settings["changes"]
    if goes_on and after is None:
        table.tell("Nobody has a stack ahead, and nobody declares one.")
        return _ended(table, stage, band="undecided", before=found)
    comes = stage.then("resolve", phase=after) if goes_on else stage.then(changes + 1)
    return Turn(comes, Outcome("", effects=tuple(found)) if found else None)


# ---------------------------------------------------------------------------------------------------------------------
# Resolving, and the end


def _resolved(table: Table, stage: Stage) -> Turn | Outcome:
    """Resolve the next phase; after it the sequence may be over."""
    phase = stage.phase
    if phase > stage.last:
        table.tell(f"It stops after phase {stage.last}.")
        return _ended(table, stage.then("resolve", phase=stage.last), band="undecided")
    found = resolving.play_phase(table, phase)
    out = {one["to"] for one in found if one["kind"] == "out"}
    left = [[name for name in side if name in _there(table.state, stage) and name not in out] for side in _sides(stage)]
    if not all(left):
        band = "won" if left[0] else "lost" if left[1] else "draw"
        return _ended(table, stage, band=band, before=found)
    return Turn(stage.then(0), Outcome("", effects=tuple(found)), action=f"phase {phase}")


def _sides(stage: Stage) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return stage.own, stage.others


def stop(table: Table, stage: Stage) -> Outcome:
    """Return how a sequence ended that is broken off."""
    return _ended(table, stage, band="undecided")


def _ended(table: Table, stage: Stage, *, band: str, before: list[Effect] | None = None) -> Outcome:
    """Return how a sequence ended for the actor's side; pools are full again where it was a whole one."""
    effects = [*(before or ()), *((effect("refresh"),) if stage.is_whole else ())]
    roles = Map({"actor": stage.own[0], "opponent": stage.others[0]})
    outcome = table.settle("sequence", None, band=band, roles=roles)
    taken = {one["to"] for one in effects if one["kind"] == "out"}
    names = (*stage.own, *stage.others)
    out = tuple(name for name in names if name in taken or table.state.characters[name].is_out)
    details = Map({"phase": stage.phase, "out": out})
    return msgspec.structs.replace(outcome, effects=(*effects, *outcome.effects), details=details)
