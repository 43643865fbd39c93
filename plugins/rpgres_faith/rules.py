"""The actions of Faith, each a plain function that plays at a table. No outcome's name stands here.

Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from rpgres import (
    EMPTY,
    GM,
    NO,
    QUESTIONS,
    Card,
    Character,
    Effect,
    Form,
    Map,
    Option,
    Outcome,
    Preference,
    Rating,
    Rules,
    Ruleset,
    State,
    Table,
    UsageError,
    effect,
    put,
)
from rpgres_faith.declaring import (
    JOIN,
    Ruling,
    action_words,
    asks_to_join,
    check_targets,
    counted,
    counteractions,
    plain_words,
    tell,
    tell_action,
    with_activated,
    with_granted,
)
from rpgres_faith.hands import fill, hand_size, place_typed
from rpgres_faith.judging import Verdict, blocked_by, judge, leading, record
from rpgres_faith.playing import Play, draw_owed, play_out
from rpgres_faith.policies import eager, steady
from rpgres_faith.rounds import in_order, lay_cards, reactions, take_turn
from rpgres_faith.sides import (
    LUCK,
    ROUND,
    USED,
    Side,
    find,
    luck_of,
    range_loss,
    shown_advantages,
    side_of,
    spoken,
    suits_of,
    with_limits,
)
from rpgres_faith.switches import Switches

faith = Ruleset("faith")
faith.switches(Switches)
faith.policy("steady")(Preference(steady))
faith.policy("eager")(Preference(eager))


@faith.prepare
def with_hand_size(rules: Rules, character: Character) -> Character:
    """Return the character with the size of a full hand, where the sheet leaves it to the species.

    Raises:
        UsageError: there is no such environment to have an affinity with.
    """
    for word in character.texts.get("affinity", "").split():
        suits_of(rules.file.settings, word)
    alone = State(characters=Map({character.name: character}))
    size = 0 if character.seat == GM else hand_size(rules, alone, character.name)
    return put(character, ("counters",), character.counters.with_("hand-size", size))


@faith.lump("confront", holds=QUESTIONS)
def alike(rules: Rules, card: Card, *, state: State, **parameters: Any) -> tuple[int | None, str]:
    """Cards are told apart by value, and by the suits that let somebody draw: of the place, and of anybody here."""
    if rules.switches(Switches).draw_on_suit == "off":
        return card.value, ""
    settings = rules.file.settings
    words = [parameters.get("ambience") or str(state.things.get("ambience", ""))]
    words += (parameters.get("affinity") or "").split()
    for character in state.characters.values():
        words += character.texts.get("affinity", "").split()
    for form in parameters.get("against") or ():
        words += form.values.get("affinity", "").split()
    suits = {suit for word in words for suit in suits_of(settings, word)}
    return card.value, card.suit if card.suit in suits else ""


# ---------------------------------------------------------------------------------------------------------------------
# Confrontations


@faith.action("confront")
def confront(
    table: Table,
    actor: Character,
    *,
    skill: Rating,
    attribute: Rating,
    advantages: int = 0,
    disadvantages: int = 0,
    gm: bool = False,
    gm_advantages: int = 0,
    gm_disadvantages: int = 0,
    gm_against: Sequence[str] = (),
    against: Sequence[Form] = (),
    target: Sequence[str] = (),
    unaware: Sequence[str] = (),
    words: str = "",
    ambience: str | None = None,
    affinity: str | None = None,
    used: int | None = None,
    npc: bool = False,
    weapon: int = 0,
    armour: int = 0,
    ammo: str = "standard",
    range: int = 0,  # noqa: A002  # the option's name
    thrown: int | None = None,
) -> Outcome:
    """Try something that others, or bad luck, may confront: the eleven steps of the text (S:83-94)."""
    rules = table.rules
    spent = take_turn(table, actor.name)
    own = {"advantages": advantages, "disadvantages": disadvantages, "used": used, "affinity": affinity}
    arms = {"ambience": ambience, "weapon": weapon, "armour": armour, "ammo": ammo, "range": range, "thrown": thrown}
    values = Map({**own, **arms, "words": words})
    first = side_of(table, actor.name, skill=skill, attribute=attribute, values=values, is_npc=npc)
    # What was typed is read before anybody is asked, so that a slip is told to whoever made it.
    for option, names in (("--target", target), ("--unaware", unaware)):
        check_targets(actor.name, names, option=option)
    told = ""
    if table.is_read:
        told = f"{actor.name}: {action_words(skill, attribute, values, targets=[*target, *unaware])}"
    tell_action(table, actor.name, "action", skill, attribute, values, [*target, *unaware])
    others = [_declared(table, form, ambience) for form in _distinct(actor, against, [*target, *unaware])]
    named = [actor.name, *(side.name for side in others)]
    ruling = Ruling(JOIN.name)
    if not gm:
        ruling = asks_to_join(table, actor.name, told, target, named[1:])
    joins = bool(ruling.option)
    aware = [name for name in target if name not in ruling.unaware]
    in_it = [*named, *([GM] if joins else [])]
    declared, granted = counteractions(table, told, aware, names=in_it, ambience=ambience)
    others += declared
    affected = [*target, *unaware]
    if not joins and (gm_advantages or gm_disadvantages or gm_against):
        raise UsageError("--gm-advantages, --gm-disadvantages and --gm-against are for bad luck: give --gm too")
    sides, pairs = [first, *others], [(first.name, other.name) for other in others]
    if joins:
        more = {"advantages": gm_advantages, "disadvantages": gm_disadvantages}
        for name in [actor.name, *_also_met(rules, others, gm_against)]:
            met = find(sides, name)
            luck = luck_of(table, met, name=GM if name == actor.name else f"{GM} ({name})", **more)
            sides.append(luck)
            pairs.append((name, luck.name))
    if not pairs:
        outcome = unconfronted(table, actor)
        return outcome.plus([*spent, *_bystanders(table, first, affected, band=outcome.band)])
    sides = with_granted(sides, [*ruling.granted.items(), *granted])
    ready = with_limits(table, with_activated(table, sides, first=first.name), pairs)
    _tell_sides(table, ready, pairs)
    play = play_out(table, Play(ready, tuple(pairs)))
    spent += reactions(table, [side.who for side in others])
    return _resolved(table, play, affected).plus([*spent, *_used(table, play)])


def _distinct(
    actor: Character, against: Sequence[Form], targets: Sequence[str] = (), *, option: str = "--against"
) -> Sequence[Form]:
    names = [actor.name, *(form.name for form in against), *targets]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        where = "--target" if double in targets else option
        raise UsageError(f"{where} {double}: nobody takes part twice")
    return against


def _declared(table: Table, form: Form, ambience: str | None) -> Side:
    """Return the counteraction that somebody is said to take, with the hand that was typed for it."""
    values = form.values
    skill = values["skill"]
    attribute = values.get("attribute")
    if attribute is None:
        if skill.name not in table.rules.file.settings["npc-values"]:
            raise UsageError(f"--against {form.name} needs attribute=...: how many cards there may be")
        attribute = skill
    side = side_of(
        table,
        form.name,
        skill=skill,
        attribute=attribute,
        values=Map({"ambience": ambience, **values}),
        is_npc=values.get("npc", False),
    )
    tell_action(table, form.name, "countermeasure", skill, attribute, values, ())
    if values.get("hand"):
        if not side.is_player:
            raise UsageError(f"--against {form.name}: cards of the game master are given with --gm-hand")
        place_typed(table, form.name, values["hand"], option=f"--against {form.name}: hand")
    return side


def _also_met(rules: Rules, others: Sequence[Side], names: Sequence[str]) -> Sequence[str]:
    """Return which counteractions bad luck confronts too, where it may (R:A10).

    Raises:
        UsageError: it may not, or there is no such counteraction.
    """
    known = [side.name for side in others]
    for name in names:
        if not rules.switches(Switches).gm_may_confront_counteractions:
            raise UsageError("bad luck confronts the first action alone, unless gm_may_confront_counteractions=yes")
        if name not in known:
            raise UsageError(f"--gm-against {name}: {name} has declared no counteraction")
    return names


def _tell_sides(table: Table, sides: Sequence[Side], pairs: Sequence[tuple[str, str]]) -> None:
    """Tell with what each begins and how many cards each may play, a line for each, and why some may play fewer."""
    if not table.is_read:
        return
    shown = shown_advantages(sides, pairs)
    for side in sides:
        cards = counted(side.limit, "card") if side.limit else "no cards"
        low = [other for other, limit in side.limits.items() if limit < side.limit]
        if low:
            cards += f", the last of them not against {_names(sides, low)}"
        elif side.inferior_to:
            cards += f" (inferior to {_names(sides, side.inferior_to)})"
        over = ""
        if side.net < 0:
            over = f" ({counted(-side.net, 'disadvantage')} over: to {_names(sides, side.limits)})"
        elif table.rules.switches(Switches).surplus_advantage == "giver" and len(side.limits) > 1:
            givers = [find(sides, other) for other in side.limits]
            over = "".join(f" ({-one.net} against {spoken(one)} alone)" for one in givers if one.net < 0)
        table.tell(f"{spoken(side)}: {side.start}, {counted(shown[side.name], 'advantage')}{over}, {cards}")


def _names(sides: Sequence[Side], names: Iterable[str]) -> str:
    return " and ".join(spoken(find(sides, name)) for name in names)


def unconfronted(table: Table, actor: Character) -> Outcome:
    """Return what comes of an action that nobody confronts: it succeeds, at the level its owner names (R:4, R:B6)."""
    rules = table.rules
    levels = [Option(name, band.title) for name, band in rules.file.bands.items() if band.success]
    if rules.switches(Switches).unconfronted_level == "success":
        chosen = levels[0].name
    else:
        chosen = table.ask("level", actor.name, levels, text="At which level does it succeed?")
    return table.settle("unopposed", None, band=chosen, roles=Map({"actor": actor.name, "opponent": GM}))


# ---------------------------------------------------------------------------------------------------------------------
# Outcomes


def _resolved(table: Table, play: Play, targets: Sequence[str]) -> Outcome:
    """Return what comes of a confrontation: the first action's outcome, then that of every pair (S:92-94)."""
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
        facts=_facts(rules, play, chief),
    )
    draw_owed(table, play)
    found: dict[tuple[str, str], list[Effect]] = {}
    for verdict in sorted(verdicts, key=lambda one: find(play.sides, one.other).plays != LUCK):
        is_stopped = stops.get(verdict.winner) is not None
        changes = found[verdict.one, verdict.other] = _consequences(table, play, verdict, is_stopped=is_stopped)
        if stops[verdict.one] == verdict and any(_is_after_all(one, _who(play, verdict.one)) for one in changes):
            stops[verdict.one] = None  # bad luck lets it work, with a complication
    effects = [change for verdict in verdicts for change in found[verdict.one, verdict.other]]
    texts = [
        _told(rules, play, verdict, is_stopped=stops.get(verdict.winner) is not None)
        for verdict in verdicts
        if len(verdicts) > 1 or verdict.winner == verdict.other  # how well, where that is not the outcome itself
    ]
    if stops[first.name] is None:
        inside = {side.who for side in play.sides}
        outside = [name for name in targets if name not in inside]
        effects += _bystanders(table, first, outside, band=_met_by_luck(rules, play, verdicts))
    pairs = tuple(record(verdict, is_stopped=stops.get(verdict.winner) is not None) for verdict in verdicts)
    outcome = outcome.plus(effects)
    details = Map({"pairs": pairs, "sides": _sides_record(play)})
    return msgspec.structs.replace(outcome, texts=(*outcome.texts, *texts), details=details)


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
    """Tell whether an effect is that somebody's action works after all (S:74)."""
    return bool(change["kind"] == "complication" and change["to"] == who)


