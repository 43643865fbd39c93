"""Who wins: pair by pair, by what counts against whom (S:56-71, S:100-104). No outcome's name stands here."""

from __future__ import annotations

import msgspec

from rpgres import Map, Rules
from rpgres_faith.playing import Play
from rpgres_faith.sides import LUCK, find, has_court_last
from rpgres_faith.switches import Switches


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """How two actions stand against each other.

    Attributes:
        one, other: whose they are; the first is the one that is acted against, or the first action.
        values: what counts against each other.
        lead: by how much the first is ahead.
        is_critical: whether the higher side wins critically.
        is_plain: whether it is a plain success, however great the lead.
    """

    one: str
    other: str
    values: tuple[int, int]
    lead: int
    is_critical: bool = False
    is_plain: bool = False

    @property
    def winner(self) -> str:
        """The side with the higher action; empty on a tie."""
        return self.one if self.lead > 0 else self.other if self.lead < 0 else ""

    @property
    def loser(self) -> str:
        """The side with the lower action; empty on a tie."""
        return self.other if self.lead > 0 else self.one if self.lead < 0 else ""


def judge(rules: Rules, play: Play) -> list[Verdict]:
    """Return the verdict of every pair, each by itself (S:100, S:104)."""
    found = []
    for one, other in play.pairs:
        first, second = find(play.sides, one), find(play.sides, other)
        values = first.against(other), second.against(one)
        lead = values[0] - values[1]
        winner, loser = (first, other) if lead > 0 else (second, one)
        critical = abs(lead) >= rules.file.settings["critical-lead"] and has_court_last(rules, winner, loser)
        found.append(Verdict(one, other, values, lead, critical))
    return found


def blocked_by(rules: Rules, play: Play, verdicts: list[Verdict], name: str) -> Verdict | None:
    """Return the verdict by which bad luck stops a character's action against all (S:102, R:B4)."""
    for verdict in verdicts:
        if verdict.one == name and find(play.sides, verdict.other).plays == LUCK:
            alone = len(play.pairs) == 1 or rules.switches(Switches).gm_tie_blocks_all
            if verdict.lead < 0 or (verdict.lead == 0 and alone):
                return verdict
    return None


def leading(play: Play, verdicts: list[Verdict], name: str) -> Verdict:
    """Return the verdict that an action is called by: the best against any opponent but bad luck, if there is one."""
    own = [verdict for verdict in verdicts if verdict.one == name]
    people = [verdict for verdict in own if find(play.sides, verdict.other).plays != LUCK]
    return max(people or own, key=lambda verdict: (verdict.lead > 0 and verdict.is_critical, verdict.lead))


def record(verdict: Verdict, *, is_stopped: bool) -> Map[str, object]:
    """Return a verdict for readers of the JSON.

    Args:
        verdict: how two actions stand.
        is_stopped: whether bad luck keeps the higher of them from taking effect.
    """
    return Map(
        {
            "of": verdict.one,
            "against": verdict.other,
            "value": verdict.values[0],
            "opposition": verdict.values[1],
            "margin": verdict.lead,
            "winner": verdict.winner or None,
            "critical": verdict.is_critical,
            "stopped": is_stopped,
        }
    )
