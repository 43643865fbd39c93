"""The result of a confrontation: the first action's outcome, then that of every pair, and who was hit.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from rpgres import EMPTY, GM, NO, Character, Effect, Map, Option, Outcome, Rules, Table, effect
from rpgres_faith.harm import KINDS, counters_of
from rpgres_faith.judging import Verdict, blocked_by, judge, leading, record
from rpgres_faith.playing import Play, draw_owed
from rpgres_faith.sides import LUCK, ROUND, Side, find, shown_advantages, title_of
from rpgres_faith.switches import Switches


def unconfronted(table: Table, actor: Character) -> Outcome:
    """Return the result of an action without a confrontation: it succeeds, at the level its owner names (R:4, R:B6)."""
    rules = table.rules
    levels = [Option(name, rules.file.bands[name].title) for name in rules.table("unopposed")]
    if rules.switches(Switches).unconfronted_level == "success":
        chosen = levels[0].name
    else:
        chosen = table.ask("level", actor.name, levels, text="At which level does it succeed?")
    return table.settle("unopposed", None, band=chosen, roles=Map({"actor": actor.name, "opponent": GM}))


def resolved(table: Table, play: Play, targets: Sequence[str]) -> Outcome:
    """Return the result of a confrontation: the first action's outcome, then that of every pair (S:92-94)."""
    rules, first = table.rules, play.sides[0]
    verdicts = [_shifted(table, play, verdict) for verdict in judge(rules, play)]
    stops = {side.name: blocked_by(rules, play, verdicts, side.name) for side in play.sides}
    chief = stops[first.name] or leading(play, verdicts, first.name)
    outcome = table.settle(
        "confront",
        chief.lead,
        total=chief.values[0],
        opposition=chief.values[1],
        band=_level(rules, chief) if chief.winner == first.name else "",
        roles=Map({"actor": first.who, "opponent": _who(play, chief.other)}),
        facts=_facts(play, chief),
    )
    draw_owed(table, play)
    found: dict[tuple[str, str], list[Effect]] = {}
    for verdict in sorted(verdicts, key=lambda one: find(play.sides, one.other).plays != LUCK):
        is_stopped = stops.get(verdict.winner) is not None
        changes = found[verdict.one, verdict.other] = _consequences(table, play, verdict, is_stopped=is_stopped)
        if stops[verdict.one] == verdict and any(_is_after_all(one, _who(play, verdict.one)) for one in changes):
            stops[verdict.one] = None  # bad luck lets it work, with a complication
    effects = [change for verdict in verdicts for change in found[verdict.one, verdict.other]]
    for verdict in verdicts if table.is_read else ():
        if len(verdicts) > 1 or verdict.winner == verdict.other:  # how well, where that is not the outcome itself
            table.tell(_told(rules, play, verdict, is_stopped=stops.get(verdict.winner) is not None))
    if stops[first.name] is None:
        inside = {side.who for side in play.sides}
        outside = [name for name in targets if name not in inside]
        effects += bystanders(table, first, outside, band=_met_by_luck(rules, play, verdicts))
    pairs = tuple(record(verdict, is_stopped=stops.get(verdict.winner) is not None) for verdict in verdicts)
    details = Map({"pairs": pairs, "sides": _sides_record(play)})
    return msgspec.structs.replace(outcome.plus(effects), details=details)


def _sides_record(play: Play) -> tuple[Map[str, Any], ...]:
    """Return for readers of the JSON with what each side began, and to whom it was inferior."""
    shown = shown_advantages(play.sides, play.pairs)
    return tuple(
        Map(
            {
                "name": side.name,
                "value": side.start,
                "advantages": shown[side.name],
                "inferior_to": side.inferior_to,
                "cards": side.limit,
            }
        )
        for side in play.sides
    )


def _is_after_all(change: Effect, who: str) -> bool:
    """Tell whether an effect is that a character's action works after all (S:74)."""
    return bool(change["kind"] == "complication" and change["to"] == who)