def _told(rules: Rules, play: Play, verdict: Verdict, *, is_stopped: bool) -> str:
    """Return who is higher in a pair, and how well, in words."""
    one, other = (spoken(find(play.sides, name)) for name in (verdict.one, verdict.other))
    values = verdict.values
    if not verdict.winner:
        return f"{one} and {other} are level at {values[0]}: neither works"
    if verdict.winner == verdict.other:
        one, other, values = other, one, values[::-1]
    level = rules.file.bands[_level(rules, verdict)].title.lower()
    stopped = "; bad luck stops it all the same" if is_stopped else ""
    return f"{one} over {other}, {values[0]} to {values[1]}: {level}{stopped}"


def _level(rules: Rules, verdict: Verdict) -> str:
    """Return the band of whoever is higher in a pair."""
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


def _facts(rules: Rules, play: Play, verdict: Verdict, *, winner: str = "") -> Map[str, Any]:
    luck = any(find(play.sides, name).plays == LUCK for name in (verdict.one, verdict.other))
    arms = find(play.sides, winner).arms if winner and not luck else EMPTY  # nobody is hit in bad luck's place
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
            facts=_facts(rules, play, verdict, winner=verdict.winner),
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
            facts=_facts(rules, play, verdict, winner=name),
            defaults={"harm": _hit(find(play.sides, name), find(play.sides, other))},
            about=Map({"of": _who(play, name), "against": _who(play, other)}),
            words=f"{name} {own}, {spoken(find(play.sides, other))} {its}",
            of=f"{name} against {spoken(find(play.sides, other))}",
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


