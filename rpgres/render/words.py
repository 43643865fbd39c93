"""Numbers, effects and names in words, from a ruleset's data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from rpgres.errors import counted
from rpgres.model.state import FACE_DOWN, GM, Box, Character, Pile
from rpgres.odds import chances
from rpgres.parameters.context import ACTOR, OPPONENT
from rpgres.render.lines import Piece
from rpgres.rulesets import Rules, RulesetFile
from rpgres.rulesets.schema import FIELDS, EffectText

_PART = r"\[([^][]*)\]"  # of a pattern: what may be left out


def signed(number: int) -> str:
    """Return a number with its sign.

    >>> signed(0), signed(-2)
    ('+0', '-2')
    """
    return f"{number:+d}"


LOWEST, HIGHEST = 4, 12  # the rungs between which a ladder still names ratings


def rung(number: int, ladder: Mapping[str, int]) -> str:
    """Return a total in the ladder's words, the bare number when there is no ladder.

    >>> rung(3, {"good": 3, "fair": 2}), rung(5, {"good": 3, "fair": 2}), rung(7, {})
    ('Good (+3)', 'beyond Good (+5)', '7')
    >>> rung(20, {"hard": 20, "easy": 10}), rung(23, {"hard": 20, "easy": 10})
    ('Hard (20)', '23')

    A ladder that begins well over 0, or goes far, names difficulties and not ratings, so other numbers are shown for
    themselves.
    """
    if not ladder:
        return str(number)
    names = {value: name for name, value in ladder.items()}
    if min(names) > LOWEST or max(names) > HIGHEST:
        return f"{title(names[number])} ({number})" if number in names else str(number)
    if number in names:
        return f"{title(names[number])} ({signed(number)})"
    top, bottom = max(names), min(names)
    if number > top:
        return f"beyond {title(names[top])} ({signed(number)})"
    if number < bottom:
        return f"below {title(names[bottom])} ({signed(number)})"
    return signed(number)


def title(name: str) -> str:
    """Return a name from a command line as people write it.

    >>> title("create-advantage")
    'Create advantage'
    """
    text = name.replace("-", " ").replace("_", " ")
    return text[:1].upper() + text[1:]


def counter_title(name: str, file: RulesetFile) -> str:
    """Return what a counter of the table is called: one that only players' characters have is the game master's."""
    field = file.sheet.get(name)
    return f"{title(name)} of the game master" if field is not None and field.of_players else title(name)


def told_counters(character: Character, file: RulesetFile) -> dict[str, int]:
    """Return the counters of a character that people are told; that one character is one goes without saying."""
    several = {name for name, field in file.sheet.items() if field.plural}
    return {name: number for name, number in character.counters.items() if number != 1 or name not in several}


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


def problem_count(number: int) -> str:
    """Return so many problems in words."""
    return "a problem" if number == 1 else f"{number} problems"


def who_is(name: str) -> str:
    """Return the title of a character."""
    return "the game master" if name == GM else name


def known_to(audience: Iterable[str] | None, who: Callable[[str], str] = who_is) -> str:
    """Return who may know of something, in words; nothing when it is public.

    Args:
        audience: the seats; None for all.
    """
    return f"known to {', '.join(map(who, audience)) or 'nobody'}" if audience is not None else ""


def box_piece(boxes: Sequence[Box]) -> Piece:
    """Return the boxes of a track in words, `1 checked, 2 free`, to be drawn as `[x][2]` where that says as much."""
    told = Piece(", ".join(f"{box.name} {box_mark(box)}" for box in boxes))
    if any(box.mark not in ("", "x") for box in boxes):
        return told
    return replace(told, drawn=tuple(Piece("[x]", "bad") if box.mark else Piece(f"[{box.name}]") for box in boxes))


def box_mark(box: Box) -> str:
    """Return what stands in a box."""
    return "free" if not box.mark else "checked" if box.mark == "x" else f'"{box.mark}"'


def track_words(boxes: Sequence[Box]) -> str:
    """Return how many boxes of a track are marked, and what is written into them."""
    marked = [box for box in boxes if box.mark]
    written = ", ".join(f"{box.name}: {box.mark}" for box in marked if box.mark != "x")
    return f"{len(marked)} of {len(boxes)}{f' ({written})' if written else ''}"


def pile_piece(pile: Pile) -> Piece:
    """Return the cards of a pile: visible ones by their codes, others counted."""
    if pile.audience == () or FACE_DOWN in pile.cards:
        return Piece(f"{counted(len(pile), 'card')}, face down")
    from rpgres.model.cards import shown_codes

    return Piece(", ".join(shown_codes([*pile.top, *pile.cards])), "cards")


def plain_value(value: Any) -> str:
    """Return something plain in words: `mara, guards`; nested values in brackets."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_within(inner)}" for key, inner in value.items()) or "nothing"
    if isinstance(value, tuple):
        return ", ".join(_within(inner) for inner in value) or "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value is None or value == "" else str(value)


