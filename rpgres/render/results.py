"""Results, and pending decisions, as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rpgres.engine.events import Event
from rpgres.engine.players import NO, ORDERS, Question
from rpgres.engine.records import OptionRecord, Pending, QuestionRecord, Result, event_record
from rpgres.engine.running import PLACE
from rpgres.engine.views import ANOTHER_SEAT
from rpgres.model.events import DecisionEvent, DrawEvent, EventRecord, MoveEvent, RollEvent, Sum, TextEvent, TurnEvent
from rpgres.model.state import EMPTY, FACE_DOWN
from rpgres.parameters.context import ACTOR, SHEET
from rpgres.render.lines import BULLET, INDENT, Line, Piece, line
from rpgres.render.words import (
    band_title,
    effect_words,
    filled,
    input_words,
    named_in_text,
    roles_in,
    rung,
    signed,
    style_of,
    title,
    who_is,
)
from rpgres.rulesets import REQUEST, RulesetFile

MANY = 4  # options of one price, or of one way to choose others, which is then written once


def result_lines(
    result: Result,
    file: RulesetFile | None = None,
    *,
    house_rules: str = "",
    said_by: str | None = None,
) -> list[Line]:
    """Return a result as lines: the outcome first, then how it came about, what it means and what changes.

    Args:
        result: of an action, or of dice (without a ruleset).
        house_rules: those in force, in words; empty for none.
        said_by: the seat that typed the inputs, which is then shown; empty for the host.
    """
    if result.ruleset is None or file is None:
        return list(_dice_lines(result))
    return [
        *_action_lines(result, file, said_by),
        *_unused_lines(result),
        *([line(INDENT, Piece(f"house rules: {house_rules}", "quiet"))] if house_rules else []),
        *_note_lines(result.note, result.seed, by=said_by),
    ]


def unasked_lines(result: Result, file: RulesetFile) -> list[Line]:
    """Return the questions that an actor without a sheet is never asked: those that spend a counter with no value."""
    action = file.actions.get(result.action or "")
    if action is None or SHEET in result.inputs:
        return []
    told = {file.parameters[name].counter for name in result.inputs if name in file.parameters}
    counters = [name for name in file.fields_of("counter") if name not in told]
    own = [ask for ask in action.ask.values() if ask.who == ACTOR]
    spent = {
        word for ask in own for word in (*ask.when.split(), *(one for way in ask.options.values() for one in way.cost))
    }
    words = " or ".join(name for name in counters if name in spent)
    return [line(INDENT, Piece(f"without --{SHEET}, questions about {words} are skipped", "quiet"))] if words else []


def skipped_lines(labels: Iterable[str]) -> list[Line]:
    """Return the optional decisions that were skipped for lack of an answer, and how to answer them."""
    names = list(labels)
    if not names:
        return []
    how = f"--choose {names[0]}=..., or --wait to be asked"
    return [line(INDENT, Piece(f"skipped for lack of an answer: {', '.join(names)} ({how})", "quiet"))]


def answer_notes(partly: Sequence[str], unasked: Sequence[str]) -> list[str]:
    """Return what many runs say of the answers of --choose: those that only some runs offer, and labels none asks."""
    found = [f"not asked before the outcome: {', '.join(unasked)}"] if unasked else []
    how = "decided by a policy or skipped there; a roll refuses it there"
    return [*found, f"not offered on some paths: {', '.join(partly)} ({how})"] if partly else found


def said_lines(found: Result | Pending, said_by: str | None) -> list[Line]:
    """Return the inputs of an action and who typed them, where that is to be shown."""
    told = _typed_words(found.inputs)
    if said_by is None or not found.action or not told:
        return []
    return [line(INDENT, Piece(f"said{_by(said_by)}: {told}", "quiet"))]


def _by(seat: str | None) -> str:
    return f" by {who_is(seat)}" if seat else ""


def _typed_words(inputs: Mapping[str, Any]) -> str:
    return input_words({name: value for name, value in inputs.items() if name != SHEET})


def moment_words(moment: str, period: str) -> str:
    """Return that something begins or ends, in words.

    >>> moment_words("end", "scene")
    'The scene ends'
    """
    return period if moment == "request" else f"The {str(period).replace('-', ' ')} {moment}s"


def _dice_lines(result: Result) -> Iterator[Line]:
    each, parts = getattr(result, "each", []), getattr(result, "parts", {})
    value = Piece(", ".join(map(str, each)) if each else str(result.total), "number")
    yield line(value, *_compared_words(result))
    for rolled in _rolls(result):
        if rolled.faces:
            yield line(INDENT, rolled.dice, ": ", Piece(rolled.faces, "dice"))
    if parts:
        words = [f"{name or 'the rest'} {came}" for name, came in sorted(parts.items(), key=lambda part: not part[0])]
        yield line(INDENT, ", ".join(words))
    yield from (line(INDENT, text) for text in result.texts)
    yield from _note_lines(result.note, result.seed)


def _compared_words(result: Result) -> list[str | Piece]:
    """Return whether dice that are compared succeed, and by how much."""
    if result.margin is None or result.outcome is None or result.total is None:
        return []
    over = result.total - (result.opposition or 0)
    by = (
        f"{abs(over)} {'over' if over > 0 else 'under'} {result.opposition}" if over else f"exactly {result.opposition}"
    )
    return [", ", Piece(result.outcome, style_of(result.success, result.margin)), f": {by}"]


def _action_lines(result: Result, file: RulesetFile, said_by: str | None) -> Iterator[Line]:
    if result.action is None:
        answer = "".join(f": {one.value}" for one in result.answers if one.label == REQUEST)
        for moment, period in result.inputs.items():
            yield line(Piece(moment_words(moment, period), "title"), answer)
    else:
        is_stopped = any(isinstance(event, TurnEvent) for event in result.events)
        ended = "ended early" if is_stopped else "no effect"
        came = band_title(file, result.outcome) if result.outcome is not None else ended
        name = Piece(came, style_of(result.success, result.margin))
        yield line(Piece(_heading(result.action, result.variant, result.actor), "title"), ": ", name)
        yield from said_lines(result, said_by)
    compared = _compared(result, file)
    if compared:
        yield line(INDENT, *compared)
    yield from record_lines(result.events, file, told=result.texts)
    yield from (line(INDENT, text) for text in untitled(result.texts, result.action, result.outcome, file))
    told = sum(len(event.effects) for event in result.events if isinstance(event, TurnEvent))
    yield from _effect_lines(result.effects[told:], file, roles=roles_in(result.actor, result.details))


def _effect_lines(
    effects: Iterable[Mapping[str, Any]],
    file: RulesetFile | None,
    *,
    roles: Mapping[str, str] = EMPTY,
    besides: str = "",
) -> Iterator[Line]:
    """Yield what changes at the table, but for quiet effects and what was said already; nothing without a ruleset."""
    if file is None:
        return
    for effect in effects:
        described = file.effects.get(effect["kind"])
        if described is None or not described.quiet:
            told = effect_words(effect, described, who=lambda name: named_in_text(roles.get(name, name)))
            if told != besides:
                yield line(INDENT, BULLET, told)


def untitled(texts: Sequence[str], action: str | None, outcome: str | None, file: RulesetFile | None) -> list[str]:
    """Return the lines of an action without its outcome's name: of a random table that is mostly the row."""
    if file is None or outcome is None or action not in file.tables:
        return [text for text in texts if text]
    called = band_title(file, outcome)
    known = {called, *called.split(", ")}
    return [text for text in texts if text and text.rstrip(".") not in known]


