"""Declaring stacks and taking them back: what a character may do, its effects, and what could be suggested.

Of what is secret, only the hand and the sights of the actor who declares are read, so that no refusal reveals others'.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from rpgres import NO, Effect, Map, Option, Question, Rules, State, Table, UsageError, effect, slug
from rpgres_nodice.effects import applied
from rpgres_nodice.plans import (
    FORM,
    NOTHING,
    Plan,
    phase_of,
    plans_text,
    read_plans,
    spells_of,
    stack_of,
)
from rpgres_nodice.points import APART, HAND, SPENT, Holding, hand_thing, holding_of, laid, points_text, secrets_of
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import ABORTED, DOWN, UP, Timeline, Token, timeline_of

READY, ABORT = "ready", "abort"
CHANGE_FORM = f"{ABORT}/NAME#N,NAME#N and stacks, joined by +"
KEPT = 200  # tables whose questions are kept
SUGGESTED = ({"str": 1, "agi": 1}, {"str": 2, "agi": 1}, {"str": 3})  # bids of strikes; one may always bid more


def question(
    rules: Rules, state: State, name: str, *, foes: tuple[str, ...] | None = None, needs_stack: bool = False
) -> Question:
    """Return the question to a character who may declare stacks.

    Args:
        name: who is asked.
        foes: possible targets of suggestions; None for all others.
        needs_stack: whether it has to be a stack at least.
    """
    key = ("declare", name, foes, needs_stack)
    return _kept(rules, state, key, lambda: _question(rules, state, name, foes=foes, needs_stack=needs_stack))


def _kept(rules: Rules, state: State, key: Hashable, make: Callable[[], Question]) -> Question:
    """Return a question that was made of an equal table before: runs that begin alike ask the same."""
    kept: dict[State, dict[Hashable, Question]] = rules.compiled.setdefault("nodice:questions", {})
    found = kept.get(state)
    if found is None:
        if len(kept) >= KEPT:
            kept.pop(next(iter(kept)), None)
        found = kept[state] = {}
    if key not in found:
        found[key] = make()
    return found[key]


def _question(rules: Rules, state: State, name: str, *, foes: tuple[str, ...] | None, needs_stack: bool) -> Question:
    def reads(typed: str) -> str:
        plans = read_plans(rules, state, name, typed)
        if needs_stack and not plans:
            raise UsageError(f"{name} has to declare a stack (ready=stacks)")
        lay(rules, state, name, plans)
        return plans_text(plans)

    options = tuple(one for one in suggestions(rules, state, name, foes=foes) if _is_legal(reads, one.name))
    facts = _facts(state, name, foes)
    return Question("declare", name, options, text="Which stacks?", facts=facts, form=FORM, reads=reads)


def change_question(
    rules: Rules, state: State, name: str, *, foes: tuple[str, ...] | None = None, ahead: int | None
) -> Question:
    """Return the question to a character between two phases: to abort, to declare, both, or nothing.

    Args:
        name: who is asked.
        foes: possible targets of suggestions; None for all others.
        ahead: the phase to which the timeline moves; None where nothing is ahead.
    """
    return _kept(rules, state, ("change", name, foes, ahead), lambda: _change(rules, state, name, foes, ahead))


def _change(rules: Rules, state: State, name: str, foes: tuple[str, ...] | None, ahead: int | None) -> Question:
    def reads(typed: str) -> str:
        aborted, plans = read_change(rules, state, name, typed)
        between = applied(state, aborted)
        lay(rules, between, name, plans)
        stacks = ",".join(one["stack"] for one in aborted if one["kind"] == "turn")
        return "+".join((*([f"{ABORT}/{stacks}"] if stacks else []), *(plan.text for plan in plans))) or READY

    own = [Option(f"{ABORT}/{token.name}", "take it back") for token in timeline_of(state).live(name)]
    more = [one for one in suggestions(rules, state, name, foes=foes) if one.name != NOTHING]
    options = tuple(one for one in (*own, *more) if _is_legal(reads, one.name))
    text = "Abort or declare first?" if ahead is None else f"Abort or declare before phase {ahead}?"
    ready = Option(READY, "go on as it is", passes=True)
    facts = _facts(state, name, foes)
    return Question("change", name, (ready, *options), text, True, facts, form=CHANGE_FORM, reads=reads)


def _facts(state: State, name: str, foes: Sequence[str] | None) -> Map[str, str]:
    """Return what a character's declarations are about."""
    hand = points_text(holding_of(state, name).hand) or "nothing"
    return Map({"hand": hand} if foes is None else {"hand": hand, "foes": ", ".join(foes)})


