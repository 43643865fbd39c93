"""The account of a scene, made from what came of it: who does what, what was rolled and decided, what comes of it.

`account_of` takes the result of any run. What a seat may not know is not in its result, so nothing is left out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from rpgres.cli.formats.accounts import (
    Account,
    Came,
    Change,
    Chapter,
    Chosen,
    Dealt,
    LineRecord,
    Meaning,
    Note,
    Participant,
    Remark,
    Rolled,
    Told,
    Turn,
)
from rpgres.cli.render.account_tables import table_of
from rpgres.cli.render.account_words import Words, plain_words, words_of
from rpgres.cli.render.results import cards_words, moment_words, untold
from rpgres.cli.render.words import (
    band_title,
    effect_words,
    filled,
    house_rules,
    rung,
    signed,
    title,
)
from rpgres.engine.players import NO
from rpgres.engine.running import PLACE
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, MoveEvent, RollEvent, TextEvent
from rpgres.model.serialization import read_state
from rpgres.model.state import GM, State
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
_UNTOLD = ("sheet", "variant")  # inputs that the sentence tells otherwise
_NUMBERED = ("exchange", "round", "phase")  # what a turn of a procedure may be counted by


def account_of(result: SceneResult, rules: Rules, *, name: str = "") -> Account:
    """Return the account of a run of a scene.

    Args:
        result: what came of it, as far as the reader may know.
        rules: the rules it was played by.
        name: what the scene is called where it has no title.
    """
    state = read_state(result.state)
    words = words_of(rules, state)
    chapters = [chapter_of(steps, words, number) for number, steps in enumerate(grouped(result.steps), 1)]
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
        ending=title(getattr(result, "ending", None) or ""),
        table=table_of(state, rules),
    )


def heading_of(
    rules: Rules, state: State, *, title: str, summary: str = "", seed: str | None = None, seat: str = GM
) -> Account:
    """Return the account of a scene of which nothing was played yet.

    Args:
        rules: the rules it is played by.
        state: the table, for who takes part.
        title, summary: what it is called, and what it is about.
        seed: where the dice come from, where that is told.
        seat: the seat it is told for.
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


def chapter_of(steps: Sequence[Mapping[str, Any]], words: Words, number: int) -> Chapter:
    """Return the chapter that one step makes, or the turns of one procedure."""
    first = steps[0]
    if first.get("skipped"):
        return Chapter(step_title(first, number), skipped=True)
    turns = []
    last: int | None = None
    for step in steps:
        turn, last = turn_of(step, words, last)
        turns.append(turn)
    return Chapter(step_title(first, number), turns=turns)


def step_title(step: Mapping[str, Any], number: int) -> str:
    """Return what a step is called."""
    name = step.get("id") or step.get("procedure") or step.get("action") or ""
    if not name and step.get("inputs"):
        period, moment = _moment(step)
        return moment_words(moment, period)
    return in_line(title(name)) or f"Step {number}"


def _moment(step: Mapping[str, Any]) -> tuple[str, str]:
    """Return the period that begins or ends in a step, and which of these."""
    moment, period = next(iter(step["inputs"].items()))
    return str(period), str(moment)


def turn_of(step: Mapping[str, Any], words: Words, last: int | None = None) -> tuple[Turn, int | None]:
    """Return one step as a turn, and the number of its exchange or round.

    Args:
        step: what came of it.
        words: the words of the scene.
        last: the exchange or round of the turn before; the turn names its own only where that is another.
    """
    details = step.get("details") or {}
    name = next((name for name in _NUMBERED if isinstance(details.get(name), int)), "")
    counted = details[name] if name else last
    is_new = bool(name and step.get("procedure") and counted != last)
    begun: tuple[int | None, str] = (counted, title(name)) if is_new else (None, "")
    note, note_lines = step.get("note") or "", list[LineRecord]()
    if in_line(note).strip():
        note_lines.append(Note(in_line(note).strip()))
    changed = [Change(in_line(one)) for one in _set_words(step.get("set"), words)]
    if not step.get("action"):
        told = _period_words(step) if step.get("inputs") and step.get("id") else ""
        lines = [*note_lines, *_event_lines(step, words), *_effect_lines(step, words), *changed]
        return Turn(told, lines=lines, round=begun[0], counted=begun[1]), counted
    lines = [
        *note_lines,
        *_event_lines(step, words),
        *_came(step, words),
        *(Meaning(in_line(text).strip()) for text in step.get("texts") or () if in_line(text).strip()),
        *_effect_lines(step, words),
        *_unused_lines(step),
        *changed,
    ]
    sentence, actor = in_line(does(step, words)), _actor(step, words)
    is_own = bool(actor) and sentence.startswith(f"{actor} ")
    sentence = sentence.removeprefix(f"{actor} ") if is_own else sentence
    return Turn(sentence, actor if is_own else "", lines=lines, round=begun[0], counted=begun[1]), counted


