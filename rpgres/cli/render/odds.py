"""Odds as lines for people: a table with exact fractions, and bars where there is room for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rpgres.cli.render.lines import INDENT, Line, Piece, line
from rpgres.cli.render.reports import bar
from rpgres.cli.render.words import rolled_words, rung, style_of, title, titles
from rpgres.engine.hidden import Known
from rpgres.odds.dice import DiceOdds
from rpgres.odds.exact import Chance, ChoiceOdds, OddsResult
from rpgres.odds.ladder import LadderOdds
from rpgres.odds.sampling import Estimate, Sample
from rpgres.odds.subjects import Evaluated, value_text
from rpgres.rulesets import RulesetFile

BEST = "best"  # in place of a policy: whoever acts decides as well as can be
LONGEST_FRACTION = 24  # longer ones are for the JSON
AT_LEAST = "at least "
TRACE = 1e-9  # of what is left open: no longer worth a word beside every chance
MOST_ROWS = 400  # of a table of values; the rest is for the JSON


def odds_lines(record: OddsResult, file: RulesetFile, *, bars: int = 0) -> list[Line]:
    """Return an action's odds as lines: the chance of each outcome, then how sure that is.

    Args:
        record: the odds.
        file: the ruleset's data, for its words.
        bars: columns for a bar; 0 for none.
    """
    by = "" if record.by == "outcome" else f" by {record.by}"
    lines = list(_head(record, f"odds{by}"))
    if by:
        lines += _number_lines(record.outcomes, left=record.open, sample=record.sample, bars=bars)
        return [*lines, *_left_open(record.open, record.sample), *note_lines(record.policies, record.note)]
    names = titles(file, record.outcomes)
    width = max(map(len, names.values()), default=0)
    fractions = _fractions(record.outcomes, left=record.open, sample=record.sample)
    is_told = record.method != "sampled" and not any(choice.estimate for choice in record.choices)
    is_told = is_told or record.sample is not None
    for name, chance in record.outcomes.items() if is_told else ():  # estimates of choices say more than what is known
        likely = _likely(name, chance, record.sample)
        shown = f"{_percent(likely, record.sample):>9}  {fractions[name]}"
        name_piece = Piece(f"{names[name]:<{width}}", _style(file, name))
        lines.append(line(INDENT, name_piece, "  ", *bar_pieces(likely, bars), shown))
    if any(choice.estimate for choice in record.choices):
        lines.append(line(INDENT, "the budget was too small to find the best first choice; known so far:"))
    else:
        lines += _left_open(record.open, record.sample)
    lines += _success_lines(record, file) if is_told else ()
    lines += _choice_lines(record, file, bars)
    if record.passed:
        said = f"skipped for lack of a policy: {', '.join(record.passed)} (use --auto for a policy)"
        lines.append(line(INDENT, Piece(said, "quiet")))
    return [*lines, *note_lines(record.policies, record.note)]


def dice_odds_lines(record: DiceOdds, *, bars: int = 0) -> list[Line]:
    """Return the odds of dice as lines: the chance of each value, and of as much or more, or that of success."""
    moments = f"mean {record.mean:.3f}, deviation {record.deviation:.3f}"
    is_compared = record.by == "outcome" and "vs" in record.inputs
    about = f" ({moments}{' of the total' if is_compared else ''})"
    lines = [
        line(Piece(heading(record, what=f"odds by {record.by}" if record.by != "outcome" else "odds"), "title"), about)
    ]
    if is_compared:
        fractions = _fractions(record.outcomes, left=record.open, sample=None)
        for name, chance in record.outcomes.items():
            shown = f"{_percent(chance.probability, None):>9}  {fractions[name]}"
            piece = Piece(f"{title(name):<7}", style_of(name == "success", None))
            lines.append(line(INDENT, piece, "  ", *bar_pieces(chance.probability, bars), shown))
    else:
        lines += _number_lines(record.outcomes, left=record.open, sample=None, bars=bars)
    if record.parts and record.by == "outcome":
        means = ", ".join(f"{name} {_decimal(mean)}" for name, mean in record.parts.items())
        lines.append(line(INDENT, f"mean of each part: {means}; --by {next(iter(record.parts))} evaluates one"))
    return [*lines, *_left_open(record.open), *note_lines({}, record.note)]


def _decimal(fraction: str) -> str:
    above, _, below = fraction.partition("/")
    return f"{int(above) / int(below or 1):.3f}"


def _number_lines(outcomes: Mapping[str, Chance], *, left: Chance, sample: Sample | None, bars: int) -> Iterator[Line]:
    """Yield the chance of each number, in ascending order, and of as much or more."""
    rows = {value: _likely(value, chance, sample) for value, chance in outcomes.items()}
    at_least = _at_least(rows)
    most = max(rows.values(), default=1.0) or 1.0
    width = max(map(len, rows), default=1)
    shown_ones = list(rows)[:MOST_ROWS]
    fractions = _fractions({value: outcomes[value] for value in shown_ones}, left=left, sample=sample)
    wide = max(map(len, fractions.values()), default=0)
    for value in shown_ones:
        bar = bar_pieces(rows[value] / most, bars)
        shown = f"{_percent(rows[value], sample):>9}  {fractions[value]:<{wide}}"
        or_more = Piece(f"  {_percent(at_least[value], sample):>9} or more", "quiet")
        yield line(INDENT, f"{value:>{width}}  ", *bar, shown, or_more)
    if len(rows) > MOST_ROWS:
        yield line(INDENT, f"... and {len(rows) - MOST_ROWS} more values; --json lists all")


def ladder_lines(ladder: LadderOdds, file: RulesetFile) -> list[Line]:
    """Return the odds at every rung as a table, with the ruleset's advice on difficulty under it."""
    bands = list(dict.fromkeys(name for one in ladder.ladder for name in one.outcomes))
    heads = list(titles(file, bands).values())
    widths = [max(9, len(head)) for head in heads]
    names = [rung(one.value, file.ladder) for one in ladder.ladder]
    first = max(map(len, ("against", *names)))
    lines = list(_head(ladder, "odds at every rung"))
    columns = [f"  {head:>{width}}" for head, width in zip(heads, widths, strict=True)]
    lines.append(line(INDENT, Piece(f"{'against':<{first}}{''.join(columns)}", "quiet")))
    for name, one in zip(names, ladder.ladder, strict=True):
        cells = []
        for band, width in zip(bands, widths, strict=True):
            chance = one.outcomes.get(band)
            text = _percent(_likely(band, chance, one.sample), one.sample) if chance is not None else ""
            cells.append(Piece(f"  {text:>{width}}", _style(file, band) if chance is not None else ""))
        lines.append(line(INDENT, f"{name:<{first}}", *cells))
        lines += _left_open(one.open, one.sample)
    lines += [line(INDENT, text) for text in ladder.advice]
    return [*lines, *note_lines(ladder.policies, ladder.note)]