def read_change(rules: Rules, state: State, name: str, typed: str) -> tuple[list[Effect], tuple[Plan, ...]]:
    """Return the effects of the aborts in an answer between two phases, and the stacks that are declared after them.

    Raises:
        UsageError: one of them cannot be.
    """
    if typed.strip().lower() in (READY, NOTHING):
        return [], ()
    parts = [part.strip() for part in typed.split("+")]
    aborts = [part for part in parts if part.partition("/")[0].strip().lower() == ABORT]
    stacks = [one.strip() for part in aborts for one in part.partition("/")[2].split(",") if one.strip()]
    found = abort(rules, state, name, tuple(stacks)) if aborts else []
    rest = "+".join(part for part in parts if part not in aborts)
    return found, read_plans(rules, applied(state, found), name, rest) if rest or not aborts else ()


def _is_legal(reads: Callable[[str], str], text: str) -> bool:
    try:
        reads(text)
    except UsageError:
        return False
    return True


def lay(rules: Rules, state: State, name: str, plans: tuple[Plan, ...]) -> list[Effect]:
    """Return the effects of declaring stacks, one after the other.

    Args:
        name: whose they are.
        plans: the stacks.

    Raises:
        UsageError: the hand has not the points, or a pause cannot be there.
    """
    line, holding = timeline_of(state), holding_of(state, name)
    effects: list[Effect] = []
    for plan in plans:
        stack = stack_of(rules, plan)
        phase = phase_of(rules, plan, line, name, pauses=_pauses(line, holding, name))
        token = Token(line.fresh_name(name), name, phase)
        try:
            holding = laid(holding, token.name, stack)
        except UsageError as error:
            raise UsageError(f"{plan.text}: {error.message}" if len(plans) > 1 else error.message) from None
        line = line.with_token(token)
        effects.append(effect("token", to=name, stack=token.name, phase=phase))
        effects.append(
            effect(
                "bid",
                to=name,
                thing=hand_thing(name),
                stack=token.name,
                plan=plan.text,
                nature=stack.nature,
                cards=" | ".join(stack.cards),
                points=points_text(stack.bid),
                ante=points_text(stack.ante),
            )
        )
    return effects


def declared(table: Table, state: State, name: str, answer: str) -> list[Effect]:
    """Return the effects of an answer to `declare`; the phases are public.

    Args:
        table: where the sum is noted.
        state: the table before it.
        name: who declares.
        answer: the stacks.
    """
    laid = lay(table.rules, state, name, read_plans(table.rules, state, name, answer))
    lies = {one["stack"]: one["phase"] for one in laid if one["kind"] == "token"}
    told = (f"{stack} on phase {phase}" for stack, phase in lies.items() if phase is not None)
    waits = (f"{stack} as a reaction, on no phase yet" for stack, phase in lies.items() if phase is None)
    table.tell(f"{name} declares {', '.join((*told, *waits)) or 'nothing further'}", reveals=secrets_of(name))
    if not lies and name not in {token.by for token in timeline_of(state).tokens}:
        laid.append(effect("declined", to=name))
    return laid


def changed(table: Table, state: State, name: str, answer: str) -> list[Effect]:
    """Return the effects of an answer between two phases; removed stacks and phases are public."""
    if answer in (READY, NO):
        return []
    aborted, plans = read_change(table.rules, state, name, answer)
    if aborted:
        stacks = [one["stack"] for one in aborted if one["kind"] == "turn"]
        table.tell(f"{name} aborts {', '.join(stacks)}", reveals=secrets_of(name))
    if not plans:
        return aborted
    return [*aborted, *declared(table, applied(state, aborted), name, plans_text(plans))]


