"""One phase: its stacks are revealed and resolved, all at the same time, against the table as the phase began.

Lines of the text (`rulesets/nodice/SOURCES.md`) as `S:n`.
"""

from __future__ import annotations

from rpgres import GM, Effect, Map, Option, Question, State, Table, UsageError, effect
from rpgres_nodice.observing import Sight, observe, targets_of
from rpgres_nodice.phases import PhaseRun, Played, plan_of, read_stack, release, that_do
from rpgres_nodice.plans import BACK, NOTHING, actions_of, plan_words
from rpgres_nodice.points import (
    HAND,
    SPENT,
    added,
    hand_thing,
    holding_of,
    points_words,
    returned,
    secrets_of,
    seen_thing,
)
from rpgres_nodice.striking import strikes, take_harm
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import RESOLVED, Timeline, Token, timeline_of

WAIT = "wait"
REACT = (Option("ready", "go on to the phase", passes=True), Option(WAIT, "abort or declare first"))


def check_declared(table: Table, line: Timeline) -> None:
    """Check that all have declared before the timeline leaves phase 0.

    Raises:
        UsageError: a character has not.
    """
    rule = table.rules.switches(Switches).ready
    if line.phase or rule == "any":
        return
    done = {token.by for token in line.tokens} | (set(line.declined) if rule == "all" else set())
    late = [name for name, one in table.state.characters.items() if not one.is_out and name not in done]
    if late:
        least = f"if only {NOTHING!r}" if rule == "all" else "one stack at least"
        raise UsageError(f"all players declare before the first phase, {least}; missing: {', '.join(late)}")


def held_by(table: Table, phase: int) -> list[str]:
    """Return the seats, in words, that want to abort or declare before the timeline moves.

    Every seat with an actor who is not out is asked, whatever it could do: being asked reveals nothing.

    Args:
        phase: the phase to which the timeline moves.
    """
    if table.rules.switches(Switches).pace == "free":
        return []
    state, asked = table.state, dict[str, str]()
    for name, character in state.characters.items():
        if not character.is_out:
            asked.setdefault(state.seat_of(name), name)
    text, facts = f"Abort or declare before phase {phase}?", Map(phase=phase)
    answers = table.ask_together([Question("react", name, REACT, text, True, facts) for name in asked.values()])
    waiting = [seat for seat, answer in zip(asked, answers, strict=True) if answer == WAIT]
    return ["the game master" if seat == GM else seat for seat in waiting]


def play_phase(table: Table, phase: int) -> list[Effect]:
    """Return the effects of all stacks on a phase, which resolve at the same time."""
    before = table.state
    running = PhaseRun(before, [])
    running.do(effect("marker", phase=phase))
    played = [_reveal(table, running, token) for token in timeline_of(before).due(phase)]
    for one in that_do(table, played, "observe"):
        _observe(table, running, before, one, phase)
    _pause(table, running, that_do(table, played, "pause"))
    for one in that_do(table, played, "move"):
        zones = one.plan.bid.get("agi", 0)
        running.do(effect("zone", to=one.token.by, change=-zones if one.plan.options[0] == BACK else zones))
    harm = strikes(table, running, before, that_do(table, played, "strike"))
    ante = HAND if table.rules.switches(Switches).ante_refresh == "immediate" else SPENT
    for one in played:
        release(running, one.token, bid=SPENT, ante=ante)
    take_harm(table, running, harm)
    return running.effects


def _reveal(table: Table, running: PhaseRun, token: Token) -> Played:
    """Return a revealed stack; its content is public."""
    played = read_stack(running.state, token)
    said = plan_words(table.rules, played.plan, token.by) if table.is_read else ""
    table.tell(f"{token.name} (phase {token.phase}): {said}", reveals=secrets_of(token.by, token.name))
    running.do(effect("turn", stack=token.name, becomes=RESOLVED, plan=played.plan.text))
    return played


# ---------------------------------------------------------------------------------------------------------------------
# Observing and pausing


def _observe(table: Table, running: PhaseRun, before: State, one: Played, phase: int) -> None:
    """Show an observer the cards that it sees, and the owner which these are (S:12)."""
    who, rules = one.token.by, table.rules
    power = one.plan.bid.get(actions_of(rules)[one.plan.action]["power"], 0)
    targets = targets_of(rules, timeline_of(before), running.state, who, one.plan, phase=phase)
    sights = observe(rules, targets, points=power, phases=one.plan.phases)
    gone = [sight.target.name for sight in sights if sight.target.is_gone]
    if gone:
        wasted = "nothing is left to observe, the bid is wasted" if len(gone) == len(sights) else "no longer there"
        table.tell(f"{one.token.name}: {', '.join(gone)}: {wasted}")
    for sight in sights:
        if not sight.target.is_gone:
            _show(table, running, who, sight)


def _show(table: Table, running: PhaseRun, who: str, sight: Sight) -> None:
    stack = sight.target.name
    token = timeline_of(running.state).named(stack)
    assert token is not None
    seats = tuple(dict.fromkeys((running.state.seat_of(who), running.state.seat_of(token.by))))
    revealed = (*secrets_of(token.by, stack), f"{seen_thing(who)}/{stack}")
    if not sight.fresh:
        table.tell(f"{who} learns nothing of {stack}", audience=seats, reveals=revealed)
        return
    is_whole = sight.count == len(sight.target.cards)
    cards = " | ".join(sight.cards) + (_coming_back(running.state, token) if is_whole else "")
    table.tell(f"{who} sees of {stack}: {cards}{'' if is_whole else ' | ...'}", audience=seats, reveals=revealed)
    running.do(effect("see", to=who, thing=seen_thing(who), stack=stack, cards=cards, whole=is_whole))
    running.do(effect("shown", to=token.by, thing=hand_thing(token.by), stack=stack, by=who, count=sight.count))


def _coming_back(state: State, token: Token) -> str:
    """Return the points that an observed pause would return now, in words (S:10)."""
    holding = holding_of(state, token.by)
    pool = plan_of(holding.stacks[token.name]).pool
    return f" (now {points_words(added(returned(holding, pool).hand, holding.hand, sign=-1))})" if pool else ""


def _pause(table: Table, running: PhaseRun, pauses: list[Played]) -> None:
    """Return the spent points of a pool to each hand."""
    later = [one for one in pauses if not one.plan.pool]
    stats = tuple(Option(stat) for stat in table.rules.file.settings["stats"])
    asked = [Question("pool", one.token.by, stats, text="Which pool comes back?") for one in later]
    chosen = dict(zip([one.token.name for one in later], table.ask_together(asked), strict=True)) if asked else {}
    for one in pauses:
        pool = one.plan.pool or chosen[one.token.name]
        running.do(effect("return", to=one.token.by, thing=hand_thing(one.token.by), pool=pool))
