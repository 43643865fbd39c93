"""What may be typed next in `rpgres play`: names, actions, options and their values, as far as the seat knows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from rpgres.cli.completion import offer_shared
from rpgres.cli.play.seat import CommandSeat
from rpgres.cli.settings import active
from rpgres.engine.labels import labels_of
from rpgres.errors import RpgresError, UsageError
from rpgres.lines.fitting import PREPOSITIONS, Taker, Words, typed_apart
from rpgres.lines.seat import LEAVE, ODDS
from rpgres.lines.usual import cards_seen, usual_values
from rpgres.lines.words import joined, split
from rpgres.text.harmless import in_line, is_line


class Offer(msgspec.Struct, frozen=True):
    """Something that may be typed.

    Attributes:
        text: what is put into the line, in place of the last `length` characters.
        length: see there.
        shown: what is listed.
        help: what it means.
    """

    text: str
    length: int
    shown: str
    help: str = ""


def offers(seat: CommandSeat, line: str) -> list[Offer]:
    """Return what may stand at the end of a line."""
    try:
        words, start = _last_word(line)
        typed = split(line[start:] + ('"' if line[start:].count('"') % 2 else ""))
        partial = typed[0] if typed else ""
        found = dict(_offers(seat, words, partial))
    except RpgresError:
        return []
    return _fitting(found.items(), partial, len(line) - start)


def choice_offers(choices: Iterable[tuple[str, str]], line: str) -> list[Offer]:
    """Return what may be typed as an answer: the choices that begin like the line."""
    return _fitting(choices, line.lstrip(), len(line.lstrip()), is_last=True)


def _fitting(found: Iterable[tuple[str, str]], partial: str, length: int, *, is_last: bool = False) -> list[Offer]:
    made = []
    for value, text in found:
        if value.lower().startswith(partial.lower()) and is_line(value):
            more = "" if is_last or value.endswith(("=", ":")) else " "
            made.append(Offer((value if is_last else joined([value])) + more, length, value, in_line(text)))
    return made


def _last_word(line: str) -> tuple[list[str], int]:
    """Return the words before the last one, which may be unfinished, and where that one begins."""
    for start in range(len(line), -1, -1):
        if start == 0 or line[start - 1].isspace():
            try:
                return split(line[:start]), start
            except UsageError:  # within quotation marks
                continue
    return [], 0


def _offers(seat: CommandSeat, words: Sequence[str], partial: str) -> Iterator[tuple[str, str]]:
    if not words:
        yield from ((name, seat.state.characters[name].title) for name in seat.own())
        yield from seat.actions.items()
        yield from seat.commands().items()
        yield from (("help", "what can be typed; help ACTION explains one"), (LEAVE[0], "leave the table"))
        yield from active().settings.aliases.items()
        return
    if words[0] == "help":
        yield from (*seat.actions.items(), *seat.commands().items()) if len(words) == 1 else ()
        return
    words = seat.unaliased(words)
    first = words[0].rstrip(":")
    if len(words) == 1 and first in seat.own() and first not in seat.actions:
        yield from seat.actions.items()
        return
    how = "act"
    if words[0] == ODDS:
        if len(words) == 1:
            yield from ((*((name, "") for name in seat.own()), *seat.actions.items()))
            return
        words, how = words[1:], ODDS
    actor, (verb, *rest) = seat.named_first(words)
    if verb in seat.actions:
        yield from _of_action(seat, actor, [how, verb, *rest], partial)
    elif verb in seat.commands() and not actor:
        yield from _of_command(seat, verb, rest)
        yield from _of_shell(seat, [verb, *rest], partial)


def _of_command(seat: CommandSeat, command: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    waits = seat.waits
    match command, list(words):
        case "begin", []:
            yield from ((name, "") for name in seat.periods if name not in seat.state.periods)
        case "end", []:
            yield from ((name, "") for name in seat.state.periods)
        case "pass", []:
            labels = {label: kind for action in seat.actions for label, kind in labels_of(seat.rules, action).items()}
            yield from ((label, "") for label, kind in labels.items() if kind == "decision")
        case "answer", ["--choose"] if waits is not None:
            question = waits.question
            yield from ((f"{question.label}={one.name}", one.text) for one in question.options)
        case "undo", []:
            entries = seat.history.standing_from(max(1, len(seat.history.entries) - 12))
            yield from ((str(one.number), one.public.action or one.kind) for one in reversed(entries))
        case "set", []:
            yield from ((f"{path}=", text) for path, text in _paths(seat))


def _paths(seat: CommandSeat) -> Iterator[tuple[str, str]]:
    """Yield the counters that can be set, with what they are now."""
    state = seat.state
    yield from ((f"counters.{name}", str(count)) for name, count in state.counters.items())
    for who in state.characters.values():
        yield from ((f"characters.{who.name}.counters.{name}", str(count)) for name, count in who.counters.items())


def _of_action(seat: CommandSeat, actor: str, typed: Sequence[str], partial: str) -> Iterator[tuple[str, str]]:
    verb, action, *line = typed
    command = seat.command(action, verb)
    takes = command.takes
    who = actor or next(iter(seat.own()), "")
    words = Words(seat.scope(who, takes), action)
    if partial.startswith("-") or (line and takes.get(line[-1], False)):
        option = words.by_name.get(line[-1].lstrip("-")) if line and not partial.startswith("-") else None
        lie = cards_seen(words, [option.parameter.pile]) if option is not None and option.parameter is not None else []
        yield from ((card, "") for card in lie) if lie else _of_shell(seat, typed, partial)
        return
    bare, _ = typed_apart(line, takes)
    last = bare.get(len(line) - 1, "")
    bound = [words.by_name[last]] if last in words.by_name else []
    bound += [words.takers[name] for name in words.introduced_by(last)]
    kinds = PREPOSITIONS.get(last, ())
    bound += [one for one in words.takers.values() if one.parameter is not None and one.parameter.kind in kinds]
    bound = [one for one in bound if one.parameter is None or one.parameter.kind != "flag"]
    if bound:
        for taker in {one.name: one for one in bound}.values():
            yield from _values(seat, words, taker, partial)
        return
    required = [words.takers[name] for name in words.described.required if name in words.takers]
    for taker in (*required, *(one for one in words.takers.values() if one not in required)):
        if taker in required or (taker.parameter is not None and taker.parameter.kind == "choice") or partial:
            yield from _values(seat, words, taker, partial)
    yield from ((name, one.help) for name, one in words.parameters.items())
    yield from ((label, f"answers {label}") for label in labels_of(seat.rules, action) if label not in words.parameters)
    yield from ((word, "") for word in ("vs", "with") if word not in words.parameters)


def _values(seat: CommandSeat, words: Words, taker: Taker, partial: str) -> Iterator[tuple[str, str]]:
    """Yield what a parameter, or the label of a decision, may be given."""
    if taker.parameter is not None:
        yield from usual_values(words, taker, partial)
        return
    for text, meaning in offer_shared(seat.data, words.action, taker.option):
        label, _, value = text.partition("=")
        if label == taker.name and value:
            yield value, meaning
    if taker.option == "choose":
        hands = [name for name, pile in seat.rules.file.piles.items() if pile.each]
        yield from ((card, "") for card in cards_seen(words, hands))


def _of_shell(seat: CommandSeat, words: Sequence[str], partial: str) -> Iterator[tuple[str, str]]:
    """Yield what a shell would be offered at the end of a command of `rpgres table`."""
    from typer._completion_classes import BashComplete

    from rpgres.cli.root import load_command

    where = ["--table", str(seat.path), *(["--as", seat.name] if seat.name else [])]
    split_at = 2 if words[0] in ("act", ODDS) else 1
    line = [*words[:split_at], *where, *words[split_at:]]
    for item in BashComplete(load_command("table"), {}, "rpgres table", "").get_completions(line, partial):
        if not str(item.value).startswith(("--table", "--as", "--help", "--rulesets")):
            yield str(item.value), item.help or ""