def _head(record: OddsResult | LadderOdds, what: str) -> Iterator[Line]:
    """Yield the heading, with the house rules in force under it."""
    yield line(Piece(heading(record, what=what), "title"))
    yield from (line(INDENT, Piece(text, "quiet")) for text in above(record))


def heading(record: Any, *, what: str = "odds", without: Sequence[str] = ()) -> str:
    """Return what was evaluated, in a line: the action or scene, the ruleset, and its inputs.

    Args:
        record: the odds.
        what: what they are, such as `odds compared`.
        without: inputs that vary.
    """
    scene, action = getattr(record, "scene", None), getattr(record, "action", None)
    name = getattr(record, "title", "") or scene or (title(action) if action else "")
    if not name:
        each = " of each" if "times" in record.inputs else ""
        return f"{rolled_words(record.inputs)}: {what}{each}"
    if isinstance(record, Evaluated) and record.by not in ("outcome", "ending"):
        what = f"{what} by {record.by}"
    inputs = input_words({key: value for key, value in record.inputs.items() if key not in without})
    return f"{name}: {what} ({'; '.join(filter(None, (record.ruleset, inputs)))})"


def input_words(inputs: Mapping[str, Any]) -> str:
    """Return inputs in words: `skill 3, vs 2`."""
    words = [name.replace("-", " ") if value is True else f"{name} {_value(value)}" for name, value in inputs.items()]
    return ", ".join(words)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(_value, value))
    if isinstance(value, Mapping):
        return ":".join(str(part) for part in value.values())
    return value_text(value)