def _bystanders(table: Table, side: Side, names: Iterable[str], *, band: str) -> list[Effect]:
    """Return what an action does to those who let it come: they are simply affected (S:100), and hit if it is a shot.

    Args:
        table: where it is played.
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
        settled = table.settle("win", 1, band=band, roles=roles, facts=facts, defaults={"harm": _hit(side)})
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
    """Return a verdict at the level that whoever played a joker sets, where jokers do that (R:4.7)."""
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


def _used(table: Table, play: Play) -> list[Effect]:
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


# ---------------------------------------------------------------------------------------------------------------------
# Without a confrontation, and harm


@faith.action("unopposed")
def unopposed(table: Table, actor: Character, *, words: str = "") -> Outcome:
    """Do what nobody and nothing confronts: it succeeds (S:13, R:4)."""
    spent = take_turn(table, actor.name)
    if words:
        tell(table, actor.name, "action", plain_words(words))
    return unconfronted(table, actor).plus(spent)


@faith.action("hold")
def hold(table: Table, actor: Character) -> Outcome:
    """Let the own turn of a round go by (R:6.5)."""
    spent = take_turn(table, actor.name)
    return table.settle("hold", None, roles=Map({"actor": actor.name, "opponent": GM})).plus(spent)


@faith.action("damage")
def damage(
    table: Table,
    actor: Character,
    *,
    weapon: int,
    critical: bool = False,
    armour: int = 0,
    ammo: str = "standard",
    range: int = 0,  # noqa: A002  # the option's name
) -> Outcome:
    """Say what a hit does to whoever acts: its counters lower every skill (S:33, S:71, R:6.9-6.11)."""
    times = table.rules.switches(Switches).critical_multiplier if critical else 1
    hit = Map({"weapon": weapon, "times": times, "worn": armour, "ammo": ammo, "range": range})
    count = counters_of(table.rules.file.settings, hit)
    if range_loss(range):
        table.tell(f"at {range} km the shot had {counted(range_loss(range), 'disadvantage')}")
    name = "hurt" if count else "unhurt"
    outcome = table.settle(name, None, total=count, roles=Map({"actor": actor.name, "opponent": GM}))
    harm = effect("harm", to=actor.name, **{**hit, "count": count, "counter": KINDS.get(ammo, "physical")})
    return outcome.plus([harm] if count else [])


def counters_of(settings: Any, hit: Effect) -> int:
    """Return the damage counters of a hit: multiplied, less range, less armour not ignored (R:6.10)."""
    worn = hit.get("worn", 0)
    ignored = settings["armour-ignored"].get(hit.get("ammo") or "standard", 0)
    if ignored < 0:
        ignored = worn
    raw = hit["weapon"] * hit.get("times", 1) - range_loss(hit.get("range") or 0)
    return int(max(0, raw - max(0, worn - ignored)))


@faith.effect("harm")
def harm(state: State, change: Effect) -> State:
    """Return the state in which somebody has more damage counters."""
    character = state.characters.get(change["to"])
    if character is None:
        return state
    name = change["counter"]
    counters = character.counters.with_(name, character.counters.get(name, 0) + change["count"])
    return put(state, ("characters", character.name, "counters"), counters)


KINDS = {"neural": "neural", "acs": "acs"}  # counters by ammunition, where it is not the physical one


@faith.effect("used")
def use(state: State, change: Effect) -> State:
    """Return the state in which more cards of a round's limit are used."""
    known = state.things.get(USED, EMPTY)
    own = known.get(change["to"], EMPTY)
    own = own.with_(change["attribute"], own.get(change["attribute"], 0) + change["count"])
    return put(state, ("things",), state.things.with_(USED, known.with_(change["to"], own)))