def _unused_lines(result: Result) -> Iterator[Line]:
    for answer in result.unused:
        yield line(INDENT, Piece(f"not used: --choose {answer.key}={answer.value}", "quiet"))


def action_lines(action: str, *, actor: str, inputs: Mapping[str, Any]) -> list[Line]:
    """Return what stands above the first question of an action: who does what, and what was typed for it."""
    told = _typed_words(inputs)
    return [line(Piece(_heading(action, None, actor), "title"), f": {told}" if told else "")]


def _heading(action: str, variant: str | None, actor: str | None) -> str:
    words = title(action) + (f" ({variant.replace('-', ' ')})" if variant else "")
    return f"{actor}, {words[:1].lower()}{words[1:]}" if actor and actor != "actor" else words


def _compared(result: Result, file: RulesetFile) -> list[str | Piece]:
    """Return the totals in the ladder's words, with the margin."""
    if result.total is None:
        return []
    words: list[str | Piece] = [Piece(rung(result.total, file.ladder), "number")]
    if result.opposition is not None:
        words += [" against ", Piece(rung(result.opposition, file.ladder), "number")]
    if result.margin is not None and result.opposition is not None:
        words += [", margin ", Piece(signed(result.margin), "number")]
    return words


def event_lines(events: Iterable[Event], file: RulesetFile | None = None) -> list[Line]:
    """Return what happened in an action so far, with what turns have changed in the ruleset's words."""
    return list(record_lines([event_record(event) for event in events], file))