def above(record: Any) -> list[str]:
    """Return the lines under a heading: whose knowledge of a table counts, and the house rules in force."""
    known = getattr(record, "known", None)
    lines = [_known_words(known)] if known is not None else []
    return [*lines, *([f"house rules: {', '.join(record.house_rules)}"] if record.house_rules else [])]


def _known_words(known: Known) -> str:
    piles = ", ".join(f"{name} ({count})" for name, count in known.averaged.items())
    unseen = f"; every hand possible in {piles}" if piles else ""
    return f"the table as {known.seat or 'the host'} knows it{unseen}"


def percent(probability: float) -> str:
    """Return a probability as a percentage; what is possible is never shown as 0, nor as certain.

    >>> percent(0.25), percent(1e-9), percent(1.0), percent(0.99999999)
    ('25.00 %', '< 0.01 %', '100.00 %', '> 99.99 %')
    """
    if 0 < probability < 0.0001:
        return "< 0.01 %"
    if 0.9999 < probability < 1:
        return "> 99.99 %"
    return f"{100 * probability:.2f} %"


def _likely(name: str, chance: Chance, sample: Sample | None) -> float:
    """Return how likely something is: as estimated, where not all is known."""
    return chance.probability if sample is None else sample.outcomes[name].share


def _percent(probability: float, sample: Sample | None) -> str:
    return f"~{percent(probability)}" if sample is not None else percent(probability)


def _within(found: Estimate) -> str:
    return f"({percent(found.low)} to {percent(found.high)})"


def _fractions(outcomes: Mapping[str, Chance], *, left: Chance, sample: Sample | None) -> dict[str, str]:
    """Return what is known of each chance beside the percentage: the fraction, or the interval of an estimate."""
    if sample is not None:
        return {name: _within(sample.outcomes[name]) for name in outcomes}
    return {name: fraction_text(one, left=left) for name, one in outcomes.items()}


def fraction_text(chance: Chance, *, left: Chance) -> str:
    """Return an exact chance as shown: nothing in place of one that would fill the line.

    With something left open, it is the least that it can be, and said to be.
    """
    is_short = len(chance.exact) <= LONGEST_FRACTION
    if _is_open(left) and (is_short or left.probability > TRACE):
        return f"{AT_LEAST}{chance.exact}" if is_short else "at least"
    return chance.exact if is_short else ""


def _is_open(left: Chance) -> bool:
    return left.exact != "0"


def _at_least(outcomes: Mapping[str, float]) -> dict[str, float]:
    """Return the chance of each value or more, for values that ascend."""
    found: dict[str, float] = {}
    above = 0.0
    for value, chance in reversed(list(outcomes.items())):
        above += chance
        found[value] = min(1.0, round(above, 12))
    return found


def bar_pieces(share: float, columns: int) -> list[Piece]:
    if not columns:
        return []
    return [Piece(f"{bar(share, columns):<{columns}}", "name"), Piece("  ")]


def _choice_lines(record: OddsResult, file: RulesetFile, bars: int) -> Iterator[Line]:
    """Yield the chance of success of each first choice, the best first; of each outcome where several are successes."""
    if len(record.choices) < 2:  # one is what stands above
        return
    if sum(bool(file.bands[name].success) for name in record.outcomes if name in file.bands) > 1:
        yield from _choice_table(record, file)
        return
    yield line(INDENT, f"success by first choice ({record.choices[0].label}), {_after(record)}:")
    width = max(len(choice.option) for choice in record.choices)
    for choice in record.choices:
        _, success, left = _shares(choice)
        exact = "" if success.startswith("~") else f"  {fraction_text(choice.success, left=choice.open)}"
        shown = f"{success:>9}{exact}"
        name = Piece(f"{choice.option:<{width}}", "name")
        yield line(INDENT * 2, name, "  ", *bar_pieces(choice.success.probability, bars), shown, left)
    yield from _estimated(record)