def _within(value: Any) -> str:
    return f"({plain_value(value)})" if isinstance(value, Mapping | tuple) and value else plain_value(value)


def thing_words(thing: Any) -> list[str]:
    """Return the parts of a thing on the table, one after the other."""
    if isinstance(thing, Mapping) and thing:
        return [f"{key}: {plain_value(value)}" for key, value in thing.items()]
    return [plain_value(thing)]


def input_words(inputs: Mapping[str, Any]) -> str:
    """Return the inputs of an action in words.

    >>> input_words({"skill": 3, "vs": {"character": "thug", "ability": "will"}, "free_use": True})
    'skill 3, vs thug:will, free use'
    """
    names = {key: key.replace("-", " ").replace("_", " ") for key in inputs}
    return ", ".join(
        names[key] if value is True else f"{names[key]} {_typed_words(value)}" for key, value in inputs.items()
    )


def _typed_words(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(_typed_words, value))
    if isinstance(value, Mapping):  # an opposition as a scene writes it
        return ":".join(map(str, value.values()))
    return "no" if value is False else str(value)


def rolled_words(inputs: Mapping[str, Any]) -> str:
    """Return what was rolled: dice, and what they are compared with.

    >>> rolled_words({"notation": "d20+5", "vs": 15}), rolled_words({"notation": "3d6", "times": 6})
    ('d20+5 vs 15', '3d6, 6 times')
    """
    target = f" vs {inputs['vs']}" if "vs" in inputs else ""
    times = f", {inputs['times']} times" if "times" in inputs else ""
    return f"{inputs.get('notation', '')}{target}{times}"


def roles_in(actor: str | None, details: Mapping[str, Any]) -> dict[str, str]:
    """Return who is meant by the roles in effects of a result, as far as its reader may know.

    >>> roles_in("mara", {"opponent": "thug"}), roles_in(None, {})
    ({'actor': 'mara', 'opponent': 'thug'}, {})
    """
    named = {ACTOR: actor, OPPONENT: details.get(OPPONENT)}
    return {role: name for role, name in named.items() if isinstance(name, str) and name}


def named_in_text(name: str) -> str:
    """Return the title of a character within a sentence, where it may have no name.

    >>> named_in_text("actor"), named_in_text("mara")
    ('the actor', 'mara')
    """
    return f"the {name}" if name in (ACTOR, OPPONENT) else who_is(name)


def effect_words(
    effect: Mapping[str, Any], described: EffectText | None = None, *, who: Callable[[str], str] = named_in_text
) -> str:
    """Return an effect in words, made from its fields alone, since what they mean is the ruleset's.

    Args:
        described: the ruleset's words for it and its values: with fields in braces, and parts in brackets that need all
            fields in them; for effects that have the fields that stand in no bracket.

    >>> effect_words({"kind": "hit", "shifts": 3, "to": "gm"}, EffectText(help="", words="{to} takes {shifts}"))
    'the game master takes 3'
    >>> effect_words({"kind": "hit", "shifts": 3, "to": "opponent"})
    'hit: shifts 3, for the opponent'
    >>> effect_words({"kind": "aspect", "change": "created", "name": "Slick Roofs", "on": "mara"})
    'aspect: created, "Slick Roofs", on mara'
    """
    if described is not None:
        fields = {key: _told(key, value, described, who) for key, value in effect.items()}
        told = filled(described.words, {key: word for key, word in fields.items() if word})
        if told:
            return told
    words = [_field_words(key, value, who) for key, value in effect.items() if key != "kind"]
    message = ", ".join(word for word in words if word)
    kind = str(effect.get("kind", "")).replace("-", " ")
    return f"{kind}: {message}" if message else kind