def record_lines(
    events: Sequence[EventRecord], file: RulesetFile | None, told: Sequence[str] = (), *, is_full: bool = False
) -> Iterator[Line]:
    """Yield what happened; a choice that other lines explain is only named.

    Args:
        file: the ruleset's data, for the words of what turns have changed.
        told: texts that stand elsewhere.
    """
    for _, group in groupby(untold(events), key=drawing):
        drawn: list[DrawEvent] = []
        for event in group:
            match event:
                case DrawEvent() if event.label != PLACE:
                    drawn.append(event)
                case RollEvent():
                    dice = Piece(event.faces, "dice") if event.faces else Piece("no dice")
                    words = f" ({event.words})" if event.words else ""
                    yield line(INDENT, f"{_whose(event)}: ", dice, " = ", Piece(rolled_value(event), "number"), words)
                case DecisionEvent() if is_full or event.answer != NO:
                    text = f": {event.text}" if event.text and event.text not in told else ""
                    of = f" of {event.of}" if event.of else ""
                    whose = f"{event.label}{of} ({who_is(event.who)}): "
                    ordered = Piece("  (standing orders)" if event.means == ORDERS else "", "quiet")
                    yield line(INDENT, whose, Piece(event.answer, "name"), text, ordered)
                case MoveEvent() if event.label:
                    yield line(INDENT, f"{_whose(event)}: ", _cards(event.cards))
                case TextEvent():
                    yield line(INDENT, event.text)
                case TurnEvent():
                    if event.action or event.outcome or event.texts:
                        yield line(INDENT, *_turn_words(event, file))
                    yield from _effect_lines(event.effects, file, besides=event.action)
        if drawn:
            yield line(INDENT, f"{_whose(drawn[0])}: ", _cards([event.card for event in drawn]))


def _turn_words(event: TurnEvent, file: RulesetFile | None) -> Iterator[Piece | str]:
    """Yield what a turn of a procedure came to, in a line."""
    does = Piece(f"{who_is(event.by)}: {event.action}" if event.by else event.action, "name")
    if event.sums and event.outcome and file is not None:
        fields = {"actor": title(event.by), "opponent": title(event.sums[-1].who)}
        words = filled(said_of(event.action, file), fields)
        sums = sums_words(event.sums, named=words)
        yield from (Piece(words, "name") if words else does, " with " if event.sums[0].ability else ": ", sums, ". ")
        yield Piece(band_title(file, event.outcome), style_of(event.success, event.margin))
        yield f"{_shifts(event.margin)}. {' '.join(event.texts)}".rstrip()
        return
    yield does
    if event.outcome:
        yield f" - {event.outcome}"
    if event.margin is not None:
        yield f", margin {signed(event.margin)}"
    if event.texts:
        yield f": {' '.join(event.texts)}"


def _shifts(margin: int | None) -> str:
    """Return by how much a turn succeeded or failed."""
    if not margin:
        return ""
    return f" by {-margin}" if margin < 0 else f", {margin} shift{'s' if margin > 1 else ''}"


def said_of(done: str, file: RulesetFile, procedure: str | None = None) -> str:
    """Return the pattern for what is done in a turn: of a procedure, or of the action of that name."""
    actions = [file.actions[procedure]] if procedure in file.actions else file.actions.values()
    turns = next((action.turns[done] for action in actions if done in action.turns), "")
    return turns or (file.actions[done].sentence if done in file.actions else "")


def sums_words(sums: Sequence[Sum], *, named: str = "", who: Callable[[str], str] = title) -> str:
    """Return how the sides of a turn came to their totals: `Fight: +3 ++0+ = +6 against Will: +1 --+0 = +0`.

    Args:
        named: a sentence before it, which names the acting side, and perhaps the other.
        who: returns the name of a character.
    """
    sides = []
    for number, one in enumerate(sums):
        of = f" of {who(one.who)}" if number and one.who and who(one.who) not in named else ""
        added = [signed(one.rating), one.faces, signed(one.more) if one.more else ""]
        total = f" = {signed(one.total)}" if one.faces or one.more else ""
        name = f"{title(one.ability)}{of}: " if one.ability else ""
        sides.append(f"{name}{' '.join(filter(None, added))}{total}")
    return " against ".join(sides)