def _told(rules: Rules, play: Play, verdict: Verdict, *, is_stopped: bool) -> str:
    """Return who is higher in a pair, and how well, in words."""
    one, other = (title_of(find(play.sides, name)) for name in (verdict.one, verdict.other))
    values = verdict.values
    if not verdict.winner:
        return f"{one} and {other} are level at {values[0]}: neither works"
    if verdict.winner == verdict.other:
        one, other, values = other, one, values[::-1]
    level = rules.file.bands[_level(rules, verdict)].title.lower()
    stopped = "; bad luck stops it all the same" if is_stopped else ""
    return f"{one} over {other}, {values[0]} to {values[1]}: {level}{stopped}"


def _level(rules: Rules, verdict: Verdict) -> str:
    """Return the band of the higher side of a pair."""
    if verdict.is_critical:
        name: str = rules.file.settings["critical-band"]
        return name
    return _plain(rules, 1 if verdict.is_plain else abs(verdict.lead))


def _plain(rules: Rules, lead: int) -> str:
    """Return the band of a success by a lead."""
    return next(name for name, band in rules.file.bands.items() if band.success and band.has(lead))


def _met_by_luck(rules: Rules, play: Play, verdicts: Sequence[Verdict]) -> str:
    """Return the band of the first action against those who let it come: that against bad luck, if she is in it."""
    first = play.sides[0].name
    against = (one for one in verdicts if one.one == first and find(play.sides, one.other).plays == LUCK)
    return next((_level(rules, verdict) for verdict in against if verdict.winner == first), _plain(rules, 1))


def _facts(play: Play, verdict: Verdict, *, winner: str = "") -> Map[str, Any]:
    luck = any(find(play.sides, name).plays == LUCK for name in (verdict.one, verdict.other))
    arms = find(play.sides, winner).arms if winner and not luck else EMPTY  # bad luck cannot be hit
    return Map(
        {
            "luck": "yes" if luck else "no",
            "critical": "yes" if verdict.is_critical else "no",
            "winner": "luck" if verdict.winner and find(play.sides, verdict.winner).plays == LUCK else "character",
            "armed": "yes" if arms.get("weapon") else "no",
        }
    )


def _who(play: Play, name: str) -> str:
    return find(play.sides, name).who


def _consequences(table: Table, play: Play, verdict: Verdict, *, is_stopped: bool) -> list[Effect]:
    """Return what a pair comes to: the higher action works, unless bad luck stopped it; the lower one fails (S:102).

    On a tie both fail (S:56). The game master says of each failure how it comes about (S:74). Who is better than bad
    luck is not stopped by her, and works against the others or not; it works as such where there are none.
    """
    rules = table.rules
    effects: list[Effect] = []
    beats_luck = bool(verdict.winner) and find(play.sides, verdict.loser).plays == LUCK
    if verdict.winner and not is_stopped and not (beats_luck and len(play.opponents(verdict.winner)) > 1):
        settled = table.settle(
            "win",
            abs(verdict.lead),
            band=_level(rules, verdict),
            roles=Map({"actor": _who(play, verdict.winner), "opponent": _who(play, verdict.loser)}),
            facts=_facts(play, verdict, winner=verdict.winner),
            defaults={"harm": _hit(find(play.sides, verdict.winner), find(play.sides, verdict.loser))},
        )
        effects += [_with_gains(one, find(play.sides, verdict.winner)) for one in _named(table, settled)]
    for name in (verdict.one, verdict.other):
        if name == verdict.winner or find(play.sides, name).plays == LUCK:
            continue
        other = verdict.one if name == verdict.other else verdict.other
        own, its = verdict.values if name == verdict.one else verdict.values[::-1]
        settled = table.settle(
            "loss" if verdict.winner else "level",
            -abs(verdict.lead),
            roles=Map({"actor": _who(play, name), "opponent": _who(play, other)}),
            facts=_facts(play, verdict, winner=name),
            defaults={"harm": _hit(find(play.sides, name), find(play.sides, other))},
            about=Map({"of": _who(play, name), "against": _who(play, other)}),
            words=f"{name} {own}, {title_of(find(play.sides, other))} {its}",
            of=f"{name} against {title_of(find(play.sides, other))}",
        )
        named = _named(table, settled)
        if any(_is_after_all(one, _who(play, name)) for one in named):  # then it has not failed
            named = [one for one in named if one["kind"] != "failed"]
        effects += named
    return effects


