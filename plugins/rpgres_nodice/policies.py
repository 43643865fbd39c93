"""How an actor decides automatically: from the own hand, the timeline and what was seen; never others' stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from rpgres import EMPTY, NO, Character, Map, Question, Ruleset, UsageError, View, slug
from rpgres_nodice.plans import NOTHING
from rpgres_nodice.points import Points, added, holding_of, points_text, read_points, seen_thing
from rpgres_nodice.timeline import Timeline, timeline_of

BODY = ("fit", "str", "agi")
SPEED = 2  # points of agility that a strike and a dodge are given, where there are so many
USUAL = 2  # weight of the planned stack, beside 1 for each bid that is a point lower
FAR = 3  # phases ahead from which on a foe's stack is worth a look


class Stand(msgspec.Struct, frozen=True):
    """What an actor knows who decides: the own points, the timeline, and the cards seen of others' stacks."""

    actor: Character
    hand: Points
    spent: Points
    lost: Points
    line: Timeline
    foes: tuple[Character, ...]
    seen: Map[str, tuple[str, ...]]


def register(ruleset: Ruleset) -> None:
    """Register the policies with a ruleset."""
    ruleset.policy("planner")(planner)
    ruleset.policy("feinter")(feinter)


def planner(view: View, question: Question) -> str:
    """Return what keeps the actor striking and out of harm's way."""
    if question.label == "react":
        return NO
    stand = _stand(view, question)
    match question.label:
        case "declare" | "change":
            ways = _declarations(stand)
        case "loss":
            ways = iter([_loss(stand, int(question.facts["harm"]))])
        case "pool":
            ways = iter([_pool(stand)])
        case _:
            ways = iter(())
    for text in ways:
        if text == NOTHING and question.optional:
            return NO
        if _is_taken(question, text):
            return text
    return question.options[0].name if question.options else NO


def feinter(view: View, question: Question) -> str | Mapping[str, int]:
    """Return what `planner` would declare, or the same with a point less, so that it cannot be predicted."""
    chosen = planner(view, question)
    if question.label not in ("declare", "change") or chosen in (NO, NOTHING):
        return chosen
    head, _, bid = chosen.rpartition("/")
    if "=" not in bid:  # a pause
        return chosen
    points = read_points(bid, [part.partition("=")[0] for part in bid.split(",")])
    weights = {chosen: USUAL}
    for stat, number in points.items():
        fewer = points_text(points.with_(stat, number - 1))
        if fewer and _is_taken(question, f"{head}/{fewer}"):
            weights[f"{head}/{fewer}"] = 1
    return weights


def _is_taken(question: Question, text: str) -> bool:
    """Tell whether a question takes an answer."""
    if any(option.name == text for option in question.options):
        return True
    if question.reads is None or not text:
        return False
    try:
        question.reads(text)
    except UsageError:
        return False
    return True


