"""The actions of NoDice and what begins and ends; each step leaves a table between two phases.

Lines of the text (`rulesets/nodice/SOURCES.md`) as `S:n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rpgres import Character, Dice, Effect, Form, Map, Outcome, Ruleset, Table, UsageError, effect, named, unknown
from rpgres_nodice import declaring, effects, pictures, policies, resolving, sequences
from rpgres_nodice.figures import check_observation, delay
from rpgres_nodice.observing import Sight, Target, observe
from rpgres_nodice.plans import actions_of, ante_of, is_reaction, nature_of, pause_cards, spells_of
from rpgres_nodice.points import points_words, pools_of, total
from rpgres_nodice.switches import Switches
from rpgres_nodice.timeline import timeline_of

nodice = Ruleset("nodice")
nodice.switches(Switches)
effects.register(nodice)
policies.register(nodice)
pictures.register(nodice)
nodice.procedure("sequence", turn=sequences.turn, stop=sequences.stop)(sequences.sequence)

MOST_BID = 99  # points on a target, as many as --int takes
MOST_DIGITS = 100  # of a number that is read at all
BID_FORMS = "A bid is a number, dice such as 1d4-1, or a range such as 0..3"
UNKNOWN_CARDS = ("action", "bid")  # what every stack has that is observed without saying what it is made of


# ---------------------------------------------------------------------------------------------------------------------
# Observing as a question


@nodice.action("observe")
def observe_foe(
    table: Table, actor: Character, *, target: tuple[Form, ...], qic: int, phases: int, start: int, **more: int
) -> Outcome:
    """What a bid would show of stacks that are described (S:8, S:10, S:14)."""
    rules, points = table.rules, more["int"]
    check_observation(rules, points=points, phases=phases, count=len(target))
    _check_pools(table, actor, points=points, qic=qic)
    ante = ante_of(rules, "observe").get("qic", 0)
    phase = start + delay(rules, power=points, speed=qic, phases=phases, ante=ante)
    targets = [_described(table, one, phase) for one in target]
    sights = observe(rules, targets, points=points, phases=phases)
    there = [sight for sight in sights if sight.outcome is not None]
    fresh = sum(sight.fresh for sight in there)
    band = "wasted" if not there else "learned" if fresh else "nothing"
    best = max((sight.outcome or 0 for sight in there), default=None)
    for sight in sights:
        table.tell(_words(sight))
    table.tell(f"It resolves on phase {phase}.")
    outcome = table.settle("observe", best, total=fresh, band=band, roles=Map({"actor": actor.name}))
    details = Map(phase=phase, targets=tuple(_told(sight) for sight in sights))
    return Outcome(
        outcome.band, outcome.success, best, fresh, None, outcome.effects, outcome.texts, outcome.roles, details
    )


def _check_pools(table: Table, actor: Character, *, points: int, qic: int) -> None:
    """Check that the pools of a character with a sheet hold what is bid and anted."""
    if not actor.abilities:
        return
    pools = pools_of(actor)
    for stat, number in total(Map(int=points, qic=qic), ante_of(table.rules, "observe")).items():
        if number > pools.get(stat, 0):
            raise UsageError(f"{actor.name} has {pools.get(stat, 0)} of {stat}, and this takes {number}, ante included")


def _described(table: Table, form: Form, phase: int) -> Target:
    """Return a stack that was described on the command line."""
    rules, values = table.rules, form.values
    switches = rules.switches(Switches)
    known = "spell" if form.name in spells_of(rules) else form.name
    if known in actions_of(rules) and is_reaction(rules, known):
        raise UsageError(f"{named('target')} {form.name}: a reaction has no phase and cannot be observed")
    nature = values.get("kind") or (nature_of(rules, known) if known in actions_of(rules) else "")
    if not nature:
        raise UsageError(
            f"{named('target')} {form.name}: {unknown('action', form.name, actions_of(rules), of=rules.id)}; "
            "for a custom action give its kind too: kind=physical"
        )
    stat = {"physical": "agi", "mental": "qic"}.get(nature, "")
    defence = _bid(table, form.name, stat, values[stat]) if stat else 0
    if switches.ante_counts_as_defence and known in actions_of(rules):
        defence += ante_of(rules, known).get(stat, 0)
    cards = _cards(form.name, values["stack"]) if "stack" in values else _usual_cards(table, known)
    if known == "pause" and "stack" not in values:
        cards = _pause_cards(table, values.get("pool", ""), values.get("spent"))
    if values["seen"] > len(cards):
        raise UsageError(
            f"{named('target')} {form.name}: seen={values['seen']} is more cards than it has ({len(cards)})"
        )
    lies = values.get("phase")
    is_late = lies is not None and (lies < phase or (lies == phase and not switches.same_phase_observes))
    return Target(form.name, cards, defence, values["seen"], is_gone=values.get("aborted", False) or is_late)


def _cards(name: str, typed: str) -> tuple[str, ...]:
    """Return the cards of a target as they were typed, from the top."""
    cards = tuple(card.strip() for card in typed.split("/"))
    if not all(cards):
        raise UsageError(
            f"{named('target')} {name}: stack={typed} has an empty card; every card has a name, such as "
            "stack=action/weapon/location/bid, and without stack= it has the usual cards"
        )
    return cards


def _usual_cards(table: Table, action: str) -> tuple[str, ...]:
    if action not in actions_of(table.rules):
        return UNKNOWN_CARDS
    cards = [card for card in actions_of(table.rules)[action].get("cards", ()) if not card.endswith("?")]
    return ("action", *cards, "bid")


def _pause_cards(table: Table, pool: str, spent: int | None) -> tuple[str, ...]:
    """Return the cards of a pause, with the points that it returns as far as they were given (S:10)."""
    stats = table.rules.file.settings["stats"]
    if pool and pool not in stats:
        raise UsageError(f"{named('target')} pause: {unknown('pool', pool, stats, of=table.rules.id)}")
    if table.rules.switches(Switches).pause_pool_chosen_at == "resolve":
        return pause_cards(table.rules, "pause", "")
    cards = pause_cards(table.rules, "pause", pool or "a pool (give it with pool=agi,spent=2)")
    return (*cards[:-1], f"{cards[-1]} (now {points_words({pool: spent})})") if pool and spent is not None else cards


def _bid(table: Table, name: str, stat: str, typed: str) -> int:
    """Return what is bid on a target: a number, or what a distribution gives, under the label `bid`."""
    where = f"{named('target')} {name}: {stat}={typed}"
    low, dots, high = (part.strip() for part in typed.partition(".."))
    if dots and not (_is_number(low) and _is_number(high) and int(low) <= int(high)):
        raise UsageError(f"{where} is not a range such as 0..3, the lower number first")
    # A range is measured before dice are made of it, so that a long one is refused for what it says.
    if _is_number(high if dots else low) and int(high if dots else low) > MOST_BID:
        raise _too_much(where)
    try:
        dice = Dice.of(f"1d{int(high) - int(low) + 1}{int(low) - 1:+d}" if dots else typed)
        values = dice.law.values
    except UsageError as error:
        raise UsageError(f"{where} is not a bid: {error.message}. {BID_FORMS}") from None
    if min(values) < 0:
        raise UsageError(f"{where} can be less than 0, which is not a bid")
    if max(values) > MOST_BID:
        raise _too_much(where)
    return values[0] if dice.constant else table.roll(dice, "bid")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS


def _too_much(where: str) -> UsageError:
    return UsageError(f"{where} can be more than {MOST_BID} points, the maximum for bids against it")


def _words(sight: Sight) -> str:
    if sight.outcome is None:
        return f"{sight.target.name}: no longer there"
    message = f"{sight.target.name}: {sight.effort} against {sight.target.defence}, outcome {sight.outcome:+d}: "
    return message + (" | ".join(sight.cards[sight.target.seen :]) if sight.fresh else "nothing")


def _told(sight: Sight) -> Map[str, Any]:
    return Map(
        target=sight.target.name,
        effort=sight.effort,
        defence=sight.target.defence,
        outcome=sight.outcome,
        cards=sight.cards[sight.target.seen :],
    )


# ---------------------------------------------------------------------------------------------------------------------
# A sequence


@nodice.action("declare")
def declare(table: Table, actor: Character, *, who: tuple[str, ...] = ()) -> Outcome:
    """All build stacks, together and in secret; only the phases are public."""
    state, rules = table.state, table.rules
    names = [name for name in dict.fromkeys(who or state.characters) if not state.characters[name].is_out]
    if not names:
        raise UsageError("no character can declare anything")
    questions = [declaring.question(rules, state, name) for name in names]
    answers = table.ask_together(questions, secret=True)
    found = [
        change
        for name, answer in zip(names, answers, strict=True)
        for change in declaring.declared(table, state, name, answer)
    ]
    return table.settle("declare", None, band="declared", roles=Map({"actor": actor.name})).plus(found)


@nodice.action("resolve")
def resolve(table: Table, actor: Character, *, phase: int | None = None) -> Outcome:
    """Go on to the next phase with stacks; with `phase` no further than to it."""
    line, roles = timeline_of(table.state), Map({"actor": actor.name})
    if phase is not None and phase <= line.phase:
        raise UsageError(f"the current phase is already {line.phase}; {named('phase')} must be later")
    resolving.check_declared(table, line)
    ahead = line.next_phase()
    to = ahead if phase is None or (ahead is not None and ahead <= phase) else phase
    if to is None:
        raise UsageError("no stack lies ahead on the timeline; declare one, or give a phase to advance to")
    waiting = resolving.held_by(table, to)
    if waiting:
        table.tell(f"Phase {to} does not begin yet. Acting first: {', '.join(waiting)}.")
        return table.settle("resolve", None, band="held", roles=roles)
    found = resolving.play_phase(table, to)
    if to != ahead:
        table.tell(f"The marker goes on to phase {to}.")
    return table.settle("resolve", None, band="resolved" if to == ahead else "passed", roles=roles).plus(found)


@nodice.action("abort")
def abort(table: Table, actor: Character, *, stack: tuple[str, ...] = ()) -> Outcome:
    """Take stacks back between two phases."""
    found = declaring.abort(table.rules, table.state, actor.name, stack)
    taken = [one["stack"] for one in found if one["kind"] == "turn"]
    table.tell(f"removed: {', '.join(taken) or 'nothing, as no stack lies ahead'}")
    return table.settle("abort", None, band="aborted", roles=Map({"actor": actor.name})).plus(found)


@nodice.begins("sequence")
def begin_sequence(table: Table) -> Sequence[Effect]:
    """Every pool is full, and the timeline begins at phase 0."""
    return (effect("refresh"),)


@nodice.ends("sequence")
def end_sequence(table: Table) -> Sequence[Effect]:
    """Every pool is full again, and the timeline is empty."""
    return (effect("refresh"),)
