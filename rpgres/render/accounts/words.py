"""What people, inputs and names of a scene are called in its account."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from rpgres.model.state import GM, State
from rpgres.render.words import rung, title, who_is
from rpgres.rulesets import Rules, RulesetFile
from rpgres.text.harmless import in_line

_FORM = re.compile(r"[\w-]+(=[^,=]*)?(,[\w-]+(=[^,=]*)?)*")  # the fields of a form as they are typed
_VALUES = re.compile(r"[\w-]+=-?\d+(,[\w-]+=-?\d+)*")  # abilities that were typed with their values


class Words:
    """The words of one scene: what people, outcomes and effects of it are called.

    Attributes:
        people: the title of each character, by short name.
        several: the titles of those who are spoken of in the plural, such as a mob.
    """

    def __init__(self, file: RulesetFile, people: Mapping[str, str], several: Collection[str] = ()) -> None:
        self.file = file
        self.people = people
        self.several = several
        names = sorted((*people, GM), key=len, reverse=True)
        self._names = re.compile(rf"(?<![\w#/:=.-])(?:{'|'.join(map(re.escape, names))})(?![\w#/=-])")

    def sentence(self, text: str, actor: str = "") -> str:
        """Return a sentence as it is said of its actor, who may be several: `Gate guards attack the sergeant.`"""
        text = in_line(text).strip()
        verb, blank, rest = text.removeprefix(f"{actor} ").partition(" ")
        if actor in self.several and text.startswith(f"{actor} "):
            text = f"{actor} {_of_several(verb)}{blank}{rest}"
        for told in self.people.values():  # `The sergeant`, where it is not the first word
            text = text.replace(f" {told}", f" the {told[4:]}") if told.startswith("The ") else text
        text = f"{text[:1].upper()}{text[1:]}"
        return text if not text or text.endswith((".", "!", "?")) else f"{text}."

    def who(self, name: str) -> str:
        """Return the title of a character."""
        return in_line(self.people.get(name) or self.people.get(self._of_sheet(name)) or who_is(name))

    def named(self, text: str) -> str:
        """Return a line of a rule with titles in place of short names; names of stacks such as `mara#1` stay."""

        def told(found: re.Match[str]) -> str:
            who = self.who(found[0])
            return f"the {who[4:]}" if found.start() and who.startswith("The ") else who

        return self._names.sub(told, text)

    def text(self, value: Any, *, is_rated: bool = False) -> str:
        """Return something that was typed in words: `the will of Gate guards`, `Great (+4)`.

        Args:
            value: as it was typed.
        """
        if isinstance(value, list | tuple):
            return " and ".join(self.text(one, is_rated=is_rated) for one in value)
        if isinstance(value, Mapping):
            return self._form(value)
        if is_rated and isinstance(value, int):
            return rung(value, self.file.ladder)
        text = str(value)
        name, colon, rest = text.partition(":")
        if colon and self._is_person(name) and rest and "=" not in rest:
            return f"the {plain_words(rest)} of {self.who(name)}"
        if "=" in rest and _FORM.fullmatch(rest):
            return f"{self.who(name)} ({', '.join(plain_words(one) for one in rest.split(','))})"
        if is_rated and text in self.file.ladder:
            return rung(self.file.ladder[text], self.file.ladder)
        return self.who(text) if self._is_person(text) else in_line(_values(text))

    def _is_person(self, text: str) -> bool:
        return text in self.people or self._of_sheet(text) in self.people

    def _of_sheet(self, text: str) -> str:
        """Return the short name of the character whose sheet this file is; empty where that is not clear."""
        name = Path(text).stem if text.endswith(".toml") else ""
        return "" if f"{name}-2" in self.people else name

    def _form(self, value: Mapping[str, Any]) -> str:
        who = value.get("character") or value.get("name")
        rest = {key: one for key, one in value.items() if key not in ("character", "name")}
        if "character" in value and len(rest) == 1:
            return f"the {plain_words(str(next(iter(rest.values()))))} of {self.who(str(who))}"
        told = ", ".join(f"{plain_words(key)} {self.text(one)}" for key, one in rest.items())
        return f"{self.who(str(who))} ({told})" if told else self.who(str(who))


def _values(text: str) -> str:
    return text.replace("=", " ").replace(",", ", ") if _VALUES.fullmatch(text) else text


def plain_words(name: str) -> str:
    return in_line(name.replace("-", " ").replace("_", " ").replace("=", " "))


def words_of(rules: Rules, state: State) -> Words:
    """Return the words for a scene."""
    people = titled({one.name: one.title for one in state.characters.values()})
    several = {in_line(people[name]) for name in mobs_of(rules, state)}
    return Words(rules.file, people, {name for name in several if _PLURAL.search(name)})


def mobs_of(rules: Rules, state: State) -> list[str]:
    """Return the short names of the characters who are several."""
    counters = [name for name, field in rules.file.sheet.items() if field.plural]
    return [name for name, one in state.characters.items() if any(one.counters.get(by, 1) > 1 for by in counters)]


def titled(titles: Mapping[str, str]) -> dict[str, str]:
    """Return what characters are called, by short name; those of the same title have the name behind it."""
    people = {name: said if said and said != name else title(name) for name, said in titles.items()}
    times = Counter(people.values())
    return {name: said if times[said] == 1 else f"{said} ({name})" for name, said in people.items()}


_PLURAL = re.compile(r"([^s]s|men|people|folk)$")  # a mob may be called by one of them: Hired thug


def _of_several(verb: str) -> str:
    """Return a verb in the plural, from the third person: `attack` of `attacks`.

    >>> [_of_several(verb) for verb in ("attacks", "tries", "goes", "passes", "faces", "is", "has", "put")]
    ['attack', 'try', 'go', 'pass', 'face', 'are', 'have', 'put']
    """
    stem, mark = verb.rstrip(".:,"), verb[len(verb.rstrip(".:,")) :]
    if stem in _IRREGULAR:
        return _IRREGULAR[stem] + mark
    if stem.endswith("ies"):
        return f"{stem[:-3]}y{mark}"
    ending = 2 if stem.endswith(("oes", "sses", "shes", "ches", "xes", "zes")) else int(stem.endswith("s"))
    return stem[: len(stem) - ending] + mark


_IRREGULAR = {"is": "are", "has": "have", "was": "were"}