def _stand(view: View, question: Question) -> Stand:
    state, who = view.state, question.who
    others = [name for name, one in state.characters.items() if name != who and not one.is_out]
    foes = question.facts["foes"].split(", ") if "foes" in question.facts else others
    actor = state.characters[who]
    holding = holding_of(state, who)
    return Stand(
        actor,
        holding.hand,
        holding.spent,
        holding.lost,
        timeline_of(state),
        tuple(state.characters[name] for name in foes if name in others),
        Map({stack: known["cards"] for stack, known in state.things.get(seen_thing(who), EMPTY).items()}),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Declaring


def _declarations(stand: Stand) -> Iterator[str]:
    """Yield declarations, the best first; some of them may not be possible here."""
    defence = _dodge(stand)
    left = added(stand.hand, _cost(defence), sign=-1) if defence else stand.hand
    stand = msgspec.structs.replace(stand, hand=left)
    if any(token.phase is not None for token in stand.line.live(stand.actor.name)):
        yield from (text for text in (defence, NOTHING) if text)
        return
    look = _look(stand)
    for strike in _strikes(stand):
        yield from ("+".join(filter(None, parts)) for parts in ((defence, look, strike), (defence, strike), (strike,)))
    for pause in _pauses(stand):
        yield from ("+".join(filter(None, parts)) for parts in ((defence, pause), (pause,)))


def _dodge(stand: Stand) -> str:
    """Return a dodge where a foe has a stack out and there is none yet; as quick as is known to be needed."""
    name = stand.actor.name
    coming = [token.name for token in stand.line.live() if token.by != name and token.phase is not None]
    has_one = any(token.phase is None for token in stand.line.live(name))
    agility = min(stand.hand.get("agi", 0), max([SPEED, *(_agility(stand.seen.get(one, ())) for one in coming)]))
    if not coming or has_one or not agility or not stand.hand.get("fit", 0):
        return ""
    return f"dodge/agi={agility}"


def _agility(cards: tuple[str, ...]) -> int:
    """Return the agility that is bid on a stack, where its bid was seen."""
    bid = cards[-1].removeprefix("bid ").split(", ") if cards and cards[-1].startswith("bid ") else ()
    return next((int(part.removeprefix("agi ")) for part in bid if part.startswith("agi ")), 0)


def _cost(dodge: str) -> Points:
    return added(read_points(dodge.rpartition("/")[2], ("agi",)), Map(fit=1))


def _look(stand: Stand) -> str:
    """Return an observation of a stack far ahead and was not looked at, where it takes a single phase."""
    for token in stand.line.live():
        is_far = token.phase is not None and token.phase >= stand.line.phase + FAR
        if token.by != stand.actor.name and is_far and token.name not in stand.seen:
            points = min(stand.hand.get("int", 0), stand.hand.get("qic", 0))  # one of quickness is the ante
            if points > 1:
                return f"observe/{token.name}/{points_text(Map(int=points, qic=points - 1))}"
    return ""


def _strikes(stand: Stand) -> Iterator[str]:
    """Yield strikes at the foe who can bear the least, with all strength there is."""
    strength, agility = stand.hand.get("str", 0), stand.hand.get("agi", 0)
    bid = points_text(Map(str=strength, agi=min(SPEED, agility)))
    gear = stand.actor.records.get("gear", EMPTY)
    weapons = sorted(
        (name for name, item in gear.items() if item.get("weapon")), key=lambda name: -gear[name]["damage"]
    )
    for foe in sorted(stand.foes, key=_left):
        distance = abs(foe.counters.get("zone", 0) - stand.actor.counters.get("zone", 0))
        for weapon in weapons:
            if strength and distance <= gear[weapon].get("reach", 0):
                yield f"attack:{foe.name}/{slug(weapon)}/chest/{bid}"
        if strength and not distance:
            yield f"punch:{foe.name}/{bid}"
        will = stand.hand.get("wil", 0) - 1  # one is the ante
        for spell in stand.actor.records.get("spells", ()):
            if will > 0 and distance <= SPEED:
                speed = min(will, stand.hand.get("qic", 0))
                yield f"spell:{foe.name}/{slug(spell)}/{points_text(Map(wil=will, qic=speed))}"
        if distance:
            way = "forward" if foe.counters.get("zone", 0) > stand.actor.counters.get("zone", 0) else "back"
            yield f"move/{way}/agi={min(distance, agility)}"


def _left(character: Character) -> int:
    return sum(character.abilities.get(stat, 0) for stat in BODY) - character.counters.get("harm", 0)


def _pauses(stand: Stand) -> Iterator[str]:
    phase = stand.line.last_phase(stand.actor.name) + 1
    yield f"pause/{phase}/{_pool(stand)}"
    yield f"pause/{phase}"


def _pool(stand: Stand) -> str:
    """Return the pool that is missed most: the ante, then strength, then whatever has most to come back."""
    missed = [stat for stat in BODY if stand.spent.get(stat, 0) and stand.hand.get(stat, 0) < 2]
    rest = sorted(stand.spent, key=lambda stat: -stand.spent[stat])
    return next(iter([*missed, *rest, "fit"]))


# ---------------------------------------------------------------------------------------------------------------------
# Harm


def _loss(stand: Stand, harm: int) -> str:
    """Return the points that harm takes: each from the pool that has most left."""
    left = {stat: stand.actor.abilities.get(stat, 0) - stand.lost.get(stat, 0) for stat in BODY}
    taken = dict.fromkeys(BODY, 0)
    for _ in range(harm):
        most = max(BODY, key=lambda stat: left[stat] - taken[stat])
        taken[most] += 1
    return points_text(taken)
