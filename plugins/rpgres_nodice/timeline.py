"""The public timeline: the current phase, and of each stack its owner, its phase, how it ended."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from rpgres import EMPTY, Map, State, put

THING = "timeline"
DOWN, UP, RESOLVED, ABORTED, STOPPED = "down", "up", "resolved", "aborted", "stopped"
LIVE = (DOWN, UP)


class Token(msgspec.Struct, frozen=True):
    """A stack as all seats know it.

    Attributes:
        name: `guard#1`.
        by: whose it is.
        phase: its phase; None for a reaction.
        state: `down`, `up` (a reaction that was revealed), `resolved`, `aborted`, or `stopped` by harm.
        plan: what it was, once it is revealed; empty before.
    """

    name: str
    by: str
    phase: int | None
    state: str = DOWN
    plan: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it is still on the timeline."""
        return self.state in LIVE


class Timeline(msgspec.Struct, frozen=True):
    """The current phase, every stack in the order of declaration, and the actors who have declared nothing."""

    phase: int = 0
    tokens: tuple[Token, ...] = ()
    declined: tuple[str, ...] = ()

    def named(self, name: str) -> Token | None:
        """Return a stack by its name."""
        return next((token for token in self.tokens if token.name == name), None)

    def live(self, by: str = "") -> list[Token]:
        """Return the stacks still on the timeline, of one actor or of all."""
        return [token for token in self.tokens if token.is_live and by in ("", token.by)]

    def next_phase(self) -> int | None:
        """Return the phase of the first stack ahead."""
        return min((token.phase for token in self.live() if token.phase is not None), default=None)

    def due(self, phase: int) -> list[Token]:
        """Return the stacks on a phase."""
        return [token for token in self.live() if token.phase == phase]

    def last_phase(self, by: str) -> int:
        """Return the phase of the last declared stack of an actor; the current phase when none is."""
        return max([self.phase, *(token.phase for token in self.live(by) if token.phase is not None)])

    def fresh_name(self, by: str) -> str:
        """Return the name of the next stack of an actor."""
        return f"{by}#{1 + sum(token.by == by for token in self.tokens)}"

    def with_token(self, token: Token) -> Timeline:
        """Return the timeline with a stack added, or in place of the one of its name."""
        if self.named(token.name) is None:
            return msgspec.structs.replace(self, tokens=(*self.tokens, token))
        changed = tuple(token if old.name == token.name else old for old in self.tokens)
        return msgspec.structs.replace(self, tokens=changed)


def timeline_of(state: State) -> Timeline:
    """Return the timeline on a table; an empty one where none has begun."""
    return _read(state.things.get(THING, EMPTY))


@lru_cache(maxsize=256)  # each stack that could be declared is tried on the same one
def _read(kept: Map[str, Any]) -> Timeline:
    tokens = tuple(Token(**token) for token in kept.get("tokens", ()))
    return Timeline(kept.get("phase", 0), tokens, kept.get("declined", ()))


def with_timeline(state: State, line: Timeline) -> State:
    """Return the state with this timeline."""
    tokens = tuple(Map(msgspec.structs.asdict(token)) for token in line.tokens)
    thing = Map(phase=line.phase, tokens=tokens, declined=line.declined)
    return put(state, ("things",), state.things.with_(THING, thing))
