"""The timeline as a picture: a row of phases, and each stack as far as the reader knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rpgres import Ruleset, State
from rpgres_nodice.points import Holding, holding_of
from rpgres_nodice.timeline import RESOLVED, THING, UP, Timeline, Token, timeline_of

HANDS, SEEN = "hand-", "seen-"
MOST_PHASES = 24  # of a row; further ones are only listed in words
LEGEND = "[n] face down  <n> known in part  (n) known  =n= resolved  xn removed or stopped  ^ the current phase"


def register(ruleset: Ruleset) -> None:
    """Register the picture with a ruleset."""
    ruleset.picture(picture)


def picture(state: State, is_drawn: bool) -> Mapping[str, Sequence[str]]:
    """Return the timeline, the own hands and what was seen of others' stacks as lines.

    Args:
        state: the table as the reader may see it.
        is_drawn: whether there is a terminal to draw on.
    """
    hands = [name.removeprefix(HANDS) for name in state.things if name.startswith(HANDS)]
    own = {f"{HANDS}{name}": holding_of(state, name) for name in hands if name in state.characters}
    lines: dict[str, Sequence[str]] = {}
    if THING in state.things:
        line = timeline_of(state)
        drawn = [*_rows(state, line, own), LEGEND] if is_drawn and line.tokens else []
        lines[THING] = [f"Timeline: phase {line.phase}", *drawn, *_told(state, line, own)]
    for name, holding in own.items():
        lines[name] = [_hand(state, name.removeprefix(HANDS), holding)]
    for name in state.things:
        if name.startswith(SEEN):
            lines[name] = ()  # shown with the stacks
    return lines


# ---------------------------------------------------------------------------------------------------------------------
# What is known of a stack


def _cards(state: State, token: Token, own: Mapping[str, Holding]) -> tuple[tuple[str, ...], bool]:
    """Return the cards that the reader knows of a stack face down, and whether these are all."""
    holding = own.get(f"{HANDS}{token.by}")
    if holding is not None and token.name in holding.stacks:
        return holding.stacks[token.name].cards, True
    best: tuple[tuple[str, ...], bool] = ((), False)
    for name, seen in state.things.items():
        if name.startswith(SEEN) and token.name in seen:
            cards: tuple[str, ...] = seen[token.name]["cards"]
            if len(cards) > len(best[0]):
                best = cards, bool(seen[token.name]["is_whole"])
    return best


def _told(state: State, line: Timeline, own: Mapping[str, Holding]) -> Iterator[str]:
    """Yield each stack in a sentence: those ahead, the reactions, then what is over."""
    ahead = sorted((token for token in line.live() if token.phase is not None), key=lambda token: token.phase or 0)
    for token in (*ahead, *(token for token in line.live() if token.phase is None)):
        yield f"  {token.name} {_where(token)}: {_known(state, token, own)}"
    for token in line.tokens:
        if not token.is_live:
            plan = f": {token.plan}" if token.plan else ""
            yield f"  {token.name} {_where(token)}, {token.state}{plan}"


def _where(token: Token) -> str:
    return "as a reaction" if token.phase is None else f"on phase {token.phase}"


def _known(state: State, token: Token, own: Mapping[str, Holding]) -> str:
    if token.state == UP:
        return f"face up: {token.plan}"
    cards, is_whole = _cards(state, token, own)
    if not cards:
        return "face down"
    holding = own.get(f"{HANDS}{token.by}")
    shown = dict(holding.stacks[token.name].shown) if holding is not None and token.name in holding.stacks else {}
    seen = "".join(f"; {who} has seen {count}" for who, count in shown.items())
    return f"{' | '.join(cards)}{'' if is_whole else ' | ...'}{seen}"


def _hand(state: State, name: str, holding: Holding) -> str:
    """Return what an actor holds, in a line; stats in the order of the sheet."""
    order = list(state.characters[name].abilities) if name in state.characters else []
    parts = (("", holding.hand), ("spent", holding.spent), ("apart", holding.apart), ("lost", holding.lost))
    told = [f"{place} {_points(points, order)}".strip() for place, points in parts if points or not place]
    return f"Hand of {name}: {'; '.join(told)}"


def _points(points: Mapping[str, int], order: list[str]) -> str:
    stats = sorted(points, key=lambda stat: order.index(stat) if stat in order else len(order))
    return ", ".join(f"{stat} {points[stat]}" for stat in stats) or "empty"


# ---------------------------------------------------------------------------------------------------------------------
# The row of phases


def _rows(state: State, line: Timeline, own: Mapping[str, Holding]) -> Iterator[str]:
    """Yield a row of phases, the marker, and a row for each actor with stacks."""
    last = max([line.phase, *(token.phase for token in line.tokens if token.phase is not None)])
    start = max(0, line.phase - 2) if last >= MOST_PHASES else 0
    phases = range(start, min(last, start + MOST_PHASES - 1) + 1)
    names = list(dict.fromkeys(token.by for token in line.tokens))
    cells = {
        name: {phase: "".join(_mark(state, token, own) for token in _on(line, name, phase)) for phase in phases}
        for name in names
    }
    reactions = {name: "".join(_mark(state, token, own) for token in _on(line, name, None)) for name in names}
    wide = max(4, *(1 + len(cell) for row in cells.values() for cell in row.values()))
    first = max(len(name) for name in (*names, "phase"))
    yield f"  {'phase':<{first}} {''.join(f'{phase:^{wide}}' for phase in phases)}".rstrip()
    marks = "".join(f"{'^' if phase == line.phase else '.':^{wide}}" for phase in phases)
    yield f"  {'':<{first}} {marks}".rstrip()
    for name in names:
        row = "".join(f"{cells[name][phase]:^{wide}}" for phase in phases)
        yield f"  {name:<{first}} {row} {reactions[name]}".rstrip()


def _on(line: Timeline, name: str, phase: int | None) -> list[Token]:
    return [token for token in line.tokens if token.by == name and token.phase == phase]


def _mark(state: State, token: Token, own: Mapping[str, Holding]) -> str:
    """Return a stack in a few signs; the name behind the actor's is its number."""
    number = token.name.rpartition("#")[2]
    if not token.is_live:
        return f"={number}=" if token.state == RESOLVED else f"x{number}"
    cards, is_whole = _cards(state, token, own)
    if token.state == UP or is_whole:
        return f"({number})"
    return f"<{number}>" if cards else f"[{number}]"