def filled(pattern: str, fields: Mapping[str, str]) -> str:
    """Return a pattern with its fields in braces filled in; nothing where one is missing.

    A part in brackets is left out where one of its fields is missing.

    >>> filled("{actor} climbs[ with {skill}][ against {vs}]", {"actor": "Mara", "skill": "athletics"})
    'Mara climbs with athletics'
    """
    kept = pattern
    if "[" in pattern:
        kept = re.sub(_PART, lambda found: found[1] if set(FIELDS.findall(found[1])) <= fields.keys() else "", pattern)
    return FIELDS.sub(lambda found: fields[found[1]], kept) if set(FIELDS.findall(kept)) <= fields.keys() else ""


def _told(key: str, value: Any, described: EffectText, who: Callable[[str], str]) -> str:
    """Return the value of an effect's field as a pattern shows it: a character by title, a change with its sign."""
    known = described.values.get(key)
    if isinstance(known, dict) and value in known:
        return known[value]
    if value is None:
        return ""
    is_change = key == "change" and isinstance(value, int) and not isinstance(value, bool)
    return signed(value) if is_change else who(str(value))


def _field_words(key: str, value: Any, who: Callable[[str], str]) -> str:
    if value is None or value == "":
        return ""
    if key == "to":
        return f"for {who(str(value))}"
    if key in ("on", "from", "by", "against"):
        return f"{key} {who(str(value))}"
    if key in ("name", "becomes", "text"):
        return f'"{value}"' if key == "name" else f'{key} "{value}"'
    if isinstance(value, bool):
        return key if value else f"not {key}"
    if isinstance(value, int):
        return f"{key} {signed(value) if key == 'change' else value}"
    if isinstance(value, str):
        return value
    return f"{key} {value}"


def band_title(file: RulesetFile | None, band: str) -> str:
    """Return what an outcome is called."""
    known = file.bands.get(band) if file is not None else None
    return known.title if known is not None else title(band)


def titles(file: RulesetFile | None, bands: Iterable[str]) -> dict[str, str]:
    """Return what outcomes are called, with the name of each where several are called the same."""
    titles = {band: band_title(file, band) for band in bands}
    said = list(titles.values())
    return {band: f"{text} ({band})" if said.count(text) > 1 else text for band, text in titles.items()}


def outcome_titles(file: RulesetFile | None, names: Iterable[str]) -> dict[str, str]:
    """Return what outcomes of odds are called: those of a ruleset, endings of a scene, or values.

    >>> outcome_titles(None, ["mara-wins", "", "-3"])
    {'mara-wins': 'Mara wins', '': 'No ending', '-3': '-3'}
    """
    several = list(names)
    known = titles(file, [name for name in several if file is not None and name in file.bands])
    known |= {name: name for name in several if is_number(name)}
    return {name: known.get(name) or (title(name) if name else "No ending") for name in several}


def is_number(text: str) -> bool:
    """Tell whether the name of a result is a whole number, such as a margin."""
    return text.removeprefix("-").isdecimal()


def style_of(success: bool | None, margin: int | None) -> str:
    """Return the style of an outcome's name."""
    if success is None:
        return "even" if margin is not None else "title"
    return "good" if success else "bad"


def house_rules(rules: Rules) -> str:
    """Return what differs from the ruleset as it ships, in words; nothing when nothing does."""
    return ", ".join(chances.house_rules(rules))


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b or c'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} or {names[-1]}"