def _period_words(step: Mapping[str, Any]) -> str:
    period, moment = _moment(step)
    return f"{moment_words(moment, period)}."


def _set_words(changes: Any, words: Words) -> Iterator[str]:
    if isinstance(changes, Mapping):
        for path, value in changes.items():
            told = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            yield f"{_path_words(str(path), words)}: {'nothing' if told in (None, '') else told}"


def _path_words(path: str, words: Words) -> str:
    parts = path.split(".")
    if parts[0] == "characters" and len(parts) > 2:
        return f"{words.who(parts[1])}, {' '.join(plain_words(one) for one in parts[2:])}"
    return " ".join(plain_words(one) for one in parts)


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
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


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


def _event_lines(step: Mapping[str, Any], words: Words) -> Iterator[LineRecord]:
    events = msgspec.convert(step.get("events") or [], list[EventRecord])
    texts = step.get("texts") or ()
    for drawn, group in groupby(untold(events), key=_drawing):
        if drawn is not None:
            cards = cards_words([event.card for event in group if isinstance(event, DrawEvent)])
            yield Dealt(_label(drawn[0]), _by(drawn[1], words), cards)
            continue
        for event in group:
            line = _event_line(event, words, texts)
            if line is not None:
                yield line


def _drawing(event: EventRecord) -> tuple[str, str, str] | None:
    """Return what cards drawn one after the other have in common when they make one line; None for another event."""
    is_drawn = isinstance(event, DrawEvent) and event.label != PLACE
    return (event.label, event.by, event.target) if is_drawn and isinstance(event, DrawEvent) else None


def _event_line(event: EventRecord, words: Words, texts: Sequence[str]) -> LineRecord | None:
    match event:
        case RollEvent():
            value = signed(event.value) if "dF" in event.dice else str(event.value)
            faces = event.faces.replace(";", " ; ")
            rolled = (event.dice or "dice", faces, value, in_line(event.words))
            return Rolled(_label(event.label), _by(event.by, words), *rolled)
        case DecisionEvent() if event.answer != NO:
            answer = in_line(event.text if event.text and event.text not in texts else words.text(event.answer))
            who, of = words.who(event.who), words.who(event.of) if event.of else ""
            return Chosen(_label(event.label), who, answer.strip(), _MEANS.get(event.means, event.means), of)
        case MoveEvent() if event.label and event.cards:
            return Dealt(_label(event.label), _by(event.by, words), cards_words(event.cards))
        case TextEvent() if in_line(event.text).strip():
            return Told(_told(in_line(event.text).strip(), words))
    return None


def _told(text: str, words: Words) -> str:
    """Return a line of the rule; one that begins with somebody's short name says the whole name."""
    name, colon, rest = text.partition(":")
    return f"{words.who(name)}:{rest}" if colon and name in words.people else text


def _label(label: str) -> str:
    return in_line(title(label)) or "Chance"


def _by(name: str, words: Words) -> str:
    return words.who(name) if name not in ("", "actor") else ""


def _came(step: Mapping[str, Any], words: Words) -> Iterator[Came]:
    outcome = step.get("outcome")
    if outcome is None:
        return
    ladder = words.file.ladder
    total, against = step.get("total"), step.get("opposition")
    came, success = in_line(band_title(words.file, outcome)) or outcome, step.get("success")
    if total is None:
        yield Came(came, success)
    elif against is None:
        yield Came(came, success, rung(total, ladder))
    else:
        yield Came(came, success, rung(total, ladder), rung(against, ladder), step.get("margin"))


def _effect_lines(step: Mapping[str, Any], words: Words) -> Iterator[Change]:
    roles = {"actor": step.get("actor"), "opponent": _opponent(step, words)}

    def who(name: str) -> str:
        return words.who(roles.get(name) or name)

    for effect in step.get("effects") or ():
        described = words.file.effects.get(effect["kind"])
        if described is None or not described.quiet:
            pattern = described.words if described is not None else ""
            told = in_line(effect_words(effect, pattern=pattern, who=who)).strip()
            if told:
                yield Change(f"{told[:1].upper()}{told[1:]}")


def _opponent(step: Mapping[str, Any], words: Words) -> str | None:
    """Return who is called the opponent in effects, as far as the step tells."""
    known = (step.get("details") or {}).get("opponent")
    if isinstance(known, str):
        return known
    for value in (step.get("inputs") or {}).values():
        name = value.get("character") if isinstance(value, Mapping) else str(value).partition(":")[0]
        if name in words.people and name != step.get("actor"):
            return str(name)
    return None


def _unused_lines(step: Mapping[str, Any]) -> Iterator[Remark]:
    for answer in step.get("unused") or ():
        if answer["value"] != NO:  # a scene may well say beforehand that no moment is to be used
            key = f'"{answer["who"]}:{answer["label"]}"' if answer.get("who") else answer["label"]
            yield Remark(in_line(f'not used: choose = {{ {key} = "{answer["value"]}" }}'))
