"""Odds of scenes as lines for people: how a scene ends, and how sure that is. Values to text; nothing prints."""

from __future__ import annotations

from collections.abc import Iterator

from rpgres.cli.render.lines import INDENT, Line, Piece, line
from rpgres.cli.render.odds import above, bar_pieces, heading, note_lines, percent
from rpgres.cli.render.words import outcome_titles, style_of
from rpgres.odds.exact import Chance
from rpgres.odds.sampling import Sample, estimate
from rpgres.odds.scenes import SceneOddsResult
from rpgres.rulesets import RulesetFile

NEVER = Chance(0.0, "0")  # of what only estimates know
MOST_ROWS = 60  # of a table of values; the rest is for the JSON


def scene_odds_lines(record: SceneOddsResult, file: RulesetFile, *, bars: int = 0) -> list[Line]:
    """Return a scene's odds as lines.

    Args:
        record: the odds.
        file: the ruleset's data, for its words.
        bars: columns for a bar; 0 for none.
    """
    by = "" if record.by == "ending" else f" by {record.by}"
    lines = [line(Piece(heading(record, what=f"odds{by}"), "title"))]
    lines += [line(INDENT, Piece(text, "quiet")) for text in above(record)]
    sample = getattr(record, "sample", None)
    known_by_sample = sample.outcomes if sample is not None else ()
    outcomes = {**dict.fromkeys(known_by_sample, NEVER), **record.outcomes}
    shown = list(outcomes)[:MOST_ROWS]
    names = outcome_titles(file, shown)
    width = max(map(len, names.values()), default=0)
    for name in shown:
        chance, likely = outcomes[name], likely_text(sample, name)
        style = style_of(file.bands[name].success, 0) if name in file.bands else ""
        fraction = chance.exact if len(chance.exact) <= 24 else ""
        bar = bar_pieces(chance.probability, bars)
        lines.append(
            line(
                INDENT,
                Piece(f"{names[name]:<{width}}", style),
                "  ",
                *bar,
                f"{percent(chance.probability):>9}",
                f"  {fraction}" if fraction else "",
                f"  {likely}" if likely else "",
            )
        )
    if len(outcomes) > len(shown):
        lines.append(line(INDENT, f"and {len(outcomes) - len(shown):,} more: --json has them"))
    lines += _notes(record)
    if sample is not None:
        lines.append(
            line(INDENT, f"~ are estimates, with 95 % intervals, from {sample.runs:,} plays of the whole scene")
        )
    return lines


def sample_text(sample: Sample) -> str:
    """Return where estimates come from."""
    return f"~ are estimates, with 95 % intervals, from {sample.runs:,} plays of the whole scene"


def likely_text(sample: Sample | None, name: str) -> str:
    """Return the estimate of a chance, where there are any."""
    if sample is None:
        return ""
    found = sample.outcomes.get(name) or estimate(0, sample.runs)
    return f"~{percent(found.share)} ({percent(found.low)} to {percent(found.high)})"


def _notes(record: SceneOddsResult) -> Iterator[Line]:
    if record.mean is not None:
        yield line(INDENT, f"mean: {record.mean.probability:.3f}")
    if record.open.exact != "0":
        yield line(INDENT, f"open: {percent(record.open.probability)}; each chance may be higher by so much")
        yield line(INDENT, Piece("--seconds N follows more of it, --simulate N adds estimates", "quiet"))
    yield line(INDENT, Piece(f"{record.turns:,} turns, {record.states:,} states, {record.leaves:,} courses", "quiet"))
    yield from note_lines(record.policies, record.note)