def untold(events: Sequence[EventRecord]) -> Iterator[EventRecord]:
    """Yield events but for choices of cards, whose move is shown."""
    for number, event in enumerate(events):
        if isinstance(event, DecisionEvent) and _is_carried_out(event, events[number + 1 :]):
            continue
        yield event


def _is_carried_out(decision: DecisionEvent, later: Sequence[EventRecord]) -> bool:
    """Tell whether a choice is followed by the move that it was for, be it after the choices of others."""
    if decision.means == ORDERS:  # so that it is marked
        return False
    for event in later:
        if isinstance(event, MoveEvent) and (event.label, event.by) == (decision.label, decision.who):
            return True
        if isinstance(event, DecisionEvent) and (event.label, event.who) == (decision.label, decision.who):
            return False
    return False


def drawing(event: EventRecord) -> tuple[str, str, str] | None:
    """Return what cards drawn one after the other have in common when they make one line; None for another event."""
    is_shown = isinstance(event, DrawEvent) and event.label != PLACE
    return (event.label, event.by, event.target) if is_shown and isinstance(event, DrawEvent) else None


def _whose(event: RollEvent | DrawEvent | MoveEvent) -> str:
    """Return what an event is called, and by whom when it is not the one who acts."""
    return f"{event.label} ({who_is(event.by)})" if event.by not in ("", "actor") else event.label


def _cards(cards: Sequence[str]) -> Piece:
    return Piece(cards_words(cards), "cards")


def cards_words(cards: Sequence[str]) -> str:
    """Return cards for people; those that are face down are counted."""
    hidden = sum(card == FACE_DOWN for card in cards)
    shown = [card for card in cards if card != FACE_DOWN]
    if hidden:
        shown.append("a card" if hidden == 1 else f"{hidden} cards")
    return ", ".join(shown)


def rolled_value(event: RollEvent) -> str:
    """Return what a roll came to, with its sign where dice can be negative."""
    return signed(event.value) if "dF" in event.dice else str(event.value)


def _rolls(result: Result) -> list[RollEvent]:
    return [event for event in result.events if isinstance(event, RollEvent)]


def _note_lines(note: str | None, seed: str | None, *, by: str | None = None) -> Iterator[Line]:
    if note:
        yield line(INDENT, f"note{_by(by)}: {note}")
    if seed is not None:
        yield line(INDENT, Piece(f"seed: {seed}", "quiet"))


def pending_lines(
    pending: Pending,
    file: RulesetFile | None = None,
    *,
    how: Sequence[Line] | None = None,
    said_by: str | None = None,
    is_listed: bool = True,
) -> list[Line]:
    """Return a pending decision: what happened so far, the question with its options, and how to answer it.

    Args:
        file: the ruleset's data, for its words of what finished turns have changed.
        how: the lines that say how it is answered; by default the command that resumes it.
        said_by: the seat that typed the inputs, which is then shown; empty for the host.
    """
    turned = [moment_words(moment, period) for moment, period in pending.inputs.items()] if not pending.action else []
    heading = turned[0] if turned else _heading(pending.action, None, pending.actor)
    lines = [line(Piece(heading, "title"), ": ", Piece("waiting", "even"))]
    lines += said_lines(pending, said_by)
    lines += record_lines(pending.events, file)
    if how is None:
        return [*lines, *waiting_lines(pending)]
    known, others = apart((pending.question, *pending.together) if is_listed else ())
    for one in known:
        lines += _open_lines(one)
    lines += [line(INDENT, Piece(f"{who} choose", "title")) for who in others]
    return [*lines, *how]


def apart(asked: Sequence[QuestionRecord]) -> tuple[list[QuestionRecord], list[str]]:
    """Return what is asked of those who are named, or of one other seat, and several other seats in words."""
    others = [one for one in asked if one.who == ANOTHER_SEAT]
    if len(others) < 2:
        return list(asked), []
    return [one for one in asked if one.who != ANOTHER_SEAT], [f"{len(others)} other seats"]


