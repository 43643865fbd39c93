"""Questions to a person at a terminal: in one line where that fits, else as a list; and how options are typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rpgres.cli.render.lines import INDENT, Line, Piece, line
from rpgres.cli.render.results import asked_pieces, fact_words
from rpgres.cli.render.words import signed, who_is
from rpgres.engine.players import NO, Question
from rpgres.parameters.context import ACTOR
from rpgres.rulesets import Option

GAP = "  "  # between two options in a line
MARGIN = "margin"  # the fact that says enough of a decision where there is one


def keyed(question: Question) -> dict[str, Option]:
    """Return the options that are put to a person by what is typed for each: numbers, the cheapest option first.

    Another way to choose an option (`OTHER:HOW`) has the number of that one behind its letter.

    >>> list(keyed(Question("invoke", "mara", (Option("fog"), Option("fog:reroll"), Option("crowd")))))
    ['1', 'r1', '2']
    """
    listed = sorted(question.listed, key=lambda option: option.cost)
    names = {option.name for option in listed}
    ways = {option.name: way for option in listed if (way := _way(option.name, names))}
    letters = _letters(way for _, way in ways.values())
    keys = dict[str, Option]()
    for number, option in enumerate((one for one in listed if one.name not in ways), 1):
        keys[str(number)] = option
        for other in listed:
            base, how = ways.get(other.name, ("", ""))
            if base == option.name:
                keys[f"{letters[how]}{number}"] = other
    return keys


def _way(name: str, names: set[str]) -> tuple[str, str] | None:
    """Return which other option an option chooses, and how; None where it stands for itself."""
    base, _, how = name.partition(":")
    return (base, how) if how[:1].isalpha() and base in names else None


def _letters(ways: Iterable[str]) -> dict[str, str]:
    """Return what stands before the number of an option for each way: a letter, or the word where two share one."""
    found = dict.fromkeys(ways)
    first = [way[0].lower() for way in found]
    return {way: way if first.count(way[0].lower()) > 1 else way[0].lower() for way in found}


def question_lines(question: Question, *, width: int = 0) -> list[Line]:
    """Return a question as it is put to a person.

    Args:
        question: the question.
        width: how many columns there are: it stands in one line, or two, where it fits; 0 for a list in any case.
    """
    keys = keyed(question)
    head, entries = line(*_head(question)), list(_entries(question, keys))
    one = head
    for entry in entries:
        one = line(*one, GAP, *entry)
    if _length(one) <= width:
        return [one]
    packed = _packed(entries, width)
    if len(packed) * 2 <= len(entries) + 1 and all(_length(found) <= width for found in (head, *packed)):
        return [head, *packed]
    return list(_list(question, keys))


def _length(pieces: Iterable[str | Piece]) -> int:
    return sum(len(piece if isinstance(piece, str) else piece.text) for piece in pieces)


def _packed(entries: Iterable[Line], width: int) -> list[Line]:
    """Return entries in as few lines as they take."""
    lines = list[Line]()
    for entry in entries:
        longer = line(*lines[-1], GAP, *entry) if lines else ()
        if lines and _length(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(line(INDENT, *entry))
    return lines


def _head(question: Question) -> list[str | Piece]:
    """Return who is asked what, in a few words, and what Enter does."""
    margin = question.facts.get(MARGIN)
    about = question.words or (f"{MARGIN} {signed(margin)}" if isinstance(margin, int) else fact_words(question.facts))
    who = "" if question.who == ACTOR else who_is(question.who)
    told = ", ".join(filter(None, (who, question.of, about)))
    head: list[str | Piece] = [Piece(f"{told}: ", "title") if told else "", question.text or f"{question.label}?"]
    if question.optional:
        passing = question.passing
        head += [" [Enter: ", Piece(passing.name if passing is not None else NO, "name"), "]"]
    return head


def _entries(question: Question, keys: Mapping[str, Option]) -> Iterator[Line]:
    """Yield what stands in a line: an entry for each option, and one for all other ways of a kind."""
    others, names, count = dict[str, list[str]](), {option.name for option in keys.values()}, 0
    for key, option in keys.items():
        way = None if key.isdecimal() else _way(option.name, names)
        if way is not None:
            others.setdefault(way[1], []).append(key)
            continue
        count += 1
        yield line(Piece(key, "name"), f" {option.brief or _in_full(option)}")
    for how, its in others.items():
        typed = f"{its[0]}-{its[-1]}" if len(its) == count > 2 else ", ".join(its)
        yield line(Piece(typed, "name"), f" {how.replace('-', ' ')}")
    if question.form:
        yield line(Piece("or", "name"), f" {question.form}")


def _in_full(option: Option) -> str:
    return f"{option.name}: {option.text}" if option.text else option.name


def _list(question: Question, keys: Mapping[str, Option]) -> Iterator[Line]:
    yield line(*asked_pieces(question))
    for key, option in keys.items():
        text = f": {option.text}" if option.text else ""
        yield line(f"{key:>4}. ", Piece(option.name, "name"), text)
    if question.form:
        yield line("   or  ", Piece(question.form, "name"))
    if question.optional:
        passing = question.passing
        text = f": {passing.text}" if passing is not None and passing.text else ""
        yield line("  Enter: ", Piece(passing.name if passing is not None else "pass", "name"), text)