def _with_gains(change: Effect, side: Side) -> Effect:
    """Return an effect with what the winner's sheet says of its level; a critical success is a decisive one, too."""
    level: str = change.get("level") or ""
    told = side.gains.get(level, "")
    if level == "critical" and not told:
        told = side.gains.get("decisive", "")
    return change.with_("text", told) if told else change


def bystanders(table: Table, side: Side, names: Iterable[str], *, band: str) -> list[Effect]:
    """Return what an action does to those who let it come: they are simply affected (S:100), and hit if it is a shot.

    Args:
        side: whose action it is.
        names: who stayed out, or knew nothing of it.
        band: how well it succeeds.
    """
    rules = table.rules
    critical = "yes" if band == rules.file.settings["critical-band"] else "no"
    armed = "yes" if side.arms.get("weapon") else "no"
    facts = Map({"luck": "no", "critical": critical, "winner": "character", "armed": armed})
    effects: list[Effect] = []
    for name in names:
        effects.append(effect("affected", to=name, by=side.who))
        roles = Map({"actor": side.who, "opponent": name})
        worn = table.state.characters[name].counters.get("armour", 0) if name in table.state.characters else 0
        hit = {"harm": {**_hit(side), "worn": worn}}
        settled = table.settle("win", 1, band=band, roles=roles, facts=facts, defaults=hit)
        hits = tuple(one for one in settled.effects if one.get("to") == "opponent")
        effects += _named(table, msgspec.structs.replace(settled, effects=hits))
    return effects


def _hit(side: Side, other: Side | None = None) -> dict[str, Any]:
    """Return what is known of a hit: the weapon of one side, the armour of the other."""
    arms = {key: value for key, value in side.arms.items() if key != "armour"}
    return {**arms, "worn": other.arms.get("armour", 0) if other is not None else 0}


def _named(table: Table, settled: Outcome) -> list[Effect]:
    """Return the effects of a pair: names in place of roles, as each pair has its own; hits with their counters."""
    found = []
    for one in settled.effects:
        for key in ("to", "by", "against"):
            if one.get(key) in settled.roles:
                one = one.with_(key, settled.roles[one[key]])
        if one["kind"] == "harm":
            one = one.with_("count", counters_of(table.rules.file.settings, one))
            one = one.with_("counter", KINDS.get(one.get("ammo") or "standard", "physical"))
        found.append(one)
    return found


def _shifted(table: Table, play: Play, verdict: Verdict) -> Verdict:
    """Return a verdict at the level that the player of a joker sets, where jokers do that (R:4.7)."""
    if table.rules.switches(Switches).joker_rule == "nullify" or not verdict.winner:
        return verdict
    for name in (verdict.one, verdict.other):
        side = find(play.sides, name)
        if any(card.is_joker for card in side.cards):
            levels = (Option("raise", "a critical success"), Option("lower", "a plain success"))
            chosen = table.ask("shift", side.who, levels, text="Which level does the joker make it?", optional=True)
            if chosen != NO:
                is_raised = chosen == "raise"
                verdict = msgspec.structs.replace(verdict, is_critical=is_raised, is_plain=not is_raised)
    return verdict


def cards_used(table: Table, play: Play) -> list[Effect]:
    """Return how many cards of a round's limit were used, while there is a round (S:39, R:4.4)."""
    if ROUND not in table.state.periods:
        return []
    shares = table.rules.switches(Switches).gm_round_budget == "per_character"
    found = []
    for side in play.sides:
        if not side.cards or (side.plays == LUCK and not shares):
            continue
        met = next((one for pair in play.pairs if side.name in pair for one in pair if one != side.name), "")
        who = f"{GM}:{_who(play, met)}" if side.plays == LUCK else side.who
        found.append(effect("used", to=who, attribute=side.key, count=len(side.cards)))
    return found