def waiting_lines(pending: Pending) -> list[Line]:
    """Return the question that waits with its options, and the command that goes on with it."""
    question = pending.question
    lines = [one for asked in (question, *pending.together) for one in _open_lines(asked)]
    lines.append(line(INDENT, f"Answer it with --choose {question.typed}=..., or go on with:"))
    lines.append(line(INDENT * 2, Piece(pending.resume, "command")))
    return lines


def _open_lines(asked: QuestionRecord) -> Iterator[Line]:
    yield line(INDENT, *asked_pieces(asked))
    names, ways = {option.name for option in asked.options}, dict[str, list[OptionRecord]]()
    for option in asked.options:
        ways.setdefault((way_of(option.name, names) or ("", ""))[1], []).append(option)
    often = {how: its for how, its in ways.items() if how and len(its) >= MANY}
    for option in asked.options:
        if any(option in its for its in often.values()):
            continue
        text = f": {option.text}" if option.text else ""
        both = (option.name, NO) if option.name == asked.passing else (option.name,)
        yield line(INDENT * 2, Piece(", ".join(both), "name"), text)
    for how, its in often.items():  # what is listed, chosen in another way
        told = told_of_all(option.text for option in its)
        yield line(INDENT * 2, Piece(f"NAME:{how}", "name"), f": {told}" if told else "")
    if asked.form:
        yield line(INDENT * 2, Piece(asked.form, "name"))
    if asked.optional and not asked.passing:
        yield line(INDENT * 2, Piece(NO, "name"), ": skip")


def way_of(name: str, names: set[str]) -> tuple[str, str] | None:
    """Return which other option an option chooses (`OTHER:HOW`), and how; None where it is an option of its own."""
    base, _, how = name.partition(":")
    return (base, how) if how[:1].isalpha() and base in names else None


def told_of_all(texts: Iterable[str]) -> str:
    """Return what options mean in common, without the names before it.

    >>> told_of_all(["Fog: new dice, free", "In the Fog: new dice, for a fate point"])
    'new dice'
    """
    told = {text.rpartition(": ")[2] for text in texts}
    before = {text.rpartition(", ")[0] for text in told}  # the price
    return (told if len(told) == 1 else before).pop() if len(before) == 1 else ""


def asked_pieces(asked: Question | QuestionRecord) -> list[str | Piece]:
    """Return who is asked what, and what it is about."""
    about = "; ".join(filter(None, (asked.of, asked.words or fact_words(asked.facts))))
    text = f": {asked.text}" if asked.text else ""
    return [Piece(f"{who_is(asked.who)} chooses", "title"), f" ({about})" if about else "", text]


def fact_words(facts: Mapping[str, Any]) -> str:
    """Return what a decision is about, in words: `margin -1, rolled +2`."""
    words = []
    for name, value in facts.items():
        if value is None or isinstance(value, bool) or value == ():
            continue
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        if name == "margin" and isinstance(value, int):
            shown = signed(value)
        words.append(f"{name.replace('_', ' ')} {shown}")
    return ", ".join(words)


def repeat_line(number: int, result: Result | Pending, file: RulesetFile | None) -> Line:
    """Return one run of many as one line."""
    lead = Piece(f"{number:>4}  ", "quiet")
    if isinstance(result, Pending):
        return line(lead, Piece("waiting", "even"), f" for {result.question.label} ({who_is(result.question.who)})")
    faces = [event.faces for event in _rolls(result)]
    dice = [piece for one in faces for piece in (Piece(one, "dice"), Piece(" "))]
    if result.ruleset is None or file is None:
        came = ", ".join(map(str, getattr(result, "each", []))) or f"{result.total:>4}"
        return line(lead, Piece(came, "number"), *_compared_words(result), "  ", *dice)
    name = Piece(f"{band_title(file, result.outcome or ''):<18}", style_of(result.success, result.margin))
    margin = f" {signed(result.margin):>3}" if result.margin is not None and result.opposition is not None else "    "
    return line(lead, name, Piece(margin, "number"), "  ", *(dice or [Piece(", ".join(_cards_seen(result)))]))


def _cards_seen(result: Result) -> Iterator[str]:
    """Yield what was played and drawn, hands that were only dealt left out."""
    for event in result.events:
        if isinstance(event, MoveEvent) and event.label:
            yield f"{event.label} {' '.join(event.cards)}"
        elif isinstance(event, DrawEvent) and event.audience is None:
            yield f"{event.label} {event.card}"
