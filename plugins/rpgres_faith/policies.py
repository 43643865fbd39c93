"""Policies: which card is played, in an order of preference, from public information only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpgres import NO, Option

TYPICAL = 11  # what one more card is reckoned to add: a good one of a full hand
HIGHEST = 13
NOBODY: Mapping[str, Any] = {"last": -1, "foes_left": 0}  # no opponent, where a card is laid for initiative
Key = tuple[float, ...]


def steady(label: str, facts: Mapping[str, Any], option: Option) -> Key:
    """Win with the least that is likely to hold; stop when one more card cannot help, or is not needed."""
    if label in ("play", "npc"):
        return _card(facts, option)
    if label == "lay":  # the deck costs nothing; then what is least needed in a confrontation
        return (0.0 if option.name == "deck" else 1.0, _worth(NOBODY, option))
    if label == "joker":
        worthwhile = facts["last"] >= 8 and facts["lead"] < facts["aim"]
        return (0.0,) if (option.name != NO) == worthwhile else (1.0,)
    if label == "replace":
        better = facts["new"] > facts["value"]
        return (0.0,) if (option.name != NO) == better else (1.0,)
    return _plain(option)


def eager(label: str, facts: Mapping[str, Any], option: Option) -> Key:
    """Play the highest cards as long as there are any."""
    if label in ("play", "npc"):
        return (
            (0.0, -_worth(facts, option), 0.0 if option.facts.get("draws") else 1.0)
            if option.name != "pass"
            else (1.0, 0.0)
        )
    if label == "lay":
        return (-_worth(NOBODY, option),)
    return steady(label, facts, option)


def _plain(option: Option) -> Key:
    """Take the preferred option; skip an optional decision unless an option is preferred to that."""
    return (-float(option.prefer), 0.0 if option.name == NO else 1.0)


def _worth(facts: Mapping[str, Any], option: Option) -> float:
    """Return what a card adds to the lead: a joker takes away what it hits, or what may well come.

    No card is worth as much as a joker or the deck, so that it is never left open which of two is played.
    """
    if option.facts.get("suit") == "":
        last: float = facts["last"]
        return (last if last >= 0 else TYPICAL if facts["foes_left"] else 0.0) - 0.5
    if option.name == "deck":
        return 6.5
    value: float = option.facts.get("value", 0)
    return value


def _card(facts: Mapping[str, Any], option: Option) -> Key:
    """Rank a card: by whether the lead it makes is likely to hold, then by how little it costs.

    With one card left: the lowest card that leaves a lead after what the opponents may still play; otherwise the
    highest, where it comes to anything. With more cards left, what later cards may add counts too. Passing comes first
    where the lead holds by itself, as it does when all others have passed, or where even the best cards are not
    enough. A tie is enough for bad luck, which
    wants nothing but that the action fails; and it is worth a card to the opponents of a character whose action
    it stops.
    """
    lead, left, foes = facts["lead"], facts["left"], facts["foes_left"]
    need = facts["aim"] + foes * TYPICAL  # the lead that is likely to hold
    enough = -HIGHEST if foes else facts["least"]
    if lead + left * HIGHEST < enough:  # against several, what is out of reach with one may not be with another
        lead = facts["easiest"]
    is_hopeless = lead + left * HIGHEST < enough
    holds = lead >= (facts["aim"] if facts["ends"] else need)
    if option.name == "pass":
        return (0.0, 0.0) if holds or is_hopeless else (3.0, 0.0)
    after = lead + _worth(facts, option)
    if option.name == "deck":  # nothing is spent by it
        return (1.0, -1.0)
    drawn = 0.0 if option.facts.get("draws") else 1.0
    if after >= need:
        return (1.0, after, drawn)
    if not foes and after + (left - 1) * HIGHEST < facts["least"]:
        return (4.0, after)  # it cannot help any more
    later = (left - 1) * TYPICAL
    if after + later >= need:
        return (2.0, -after, drawn)
    return (2.5, -after, drawn)