def abort(rules: Rules, state: State, name: str, stacks: tuple[str, ...]) -> list[Effect]:
    """Return the effects of withdrawing stacks between two phases.

    Args:
        name: whose they are.
        stacks: which; all when there are none.

    Raises:
        UsageError: one is not there, not theirs, or cannot be withdrawn any more.
    """
    line = timeline_of(state)
    switches = rules.switches(Switches)
    holding = holding_of(state, name)
    own = line.live(name)
    effects = []
    for wanted in dict.fromkeys(stacks or [token.name for token in own]):
        token = next((token for token in own if token.name == wanted.strip().lower()), None)
        if token is None:
            raise UsageError(
                f"{wanted} is not a stack of {name} that can be aborted; "
                f"there are: {', '.join(one.name for one in own) or 'none'}"
            )
        is_seen = any(holding.stacks[token.name].shown.values())
        if is_seen and switches.observed_abort == "forbidden":
            raise UsageError(f"a card of {token.name} was observed, so it cannot be aborted")
        where = HAND
        if is_seen or token.state == UP:
            where = APART if switches.observed_abort_returned_by == "any_pause" and is_seen else SPENT
        ante = HAND if switches.ante_refresh == "immediate" else where
        effects.append(effect("turn", stack=token.name, becomes=ABORTED, plan=token.plan))
        effects.append(effect("points", to=name, thing=hand_thing(name), stack=token.name, bid=where, ante=ante))
    return effects


def _pauses(line: Timeline, holding: Holding, name: str) -> set[int]:
    """Return the phases on which a character has a pause."""
    return {
        token.phase
        for token in line.live(name)
        if token.phase is not None
        and token.state == DOWN
        and token.name in holding.stacks
        and holding.stacks[token.name].nature == "none"
    }


# ---------------------------------------------------------------------------------------------------------------------
# What could be declared


def suggestions(rules: Rules, state: State, name: str, *, foes: Sequence[str] | None = None) -> Iterator[Option]:
    """Yield stacks that make sense on their own; many more can be declared, and some of these may not be payable.

    Args:
        name: who declares.
        foes: possible targets of suggestions; None for all others.
    """
    yield Option(NOTHING, "no further stack")
    holding, line, character = holding_of(state, name), timeline_of(state), state.characters[name]
    others = foes
    if others is None:
        others = [one for one, other in state.characters.items() if one != name and not other.is_out]
    is_alone = sum(not one.is_out for one in state.characters.values()) <= 2
    items = [(slug(key), item) for key, item in character.records.get("gear", Map()).items()]
    where = next(iter(rules.file.settings["locations"]))
    for other in others:
        aimed = "" if is_alone else f":{other}"
        for bid in map(points_text, SUGGESTED):
            yield from (Option(f"attack{aimed}/{key}/{where}/{bid}") for key, item in items if item.get("weapon"))
            if not any(item.get("weapon") for _, item in items):
                yield Option(f"punch{aimed}/{bid}")
        for spell in character.records.get("spells", ()):
            if slug(spell) in spells_of(rules):
                yield Option(f"spell{aimed}/{slug(spell)}/{points_text({'wil': 2, 'qic': 1})}")
        for token in line.live(other):
            if token.phase is not None:
                yield Option(f"observe/{token.name}/{points_text({'int': 2, 'qic': 1})}")
    for agility in (1, 2):
        yield Option(f"dodge/{points_text({'agi': agility})}")
    yield from (Option(f"block/{key}/str=1") for key, item in items if item.get("shield"))
    pools = sorted(holding.spent, key=lambda stat: -holding.spent[stat])
    phase = line.last_phase(name) + 1
    if rules.switches(Switches).pause_pool_chosen_at != "declare":
        yield Option(f"pause/{phase}")
        return
    yield from (Option(f"pause/{phase}/{pool}") for pool in pools or ["fit"])
