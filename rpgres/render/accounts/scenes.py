"""The account of a scene, made from its results: who does what, what was rolled and decided, the outcome.

`account_of` takes the result of any run. What a seat may not know is not in its result, so nothing is left out here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from rpgres.engine.players import NO
from rpgres.formats.accounts import (
    Account,
    Change,
    Chapter,
    Chosen,
    Dealt,
    LineRecord,
    Meaning,
    Note,
    Outcome,
    Participant,
    Remark,
    Rolled,
    RuleLine,
    Turn,
)
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, MoveEvent, RollEvent, TextEvent, TurnEvent
from rpgres.model.serialization import read_state
from rpgres.model.state import GM, State
from rpgres.model.typed_paths import typed_path
from rpgres.render.accounts.things import table_of
from rpgres.render.accounts.words import Words, mobs_of, plain_words, words_of
from rpgres.render.results import (
    cards_words,
    drawing,
    moment_words,
    rolled_value,
    said_of,
    sums_words,
    untitled,
    untold,
)
from rpgres.render.words import band_title, effect_words, filled, house_rules, roles_in, rung, title
from rpgres.rulesets import Rules
from rpgres.scenes import SceneResult
from rpgres.text.harmless import in_line

# How a decision was answered, in words; what is not here has none.
_MEANS = {
    "choose": "chosen",
    "policy": "by policy",
    "prompt": "asked",
    "orders": "by orders",
    "host": "by the host",
    "window": "",
}
_OF_COURSE = ("choose", "policy", "prompt")  # how a decision is answered where nothing else is worth telling of it
_UNTOLD = ("sheet", "variant")  # inputs that the sentence has already
_COUNTED = re.compile(r"([a-z]+)[- ](\d{1,6})")  # what is done in a turn that is a whole exchange: `exchange 2`
_SHORT = 60  # columns of a note that can be a heading
_FROM_ONE = ("exchange", "round")  # of these the first is not always told: where the second begins, it was before
_NUMBERED = ("exchange", "round", "phase")  # what a turn of a procedure may be counted by


def account_of(result: SceneResult, rules: Rules, *, name: str = "") -> Account:
    """Return the account of a run of a scene.

    Args:
        result: the result, as far as the reader may know.
        name: what the scene is called where it has no title.
    """
    state = read_state(result.state)
    words = words_of(rules, state)
    titles = Titles()
    groups = [(steps, titles.next(steps[0])) for steps in grouped(result.steps)]
    chapters = [chapter_of(steps, words, titled) for steps, titled in groups]
    headed = ((step, f"{number}. {titled}") for number, (steps, titled) in enumerate(groups, 1) for step in steps)
    ending = title(result.ending or "")
    ending_text = in_line(result.ending_text).strip()
    return msgspec.structs.replace(
        heading_of(
            rules,
            state,
            title=result.title or name,
            summary=result.summary,
            seed=result.seed,
            seat=result.seat or GM,
        ),
        chapters=chapters,
        ending=f"{ending}: {ending_text}" if ending and ending_text else ending or ending_text,
        table=table_of(state, rules, were_out=_were_out(headed, words, mobs_of(rules, state))),
    )


def heading_of(
    rules: Rules, state: State, *, title: str, summary: str = "", seed: str | None = None, seat: str = GM
) -> Account:
    """Return the account of a scene of which nothing was played yet.

    Args:
        title, summary: what it is called, and what it is about.
        seed: where the dice come from, where the reader may know it.
    """
    words = words_of(rules, state)
    people = [Participant(one, words.who(one), state.seat_of(one)) for one in state.characters]
    return Account(
        title=in_line(title).strip() or "A scene",
        summary=in_line(summary).strip(),
        ruleset=in_line(rules.file.title),
        house_rules=in_line(house_rules(rules)),
        seat=seat,
        seed=seed,
        people=people,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Steps


def grouped(steps: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the steps of a scene, those together that are turns of one procedure."""
    group: list[Mapping[str, Any]] = []
    for step in steps:
        if group and not is_turn_of(step, group[-1]):
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def is_turn_of(step: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    """Tell whether a step goes on with the procedure of the step before it."""
    if before is None or not step.get("procedure") or (step.get("turn") or 0) <= (before.get("turn") or 0):
        return False
    return (step.get("id"), step["procedure"]) == (before.get("id"), before.get("procedure"))


class Titles:
    """The titles of the steps of a scene in order; a step that is played again has a number."""

    def __init__(self) -> None:
        self.count = 0
        self._times: dict[str, int] = {}

    def next(self, step: Mapping[str, Any]) -> str:
        """Return what the next step is called."""
        self.count += 1
        name = step.get("id") or ""
        titled = step_title(step, self.count)
        self._times[name] = times = self._times.get(name, 0) + 1 if name else 1
        return f"{titled} ({times})" if times > 1 else titled


def chapter_of(steps: Sequence[Mapping[str, Any]], words: Words, titled: str) -> Chapter:
    """Return the chapter that one step makes, or the turns of one procedure.

    Args:
        titled: what the chapter is called.
    """
    if steps[0].get("skipped"):
        return Chapter(titled, skipped=True)
    if _is_heading(steps[0]):
        return Chapter(titled)
    turns: list[Turn] = []
    last: int | None = None
    for step in steps:
        more, last = turns_of(step, words, last)
        turns += more
    return Chapter(titled, turns=turns)


def step_title(step: Mapping[str, Any], number: int) -> str:
    """Return what a step is called."""
    name = step.get("id") or step.get("procedure") or step.get("action") or ""
    if not name and step.get("inputs"):
        period, moment = _moment(step)
        return moment_words(moment, period)
    if not name and _is_heading(step):
        return in_line(step["note"]).strip().rstrip(".")
    return in_line(title(name)) or ("A change" if step.get("set") else f"Step {number}")


def _is_heading(step: Mapping[str, Any]) -> bool:
    """Tell whether a step is nothing but a short line without a name, which then stands above what follows."""
    is_line = not (step.get("id") or step.get("action") or step.get("set") or step.get("inputs"))
    return is_line and 0 < len(in_line(step.get("note") or "").strip()) <= _SHORT


def _moment(step: Mapping[str, Any]) -> tuple[str, str]:
    """Return the period that begins or ends in a step, and which of these."""
    moment, period = next(iter(step["inputs"].items()))
    return str(period), str(moment)


def turns_of(step: Mapping[str, Any], words: Words, last: int | None = None) -> tuple[list[Turn], int | None]:
    """Return one step as turns, one for each turn of a procedure; and the number of its exchange or round.

    Args:
        last: the exchange or round of the turn before; a turn names its own only where that is another.
    """
    said = msgspec.convert(step.get("events") or [], list[EventRecord])
    parts: dict[bool, list[EventRecord]] = {False: [], True: []}
    for event in said:  # secret changes of a turn are separate lines, and no turn
        parts[isinstance(event, TurnEvent) and event.audience is not None].append(event)
    events = parts[False]
    ends = [number for number, event in enumerate(events) if isinstance(event, TurnEvent)]
    if not ends:
        turn, last = _turn(step, events, words, last)
        return [turn], last
    begun = {**step, "outcome": None, "texts": [], "effects": [], "unused": []}  # the result is the last turn's
    opening, last = _turn(begun, [], words, last)
    closing_turns = set[int]()  # a character's turn that is counted is the last one of its exchange
    turns, start, told = [opening], 0, sum(len(event.effects) for event in parts[True] if isinstance(event, TurnEvent))
    for number in ends:
        end = events[number]
        assert isinstance(end, TurnEvent)
        turn = _taken_turn(end, events[start:number], step, words)
        if number == 0 and not end.by:  # no character's turn: how it begins
            turns = [msgspec.structs.replace(opening, lines=[*opening.lines, *turn.lines])]
            turns += [Turn(round=turn.round, counted=turn.counted)] if turn.round is not None else []
        else:
            turns.append(turn)
            closing_turns |= {len(turns) - 1} if turn.round is not None and end.by else set()
        start, told = number + 1, told + len(end.effects)
    rest = {**step, "note": None, "effects": (step.get("effects") or [])[told:]}
    closing, last = _turn(rest, events[start:], words, last)
    turns = [turns[0], *_headed(turns[1:], {one - 1 for one in closing_turns})]
    return [*turns, msgspec.structs.replace(closing, does="", actor="")], last


def _headed(turns: Sequence[Turn], closing: Collection[int]) -> list[Turn]:
    """Return turns with the number of each exchange or round on the first turn of it.

    Args:
        closing: the places of turns that end what they are counted by; the others begin it.
    """
    found, first, number, counted = list(turns), 0, 0, ""
    for place, turn in enumerate(turns):
        if turn.round is None:
            continue
        if place in closing:
            found[place] = msgspec.structs.replace(turn, round=None, counted="")
            found[first] = msgspec.structs.replace(found[first], round=turn.round, counted=turn.counted)
            first, number, counted = place + 1, turn.round, turn.counted
        elif place and not number and turn.round == 2 and turn.counted.lower() in _FROM_ONE:
            found[0] = msgspec.structs.replace(found[0], round=1, counted=turn.counted)
            number = turn.round
        else:
            number = turn.round
    if closing and first < len(found):  # of an exchange that was broken off
        found[first] = msgspec.structs.replace(found[first], round=number + 1, counted=counted)
    return found


def _taken_turn(end: TurnEvent, events: Sequence[EventRecord], step: Mapping[str, Any], words: Words) -> Turn:
    """Return one turn of a procedure: what was done, how it went, its outcome."""
    record = {**msgspec.structs.asdict(end), "actor": end.by or None, "details": step.get("details") or {}}
    actor, procedure = words.who(end.by) if end.by else "", step.get("procedure") or step.get("action")
    done, _, target = end.action.partition(" ")
    against = target if target in words.people else _against(end, events, words)
    fields = {"actor": actor} if actor else {}
    fields |= {"opponent": words.who(against)} if against else {}
    sentence = filled(said_of(done if target == against else end.action, words.file, procedure), fields)
    sentence = sentence or f"{actor} {plain_words(end.action)}".strip()
    said = {done, *((against,) if against and words.who(against) in sentence else ())}
    lines = [
        *_event_lines([event for event in events if not _is_said(event, end.by, said)], end.texts, words),
        *([RuleLine(in_line(sums_words(end.sums, named=sentence, who=words.who)))] if end.sums else []),
        *_came(record, words),
        *(Meaning(in_line(text).strip()) for text in end.texts if in_line(text).strip()),
        *_effect_lines(record, words),
    ]
    counted = _COUNTED.fullmatch(end.action)
    if counted is not None:
        sentence = filled(said_of(counted[1], words.file, procedure), fields)
        return _spoken(words.sentence(sentence, actor), actor, lines, (int(counted[2]), title(counted[1])))
    if not end.action:
        return Turn(f"{actor}." if actor else "", lines=lines)
    return _spoken(words.sentence(sentence, actor), actor, lines)


def _is_said(event: EventRecord, actor: str, said: Collection[str]) -> bool:
    """Tell whether an event is a decision of who acts that the sentence of the turn tells already."""
    if not isinstance(event, DecisionEvent) or event.who != actor:
        return False
    return event.answer in said and event.means in _OF_COURSE


def _against(end: TurnEvent, events: Sequence[EventRecord], words: Words) -> str:
    """Return whom a turn is about: whom its owner named in it, else who rolled against it, of those who take part."""
    named = [event.answer for event in events if isinstance(event, DecisionEvent) and event.who == end.by]
    named = [*reversed(named), *(event.by for event in events if isinstance(event, RollEvent))]
    return next((name for name in named if name in words.people and name != end.by), "")


def _spoken(sentence: str, actor: str, lines: list[LineRecord], begun: tuple[int | None, str] = (None, "")) -> Turn:
    """Return a turn with a sentence, which its actor begins where he does."""
    is_own = bool(actor) and sentence.startswith(f"{actor} ")
    sentence = sentence.removeprefix(f"{actor} ") if is_own else sentence
    return Turn(sentence, actor if is_own else "", round=begun[0], counted=begun[1], lines=lines)


def _turn(
    step: Mapping[str, Any], events: Sequence[EventRecord], words: Words, last: int | None
) -> tuple[Turn, int | None]:
    details = step.get("details") or {}
    name = next((name for name in _NUMBERED if isinstance(details.get(name), int)), "")
    counted = details[name] if name else last
    is_new = bool(name and step.get("procedure") and counted != last)
    begun: tuple[int | None, str] = (counted, title(name)) if is_new else (None, "")
    note, lines = in_line(step.get("note") or "").strip(), list[LineRecord]()
    if note:
        lines.append(Note(note))
    if not step.get("action"):
        period, moment = _moment(step) if step.get("inputs") and step.get("id") else ("", "")
        told = f"{moment_words(moment, period)}." if period else ""
        lines += [*_event_lines(events, (), words), *_effect_lines(step, words), *_set_lines(step, words)]
        return Turn(told, lines=lines, round=begun[0], counted=begun[1]), counted
    texts = untitled(step.get("texts") or (), step.get("action"), step.get("outcome"), words.file)
    lines += [
        *_event_lines(events, texts, words),
        *_came(step, words),
        *(Meaning(in_line(text).strip()) for text in texts if in_line(text).strip()),
        *_effect_lines(step, words),
        *_unused_lines(step),
        *_set_lines(step, words),
    ]
    return _spoken(in_line(does(step, words)), _actor(step, words), lines, begun), counted


def _set_lines(step: Mapping[str, Any], words: Words) -> Iterator[Change]:
    changes = step.get("set")
    for path, value in changes.items() if isinstance(changes, Mapping) else ():
        told = ("yes" if value else "no") if isinstance(value, bool) else "nothing" if value in (None, "") else value
        yield Change(in_line(f"{path_words(str(path), words)}: {told}"))


def path_words(path: str, words: Words) -> str:
    """Return a path of the table in words: `Mara Quill, fate points`."""
    typed = typed_path(path)
    parts = [part for part in typed.keys if part not in ("counters", "tracks", "things", "abilities", "tags")]
    if parts[0] == "characters" and len(parts) > 2:
        return f"{words.who(parts[1])}, {' '.join(plain_words(one) for one in parts[2:])}"
    told = (", " if typed.field == "tags" else " ").join(plain_words(one) for one in parts)
    return f"{told[:1].upper()}{told[1:]}"


def _actor(step: Mapping[str, Any], words: Words) -> str:
    actor = step.get("actor")
    return words.who(actor) if actor and actor != "actor" else ""


def does(step: Mapping[str, Any], words: Words) -> str:
    """Return a sentence of who does what with what against whom, in the ruleset's words where it has some."""
    action = step["action"]
    described = words.file.actions.get(action)
    details = step.get("details") or {}
    typed = dict(_typed(step, words))
    known = {name: words.text(value) for name, value in details.items() if isinstance(value, str) and value}
    actor, variant = _actor(step, words), plain_words(step.get("variant") or "")
    fields = {**known, **typed, "actor": actor or "Somebody"} | ({"variant": variant} if variant else {})
    sentence = filled(described.sentence, fields) if described is not None else ""
    if not sentence:
        lead = title(action) + (f" ({variant})" if variant else "")
        lead = f"{actor} acts: {lead[:1].lower()}{lead[1:]}" if actor else lead
        told = (f"{plain_words(name)} {text}".strip() for name, text in typed.items() if name not in _UNTOLD)
        sentence = ", ".join([lead, *told])
    return words.sentence(sentence, actor)


def _typed(step: Mapping[str, Any], words: Words) -> Iterator[tuple[str, str]]:
    """Yield what an action takes by the name of the parameter, in words; nothing but its name for a flag."""
    known = words.file.parameters_of(step["action"]) if step["action"] in words.file.actions else {}
    names = {alias: name for name, its in known.items() for alias in its.aliases}
    for key, value in (step.get("inputs") or {}).items():
        name = names.get(key.replace("_", "-"), key.replace("_", "-"))
        if value is not None and value is not False:
            is_rated = name in known and known[name].kind == "opposition"
            yield name, "" if value is True else words.text(value, is_rated=is_rated)


# ---------------------------------------------------------------------------------------------------------------------
# How it went


def _event_lines(events: Sequence[EventRecord], texts: Sequence[str], words: Words) -> Iterator[LineRecord]:
    said = ""  # by the decision before
    for drawn, group in groupby(untold(events), key=drawing):
        if drawn is not None:
            cards = cards_words([event.card for event in group if isinstance(event, DrawEvent)])
            yield Dealt(_label(drawn[0]), _by(drawn[1], words), cards)
            continue
        for event in group:
            if isinstance(event, TextEvent) and said and event.text.endswith(f": {said}"):
                continue  # a rule that announces what was decided
            line = _event_line(event, words, texts)
            if line is not None:
                yield line
                said = event.text if isinstance(event, DecisionEvent) else ""


def _event_line(event: EventRecord, words: Words, texts: Sequence[str]) -> LineRecord | None:
    match event:
        case RollEvent():
            faces = event.faces.replace(";", " ; ") if not event.faces.startswith("=") else "a total"
            rolled = (event.dice or "dice", faces, rolled_value(event), in_line(event.words))
            return Rolled(_label(event.label), _by(event.by, words), *rolled)
        case DecisionEvent() if event.answer != NO:
            told = words.named(event.text) if event.text and event.text not in texts else words.text(event.answer)
            who, of = words.who(event.who), words.named(f" {event.of}").lstrip()  # within a phrase
            return Chosen(_label(event.label), who, in_line(told).strip(), _MEANS.get(event.means, event.means), of)
        case MoveEvent() if event.label and event.cards:
            return Dealt(_label(event.label), _by(event.by, words), cards_words(event.cards))
        case TextEvent() if in_line(event.text).strip():
            return RuleLine(_capitalised(words.named(in_line(event.text).strip())))
    return None


def _capitalised(text: str) -> str:
    """Return a line with a capital, unless its first word is a name such as `mara#1`."""
    return text if "#" in text.partition(" ")[0] else f"{text[:1].upper()}{text[1:]}"


def _label(label: str) -> str:
    return in_line(title(label)) or "Chance"


def _by(name: str, words: Words) -> str:
    return words.who(name) if name not in ("", "actor") else ""


def _came(step: Mapping[str, Any], words: Words) -> Iterator[Outcome]:
    outcome = step.get("outcome")
    if not outcome:
        return
    ladder = words.file.ladder
    total, against = step.get("total"), step.get("opposition")
    came, success = in_line(band_title(words.file, outcome)) or outcome, step.get("success")
    if total is None:
        yield Outcome(came, success)
    elif against is None:
        yield Outcome(came, success, rung(total, ladder))
    else:
        yield Outcome(came, success, rung(total, ladder), rung(against, ladder), step.get("margin"))


def _effect_lines(step: Mapping[str, Any], words: Words) -> Iterator[Change]:
    roles = roles_in(step.get("actor"), step.get("details") or {})

    def who(name: str) -> str:
        return words.who(roles.get(name, name))

    for effect in step.get("effects") or ():
        described = words.file.effects.get(effect["kind"])
        if described is None or not described.quiet:
            told = in_line(effect_words(effect, described, who=who)).strip()
            if told:
                yield Change(words.sentence(told).removesuffix("."))


def _were_out(steps: Iterable[tuple[Mapping[str, Any], str]], words: Words, mobs: Collection[str]) -> dict[str, str]:
    """Return how characters went out, in words: `taken out (1. Hit)`, or of a mob `taken out: 2 of them (1. Hit)`.

    Args:
        steps: each step with the heading above it.
        mobs: the characters who are several.
    """
    out: dict[str, dict[tuple[str, str], list[int]]] = {}  # by who: how and where, and how many at a time; 0 for all
    for step, heading in steps:
        roles = roles_in(step.get("actor"), step.get("details") or {})
        for effect in step.get("effects") or ():
            described = words.file.effects.get(effect["kind"])
            if described is not None and described.out:
                told = described.values.get("how")
                how = told.get(str(effect.get("how")), "") if isinstance(told, Mapping) else ""
                own, place = out.setdefault(roles.get(effect["to"], effect["to"]), {}), (how or "out", heading)
                own.setdefault(place, []).append(effect.get("count", 0))
    return {
        who: "; ".join(
            f"{how}{_of_mob(counts) if who in mobs or any(counts) else ''} ({at})" for (how, at), counts in own.items()
        )
        for who, own in out.items()
    }


def _of_mob(counts: Sequence[int]) -> str:
    """Return how many of a mob went out, in words; a count of 0 is of all who were left."""
    return f": {sum(counts)} of them" if all(counts) else ": all of them"


def _unused_lines(step: Mapping[str, Any]) -> Iterator[Remark]:
    for answer in step.get("unused") or ():
        if answer["value"] != NO:  # a scene may decline in advance what is then never offered
            key = f'"{answer["who"]}:{answer["label"]}"' if answer.get("who") else answer["label"]
            yield Remark(in_line(f'not used: choose = {{ {key} = "{answer["value"]}" }}'))