def _choice_table(record: OddsResult, file: RulesetFile) -> Iterator[Line]:
    """Yield the chance of each outcome for each first choice, the best first."""
    yield line(INDENT, f"by first choice ({record.choices[0].label}), {_after(record)}:")
    heads = titles(file, record.outcomes)
    width = max(map(len, (*(choice.option for choice in record.choices), "")))
    columns = [f"  {head:>{max(9, len(head))}}" for head in heads.values()]
    yield line(INDENT * 2, Piece(f"{'':<{width}}{''.join(columns)}  {'success':>9}", "quiet"))
    for choice in record.choices:
        cells: list[str | Piece] = [Piece(f"{choice.option:<{width}}", "name")]
        shares, success, left = _shares(choice)
        for name, head in heads.items():
            cells.append(Piece(f"  {shares.get(name, percent(0)):>{max(9, len(head))}}", _style(file, name)))
        yield line(INDENT * 2, *cells, f"  {success:>9}", left)
    yield from _estimated(record)


def _after(record: OddsResult) -> str:
    """Return who decides after the first choice, in words."""
    return "optimal decisions afterwards" if record.weighed == "best" else "policies decide afterwards"


def _shares(choice: ChoiceOdds) -> tuple[dict[str, str], str, str]:
    """Return how likely each outcome of a choice is, and success, and how sure that is: estimated if that says more."""
    success = choice.estimate
    if choice.sample is None or success is None:
        left = f"  (remaining: {percent(choice.open.probability)})" if _is_open(choice.open) else ""
        shares = {name: percent(chance.probability) for name, chance in choice.outcomes.items()}
        return shares, percent(choice.success.probability), left
    shares = {name: f"~{percent(one.share)}" for name, one in choice.sample.outcomes.items()}
    return shares, f"~{percent(success.share)}", f"  {_within(success)}"


def _estimated(record: OddsResult) -> Iterator[Line]:
    """Yield what the estimates among first choices are from."""
    runs = [choice.sample.runs for choice in record.choices if choice.estimate and choice.sample is not None]
    if runs:
        least = f"{min(runs)} games or more" if min(runs) < max(runs) else f"{runs[0]} games"
        yield line(INDENT * 2, Piece(f"~ estimated from {least} in which policies decide (95 %)", "quiet"))


def _success_lines(record: OddsResult, file: RulesetFile) -> Iterator[Line]:
    """Yield the chance of success as a whole, when several outcomes mean it."""
    good = [name for name in record.outcomes if name in file.bands and file.bands[name].success]
    if len(good) < 2:
        return
    if record.sample is not None and record.sample.success is not None:
        shown = f"~{percent(record.sample.success.share)}  {_within(record.sample.success)}"
    else:
        from fractions import Fraction

        both = sum((Fraction(record.outcomes[name].exact) for name in good), Fraction(0))
        whole = Chance(exact=str(both), probability=float(both))
        shown = f"{percent(whole.probability)}  {fraction_text(whole, left=record.open)}"
    yield line(INDENT, f"any success: {shown}".rstrip())


def _left_open(chance: Chance, sample: Sample | None = None) -> Iterator[Line]:
    """Yield how likely it is to come to where nothing more was followed, and what is known of that."""
    if _is_open(chance):
        known = f"estimated from {sample.runs} games, 95 %" if sample is not None else "otherwise"
        yield line(INDENT, f"remaining: {percent(chance.probability)} ({known})")


def _style(file: RulesetFile, band: str) -> str:
    known = file.bands.get(band)
    return style_of(known.success, 0) if known is not None else ""


def note_lines(policies: Mapping[str, str], note: str | None) -> Iterator[Line]:
    for text in notes_text(policies, None):
        yield line(INDENT, Piece(text, "quiet"))
    if note:
        yield line(INDENT, "note: ", note)


def notes_text(policies: Mapping[str, str], note: str | None) -> Iterator[str]:
    """Yield who decided, and the note, as texts."""
    everybody = "everybody else" if BEST in policies.values() else "everybody"
    for who, name in policies.items():
        how = "optimal" if name == BEST else f"policy {name}"
        yield f"decisions of {everybody if who == '*' else who}: {how}"
    if note:
        yield f"note: {note}"