@faith.effect("order")
def order(state: State, change: Effect) -> State:
    """Return the state in which a round has begun, if none had, and has its order of turns."""
    kept = Map({"order": tuple(change["names"].split(", ")), "acted": ()})
    periods = state.periods if ROUND in state.periods else (*state.periods, ROUND)
    state = put(state, ("periods",), periods)
    return put(state, ("things",), state.things.with_(ROUND, kept).without(USED))


@faith.effect("acted")
def acted(state: State, change: Effect) -> State:
    """Return the state in which somebody's action of this round is gone."""
    kept = state.things.get(ROUND)
    if kept is None or change["to"] in kept["acted"]:
        return state
    kept = kept.with_("acted", (*kept["acted"], change["to"]))
    return put(state, ("things",), state.things.with_(ROUND, kept))


# ---------------------------------------------------------------------------------------------------------------------
# Scenes and rounds


@faith.action("initiative")
def initiative(
    table: Table, actor: Character, *, skill: Rating | None = None, who: Sequence[Form] = (), npc: bool = False
) -> Outcome:
    """Have everybody who acts lay a card, and set the order of turns (R:6.2-6.4)."""
    first = Form(actor.name, Map({"npc": npc, **({"skill": skill} if skill is not None else {})}))
    everybody = _everybody(table, [first, *_distinct(actor, who, option="--who")])
    outcome = table.settle("initiative", None, roles=Map({"actor": actor.name, "opponent": GM}))
    totals = lay_cards(table, everybody)
    names = in_order(table, totals)
    table.tell(", ".join(f"{name} {totals[name].total}" for name in names))
    effects = [effect("order", names=", ".join(names))]
    if table.rules.switches(Switches).initiative_card_counts:
        effects += [effect("used", to=name, attribute="agility", count=1) for name in names if totals[name].is_player]
    outcome = outcome.plus(effects)
    shown = tuple(Map({"name": name, "total": totals[name].total}) for name in names)
    return msgspec.structs.replace(outcome, details=Map({"order": shown}))


def _everybody(table: Table, forms: Sequence[Form]) -> list[Form]:
    """Return who lays a card: those who were named, and everybody else at the table who can still act."""
    named = {form.name for form in forms}
    rest = [
        Form(name, EMPTY)
        for name, character in table.state.characters.items()
        if name not in named and not character.is_out
    ]
    return [*forms, *rest]


@faith.begins("scene")
def begin_scene(table: Table) -> Sequence[Effect]:
    """Everybody draws up to a full hand, the game master too (R:1.6)."""
    for name, character in table.state.characters.items():
        if character.seat != GM and not character.is_out:
            fill(table, name)
    fill(table, GM)
    return ()


@faith.ends("round")
def end_round(table: Table) -> Sequence[Effect]:
    """The limits of the round and its order are gone (S:39)."""
    return (effect("over"),)


@faith.effect("over")
def over(state: State, _change: Effect) -> State:
    """Return the state without a round's order and limits."""
    return put(state, ("things",), state.things.without(ROUND).without(USED))
