"""Questions to a person at a terminal: in one line where that fits, else as a list; and how options are typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING

from rpgres.engine.events import Decided, Turned
from rpgres.engine.players import NO, Question
from rpgres.model.state import slug
from rpgres.parameters.context import ACTOR
from rpgres.render.lines import INDENT, Line, Piece, line
from rpgres.render.results import MANY, asked_pieces, fact_words, told_of_all, way_of
from rpgres.render.words import band_title, percent, signed, who_is
from rpgres.rulesets import Option, RulesetFile

if TYPE_CHECKING:
    from rpgres.engine.players import View
    from rpgres.engine.prepare import Prepared
    from rpgres.odds.decision import OptionOdds

WIDTH = 80  # columns of odds
SHORT = 5  # letters of a name that is shown rather than a number, such as that of a card
GAP = "  "  # between two options in a line
ENTER = "Enter"  # the key that skips an optional question
LIST = "?"  # shows all options with what they mean
MOST_OF_OTHERS = 2  # options of another that are named in a question of several lines
UNCLEAR = "unclear: too slow to play out here ({} games in the time there was), and an estimate would mislead"
STOPPED = "interrupted: what is unclear has too few games ({} so far) for an estimate"
MARGIN = "margin"  # the fact that says enough of a decision where there is one


def keyed(question: Question) -> dict[str, Option]:
    """Return the options that are put to a person by what is typed for each: numbers, the cheapest option first.

    Then come those of the asked character, those of no character, and those of others. Another way to choose an option
    (`OTHER:HOW`) has the number of that one behind its letter.

    >>> list(keyed(Question("invoke", "mara", (Option("fog"), Option("fog:reroll"), Option("crowd")))))
    ['1', 'r1', '2']
    """
    listed = sorted(question.listed, key=lambda option: (option.cost, *_nearness(option, question)))
    names = {option.name for option in listed}
    ways = {option.name: way for option in listed if (way := way_of(option.name, names))}
    letters = _letters(way for _, way in ways.values())
    keys = dict[str, Option]()
    for number, option in enumerate((one for one in listed if one.name not in ways), 1):
        keys[str(number)] = option
        for other in listed:
            base, how = ways.get(other.name, ("", ""))
            if base == option.name:
                keys[f"{letters[how]}{number}"] = other
    return keys


def _nearness(option: Option, question: Question) -> tuple[bool, bool, str]:
    is_another = option.of not in ("", question.who, ACTOR)
    return is_another, not option.of, option.of if is_another else ""


def _letters(ways: Iterable[str]) -> dict[str, str]:
    """Return what stands before the number of an option for each way: a letter, or the word where two share one."""
    found = dict.fromkeys(ways)
    first = [way[0].lower() for way in found]
    return {way: way if first.count(way[0].lower()) > 1 else way[0].lower() for way in found}


def skips_with(question: Question) -> str:
    """Return the answer that skips an optional question."""
    return question.passing.name if question.passing is not None else NO


def question_lines(question: Question, *, width: int = 0, is_again: bool = False, has_enter: bool = True) -> list[Line]:
    """Return a question as it is put to a person.

    Args:
        width: how many columns there are: it stands in one line, or in half the lines of a list, where it fits; 0
            for a list in any case.
        is_again: whether the options were shown before, so that they are not listed again where they take lines.
        has_enter: whether an empty line answers, as at a terminal; in a list.
    """
    if question.is_naming:  # nothing is listed before what is typed
        return [line(*_head(question), f" Type {question.form}.")]
    keys = keyed(question)
    prices = [option.price for option in keys.values() if option.cost]
    price = prices[0] if len(prices) >= MANY and len(set(prices)) == 1 else ""  # the same for many is written once
    head, groups = line(*_head(question, price)), _groups(question, keys, price)
    entries = [entry for _, group in groups for entry in group]
    one = head
    for entry in entries:
        one = line(*one, GAP, *entry)
    if _length(one) <= width and not any(owner for owner, _ in groups):
        return [one]
    if is_again:
        return [line(*_head(question), GAP, Piece(LIST, "name"), "\N{NO-BREAK SPACE}options")]
    packed = [row for group in _rows(groups, is_short=width > 0) for row in _packed(group, width)]
    are_short = _length(head) <= width and all(_length(entry) <= width for entry in entries)
    are_brief = all(option.brief or not option.text for option in keys.values())
    if width and len(packed) * 2 <= len(keys) + 1 and (are_short or are_brief):
        return [head, *packed]
    return list(_list(question, keys, has_enter=has_enter))


def _rows(groups: Sequence[tuple[str, list[Line]]], *, is_short: bool) -> Iterator[list[Line]]:
    """Yield the entries line by line: one's own, then others'; numbers alone where one character has many, if short."""
    rest = list[Line]()
    for owner, group in groups:
        is_named = not (owner and is_short) or len(group) <= MOST_OF_OTHERS
        entries = group if is_named else [line(group[0][0], " to ", group[-1][0], f" ({LIST} lists them)")]
        if owner or rest:
            rest += _headed(owner, entries)
        else:
            yield entries
    if rest:
        yield rest


def _headed(owner: str, entries: Sequence[Line]) -> Iterator[Line]:
    """Yield the entries of a group, the first one behind whose they are."""
    for number, entry in enumerate(entries):
        yield line(Piece(f"{who_is(owner)}: ", "quiet"), *entry) if owner and not number else entry


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


def _head(question: Question, price: str = "") -> list[str | Piece]:
    """Return who is asked what, in a few words, what Enter does, and what most options cost."""
    margin = question.facts.get(MARGIN)
    about = question.words or (f"{MARGIN} {signed(margin)}" if isinstance(margin, int) else fact_words(question.facts))
    who = "" if question.who == ACTOR else who_is(question.who)
    told = ", ".join(filter(None, (who, question.of, about)))
    head: list[str | Piece] = [Piece(f"{told}: ", "title") if told else "", question.text or f"{question.label}?"]
    if question.optional and not question.is_naming:
        head += [" [Enter: ", Piece(skips_with(question), "name"), "]"]
    return [*head, Piece(f" ({price} each)", "quiet")] if price else head


def _groups(question: Question, keys: Mapping[str, Option], price: str) -> list[tuple[str, list[Line]]]:
    """Return what stands in a line by whose it is, those of others alone: an entry for each option; one for a way."""
    groups, others = dict[str, list[Line]]({"": []}), _other_ways(keys)
    for key, option in keys.items():
        if any(key in its for its in others.values()):
            continue
        told = option.price if option.price != price else ""
        text = option.brief or (f"{option.name}: {option.text}" if option.text else option.name)
        entry = line(Piece(key, "name"), f" {text}{f' ({told})' if told else ''}")
        is_own = not option.cost or not _nearness(option, question)[0]
        groups.setdefault("" if is_own else option.of, []).append(entry)
    count = len(keys) - sum(map(len, others.values()))
    more = [line(Piece(_span(its, count), "name"), f" {how.replace('-', ' ')}") for how, its in others.items()]
    more += [line(Piece("or", "name"), f" {question.form}")] if question.form else []
    if len(groups) == 1:
        return [("", [*groups[""], *more])]
    return [(owner, group) for owner, group in [*groups.items(), ("", more)] if group]


def _other_ways(keys: Mapping[str, Option]) -> dict[str, list[str]]:
    """Return what is typed to choose other options in another way, by that way."""
    found, names = dict[str, list[str]](), {option.name for option in keys.values()}
    for key, option in keys.items():
        way = None if key.isdecimal() else way_of(option.name, names)
        if way is not None:
            found.setdefault(way[1], []).append(key)
    return found


def _span(keys: Sequence[str], count: int) -> str:
    """Return what is typed for several options; where it is all there are, those in between are left out."""
    return f"{keys[0]} to {keys[-1]}" if len(keys) == count > 2 else ", ".join(keys)


def _list(question: Question, keys: Mapping[str, Option], *, has_enter: bool) -> Iterator[Line]:
    yield line(*asked_pieces(question))
    others = {how: its for how, its in _other_ways(keys).items() if len(its) >= MANY}
    for key, option in keys.items():
        if not any(key in its for its in others.values()):
            name = option.brief if slug(option.brief) == option.name else option.name
            text = f": {option.text.removeprefix(f'{option.brief}: ')}" if option.text else ""
            yield line(f"{key:>4}. ", Piece(name, "name"), text)
    for how, its in others.items():
        text = told_of_all(keys[key].text for key in its)
        yield line(f"{INDENT}{its[0]} to {its[-1]}. ", Piece(how, "name"), f": {text}" if text else "")
    if question.form:
        yield line("   or  ", Piece(question.form, "name"))
    if question.optional:
        passing = question.passing
        text = f": {passing.text}" if passing is not None and passing.text else ""
        yield line("  Enter: " if has_enter else "   or  ", Piece(skips_with(question), "name"), text)


# ---------------------------------------------------------------------------------------------------------------------
# The odds of the options


def success_words(prepared: Prepared, view: View, question: Question, *, is_turn: bool) -> str:
    """Return whose success at what the odds of options are of.

    Args:
        view: what happened in it, as the asked seat knows it.
        is_turn: whether it is that of the turn of a procedure.
    """
    actions = prepared.rules.file.actions
    if not is_turn:
        whose = f"{who_is(prepared.actor)}'s " if prepared.actor != ACTOR else ""
        return f"chance that {whose}{prepared.action.replace('-', ' ')} succeeds"
    happened = [*view.forgotten, *view.events]
    ends = [place for place, event in enumerate(happened, 1) if isinstance(event, Turned)]
    for event in happened[ends[-1] if ends else 0 :]:
        if isinstance(event, Decided) and event.answer in actions:
            return f"chance that {who_is(event.who)}'s {event.answer.replace('-', ' ')} in this turn succeeds"
    if not question.optional and any(option.name in actions for option in question.offered):
        return f"chance that what {who_is(question.who)} does in this turn succeeds"
    return "chance that this turn's action succeeds"


def odds_lines(
    question: Question,
    found: Sequence[OptionOdds],
    file: RulesetFile,
    *,
    policy: str,
    chance: str = "chance of success",
    is_interrupted: bool = False,
    has_enter: bool = True,
) -> list[Line]:
    """Return the chance of success by each option, equal ones together, and who decides after it.

    Args:
        found: the odds of its options; none where they are all the same by now.
        is_interrupted: whether somebody stopped the work: nothing is concluded from what is lacking.
        has_enter: whether an empty line skips the question, as at a terminal.
    """
    if not found and is_interrupted:
        return [line(INDENT, "interrupted: nothing is known yet")]
    if not found:
        return [line(INDENT, "The outcome is fixed by now; this decides the rest.")]
    certain = {name for one in found for name, share in one.outcomes.items() if share}
    if len(certain) == 1 and all(one.outcomes and one.estimate is None for one in found):
        name = band_title(file, *certain)
        return [line(INDENT, f"With every option the outcome is {name}; this decides the rest.")]
    keys = {option.name: key for key, option in keyed(question).items()}
    order = [*keys]
    groups: dict[str, list[OptionOdds]] = {}  # of the same odds
    for one in sorted(found, key=lambda one: order.index(one.option) if one.option in keys else len(order)):
        groups.setdefault(f"{one.outcomes} {one.estimate is None}" if one.is_known else "", []).append(one)
    unclear = groups.pop("", [])
    ranked = sorted(groups.values(), key=lambda alike: -alike[0].success)
    ranked += [unclear] if unclear else []
    skip = ENTER if has_enter else skips_with(question)
    entries = [line(Piece(_typed(one, keys, skip), "name"), f" {_chance(one[0], file, found)}") for one in ranked]
    games = [one.games for one in found if one.games and one.is_known]
    notes = []
    if groups:
        told = f"estimates from {min(games)} games or more, with 95 % intervals" if games else "exact"
        notes.append(f"{chance}, {told}, if the policy {policy!r} decides what follows")
    if unclear:
        notes.append((STOPPED if is_interrupted else UNCLEAR).format(max(one.games for one in unclear)))
    elif is_interrupted and games:
        notes.append("interrupted: the estimates are from the games so far")
    return [*_packed(entries, WIDTH), *(line(INDENT, Piece(note, "quiet")) for note in notes)]


def _typed(alike: Sequence[OptionOdds], keys: Mapping[str, str], skip: str) -> str:
    """Return what is typed for options with the same odds: one by its name, several by their numbers."""
    typed = [keys.get(one.option, skip) for one in alike]
    names = [key if key == skip or ":" in one.option else one.option for key, one in zip(typed, alike, strict=True)]
    if len(names) == 1 or (names != typed and max(map(len, names)) <= SHORT):
        return ", ".join(names)
    numbers = [key for key in typed if key.isdecimal()]
    runs = [key for key in typed if key not in numbers and key != skip]
    spans = [f"{part[0]} to {part[-1]}" if len(part) > 2 else ", ".join(part) for part in (numbers, runs) if part]
    is_gapless = not numbers or int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1
    shown = spans if is_gapless else [", ".join(numbers), *spans[1:]]
    return ", ".join([*shown, *([skip] if skip in typed else [])])


def _chance(one: OptionOdds, file: RulesetFile, found: Sequence[OptionOdds]) -> str:
    """Return the chance of success; of each outcome, where success is not what options differ in."""
    if not one.is_known:
        return "unclear"
    if not one.outcomes:
        return "nothing to succeed in"
    if one.estimate is not None:
        low, high = floor(100 * one.estimate.low), ceil(100 * one.estimate.high)
        return f"about {100 * one.success:.0f} % ({low} to {high} %)"
    twins = [other for other in found if other.success == one.success and other.outcomes != one.outcomes]
    if not twins and any(other.success != one.success for other in found):
        return _percent(one.success)
    shares = ", ".join(f"{band_title(file, name)} {_percent(share)}" for name, share in one.outcomes.items() if share)
    return f"{_percent(one.success)} ({shares})" if any(other.success for other in found) else shares


def _percent(share: float) -> str:
    return percent(share).replace(".00 %", " %")
