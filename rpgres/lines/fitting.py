"""What a word of a short line can stand for: by the kinds of parameters, and by known names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rpgres.engine.labels import labels_of
from rpgres.errors import RpgresError, enumerated, named
from rpgres.model.state import State, slug, without_accents
from rpgres.parameters.ability import number_of, rung_of
from rpgres.parameters.context import ACTOR, InputContext
from rpgres.parameters.kinds import Slot, kind_of
from rpgres.parameters.plain import sheet_of
from rpgres.rulesets import Parameter, Rules
from rpgres.rulesets.schema import CARD
from rpgres.rulesets.sheets import is_sheet_here, sheet_names

OPPOSING, USING = ("vs", "versus", "against"), ("with", "using")
BESIDE = ("beside", "alongside", *USING)  # those who are on the actor's side, where no ability is meant
# Kinds of parameters that a word introduces where the action's sentence says nothing of it, the best first.
PREPOSITIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OPPOSING, ("opposition", "form", "character")),
    **dict.fromkeys(USING, ("ability",)),
}
ARTICLES = ("a", "an", "the", "my", "her", "his", "its", "their")
FILLERS = (*ARTICLES, "and", "to", "of", "at")
SEAT_WORD = "as"
PEOPLE = ("opposition", "character", "form")  # kinds of parameters that name a character
NAMED, NUMBER, TEXT = range(3)  # how a word fits: by a name that is known, as a number, or as any text does
_FACES = re.compile(r"[-+0]*[-+][-+0]+")  # of Fate dice, which may begin as options do
_LEAD, _TAIL = re.compile(r".*[=,]"), re.compile(r"[,:.=].*")  # what is typed to a name: `--vs=`, `edda,`; `:fight`
_SLOT = re.compile(r"(?:([\w'-]+)\s+)?\{([\w-]+)\}")  # a parameter in a sentence, and the word before it


class Scope(msgspec.Struct, frozen=True):
    """What may be named on a short line.

    Attributes:
        state: the table as the seat that types may see it.
        options: the options of the action's command as typed: whether each takes a value.
        is_seated: whether the actor sits at a table.
    """

    rules: Rules
    state: State
    actor: str
    options: Mapping[str, bool]
    is_seated: bool = False


class Reading(msgspec.Struct, frozen=True):
    """One thing that an unclear word may mean.

    Attributes:
        text: what is shown of it.
        words: what stands in its place on a line that is clear.
    """

    text: str
    words: tuple[str, ...]


class Taker(msgspec.Struct, frozen=True):
    """What a word may be for: a parameter, or a label that is answered (`given` or `choose`)."""

    option: str
    name: str
    parameter: Parameter | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether it may be given several times."""
        return self.parameter is not None and self.parameter.is_repeated

    def words(self, value: str) -> tuple[str, ...]:
        """Return the option with a value."""
        if self.parameter is None:
            return (f"--{self.option}", f"{self.name}={value}")
        if self.parameter.kind == "flag":
            return (f"--{self.name}",)
        return (f"--{self.name}={value}",) if value.startswith("-") else (f"--{self.name}", value)


class Fit(msgspec.Struct, frozen=True):
    """One way in which a word fits.

    Attributes:
        taker: what it is for.
        how: `NAMED`, `NUMBER` or `TEXT`.
        value: how it is typed there.
        left: what it still leaves open: the abilities of an opponent who is named alone.
        asks: what is asked then, where it is not which of them is meant.
    """

    taker: Taker
    how: int
    value: str
    left: tuple[Reading, ...] = ()
    asks: str = ""


class Words:
    """The words that an action knows in a scope: what each can be for, and how it fits there.

    Args:
        scope: what may be named.
        action: the action's name.
    """

    def __init__(self, scope: Scope, action: str) -> None:
        rules = scope.rules
        self.scope, self.action = scope, action
        self.described, self.parameters = rules.file.actions[action], rules.parameters(action)
        self.takers = {name: Taker(name, name, one) for name, one in self.parameters.items()}
        self.by_name = dict(self.takers)
        for name, one in self.parameters.items():
            self.by_name |= {alias: self.takers[name] for alias in one.aliases if alias not in self.parameters}
        for label, kind in labels_of(rules, action).items():
            self.by_name.setdefault(label, Taker("given" if kind == "chance" else "choose", label))
        if scope.is_seated:
            self.by_name.setdefault(SEAT_WORD, Taker(SEAT_WORD, SEAT_WORD, Parameter(kind="text", help="the seat")))
        self.introduced, self.unmarked = _introduced(self.described.sentence, self.parameters)

    def fit(self, taker: Taker, word: str, said: Mapping[str, str]) -> Iterator[Fit]:
        """Yield how a word fits a parameter; nothing where it does not."""
        name, parameter, rules = taker.name, taker.parameter, self.scope.rules
        if parameter is None:
            return
        is_number = number_of(word) is not None or rung_of(rules, word) is not None
        who, colon, rest = word.partition(":")
        several = self.scope.state.named(who) if parameter.kind in PEOPLE else []
        if len(several) > 1:  # with one title
            said_so = [f"{name}{colon}{rest}" for name in several]
            yield Fit(taker, NAMED, word, tuple(Reading(text, (text,)) for text in said_so))
            return
        match parameter.kind:
            case "ability" if is_number:
                yield Fit(taker, NUMBER, word)
            case "ability" if self.is_ability(name, word):
                yield Fit(taker, NAMED, word if "=" in word else slug(word))
            case "opposition" if is_number or self._is_counted(parameter, word):
                yield Fit(taker, NUMBER, word)
            case "opposition":
                yield from self._opposition(taker, parameter, word, said)
            case "integer" | "counter" if number_of(word) is not None:
                yield Fit(taker, NUMBER, word.replace("\N{MINUS SIGN}", "-"))
            case "dice" if not (is_number or self._is_choice(word)) and self._reads(name, parameter, word):
                yield Fit(taker, NAMED, word)
            case "choice" if word in parameter.choices:
                yield Fit(taker, NAMED, word)
            case "character" if (found := self.character(word)) is not None:
                yield Fit(taker, NAMED, found)
            case "form":
                found = self.character(who) if parameter.seats else None
                is_said = bool(colon) and rest.partition("=")[0] in parameter.fields
                if found is not None or is_said:
                    yield Fit(taker, NAMED, f"{found or who}{colon}{rest}")
            case "cards" if self._are_cards(word):
                yield Fit(taker, NAMED, word)
            case "tag" if (tag := self.scope.state.tag(word.partition("=")[0])) is not None:
                yield Fit(taker, NAMED, f"{tag.name}{word.partition('=')[1]}{word.partition('=')[2]}")
            case "text" if (record := self._record(name, word)) is not None:
                yield Fit(taker, NAMED, record)
            case "text" if name in self.unmarked or (is_sentence(word) and self.texts() == [name]):
                yield Fit(taker, TEXT, word)
            case "text" | "tag":
                tag = self.scope.state.tag(word)
                if tag is not None and parameter.metavar in ("ASPECT", "TAG"):
                    yield Fit(taker, NAMED, tag.name)

    def _is_choice(self, word: str) -> bool:
        """Tell whether a parameter has a word among its choices, which as dice (`advantage`) would hide that."""
        return any(word in one.choices for one in self.parameters.values())

    def _opposition(self, taker: Taker, parameter: Parameter, word: str, said: Mapping[str, str]) -> Iterator[Fit]:
        name, colon, ability = word.rpartition(":")
        who = self.character(name) if colon else self.character(word)
        if colon and who is not None:
            yield Fit(taker, NAMED, f"{who}:{ability}")
        elif who is not None and who != self.scope.actor:
            abilities = self._opposing(who, said)
            readings = tuple(Reading(f"{who}:{one}", taker.words(f"{who}:{one}")) for one in abilities)
            if len(readings) == 1:
                yield Fit(taker, NAMED, f"{who}:{abilities[0]}")
            elif readings:
                yield Fit(taker, NAMED, who, readings, f"what of {word} opposes this?")
        elif (word == "none" or any(char.isdigit() for char in word)) and self._reads(taker.name, parameter, word):
            yield Fit(taker, NAMED, word)

    def _opposing(self, who: str, said: Mapping[str, str]) -> list[str]:
        """Return the abilities with which a character may oppose: the usual ones, else all, highest first."""
        abilities = dict(self._character(who).abilities) if self._character(who) is not None else {}
        usual = [name for name in usual_opposition(self.scope.rules, self.action, said) if name in abilities]
        if usual:
            return [max(usual, key=abilities.__getitem__)]
        return sorted(abilities, key=lambda name: -abilities[name])

    def _character(self, who: str) -> Any:
        found = self.scope.state.characters.get(who)
        if found is not None:
            return found
        return sheet_of(self.scope.rules, who)

    def character(self, word: str) -> str | None:
        """Return the name of a character at the table, or of a sheet, that a word is."""
        return who_is_named(self.scope.rules, self.scope.state, word)

    def introduced_by(self, word: str) -> list[str]:
        """Return the parameters that the action's sentence has behind a word, or behind one that means the same."""
        alike = next((group for group in (OPPOSING, USING, BESIDE) if word in group), (word,))
        return list(dict.fromkeys(name for one in alike for name in self.introduced.get(one, ())))

    def is_ability(self, name: str, word: str) -> bool:
        """Tell whether a word is the name of an ability that a parameter takes."""
        rules, text = self.scope.rules, slug(word.partition("=")[0])
        fields = rules.file.fields_of("abilities")
        listed = [key for key, field in fields.items() if text in field.abilities]
        if listed and f"{name}s" in fields:  # an attribute is one of the `attributes`
            return f"{name}s" in listed
        actor = self.scope.state.characters.get(self.scope.actor)
        return bool(listed) or (actor is not None and text in actor.abilities)

    def _is_counted(self, parameter: Parameter, word: str) -> bool:
        digits = word.rstrip("abcdefghijklmnopqrstuvwxyz")
        return bool(parameter.unit) and digits.isdecimal() and parameter.unit.startswith(word[len(digits) :] or "?")

    def _are_cards(self, word: str) -> bool:
        rules = self.scope.rules
        return bool(rules.file.piles) and all(
            bool(text.strip()) and bool(rules.cards.matching(text.strip())) for text in word.split(",")
        )

    def card_answer(self, word: str) -> Taker | None:
        """Return the decision that a card answers: the only one of the actor's whose options can be cards."""
        if "," in word or not self._are_cards(word):
            return None
        labels = self.scope.rules.file.labels
        asked = [
            label
            for label in self.described.labels
            if (one := labels.get(label)) is not None
            and (one.kind, one.who, one.optional) == ("decision", ACTOR, False)
            and (not one.options or CARD in one.options)
        ]
        return self.by_name[asked[0]] if len(asked) == 1 and self.by_name[asked[0]].parameter is None else None

    def _record(self, name: str, word: str) -> str | None:
        """Return what an input of one thing names on the actor's sheet, which lists several: `stunt` of `stunts`."""
        actor = self.scope.state.characters.get(self.scope.actor)
        records: Mapping[str, Any] = actor.records.get(f"{name}s", {}) if actor is not None else {}
        return next((key for key in records if slug(key) == slug(word)), None)

    def _reads(self, name: str, parameter: Parameter, word: str) -> bool:
        """Tell whether a parameter can read a word as its value."""
        context = InputContext(self.scope.rules, self.scope.state, actor=self.scope.actor)
        try:
            kind_of(parameter).read(Slot(context, parameter, named(name), self.scope.actor), word)
        except RpgresError:
            return False
        return True

    def names(self) -> list[str]:
        """Return every name that a word of this line may have."""
        scope, rules = self.scope, self.scope.rules
        actor = scope.state.characters.get(scope.actor)
        found = [*rules.file.abilities, *(actor.abilities if actor is not None else ()), *rules.file.ladder]
        found += [*scope.state.characters, *sheet_names(rules), *self.by_name]
        found += [choice for one in self.parameters.values() if one.kind == "choice" for choice in one.choices]
        return list(dict.fromkeys(found))

    def texts(self) -> list[str]:
        """Return the parameters that any text is for."""
        return [name for name, one in self.parameters.items() if one.kind in ("text", "tag")]

    def takes(self) -> str:
        """Return what the action takes, in words; the choices of one parameter, too, if the others have none."""
        own = [name for name, one in self.parameters.items() if one.kind not in ("counter", "cards", "tag")]
        choosing = [name for name in own if self.parameters[name].kind == "choice"]
        if len(choosing) == 1:
            listed = f"{choosing[0]} ({enumerated(self.parameters[choosing[0]].choices)})"
            own = [listed if name == choosing[0] else name for name in own]
        return f"{self.action} takes {enumerated(own)}"


def typed_apart(words: Sequence[str], options: Mapping[str, bool]) -> tuple[dict[int, str], list[tuple[int, int]]]:
    """Return the words of a line that belong to no option, by their place, and where options stand with their values.

    Args:
        options: whether each option takes a value, by its name as typed.
    """
    bare: dict[int, str] = {}
    spans: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        word = words[place]
        if word == "--":  # no word behind it is an option
            bare |= {behind: words[behind] for behind in range(place + 1, len(words))}
            break
        is_faces = len(word) > 2 and _FACES.fullmatch(word) is not None
        if word.startswith("-") and len(word) > 1 and number_of(word) is None and not is_faces:
            following = words[place + 1 : place + 2]
            is_valued = (
                options.get(word, False) and following and following[0] not in options
            )  # a value may be left out
            length = 2 if is_valued else 1
            spans.append((place, place + length))
            place += length
        else:
            bare[place] = word
            place += 1
    return bare, spans


def is_sentence(word: str) -> bool:
    """Tell whether a word was quoted as a text, or ends as a question does: nothing that is named is written so."""
    return any(char.isspace() for char in word) or (word.endswith("?") and len(word) > 1)


def _introduced(sentence: str, parameters: Mapping[str, Parameter]) -> tuple[dict[str, list[str]], set[str]]:
    """Return the parameters that words of a sentence introduce, and those that stand there without such a word."""
    introduced: dict[str, list[str]] = {}
    unmarked: set[str] = set()
    for found in _SLOT.finditer(sentence):
        word, name = found[1] or "", found[2]
        if word in ARTICLES:  # `with a {die}`
            word = sentence[: found.start()].replace("[", " ").split()[-1]
        if name in parameters and word:
            introduced.setdefault(word, []).append(name)
        elif name in parameters:
            unmarked.add(name)
    return introduced, unmarked


def usual_opposition(rules: Rules, action: str, inputs: Mapping[str, Any]) -> Sequence[str]:
    """Return the abilities with which a character named alone opposes an action, by the ruleset; else nothing."""
    parameters = rules.parameters(action)

    def value(found: re.Match[str]) -> str:
        its = parameters.get(found[1])
        usual = (its.default or next(iter(its.choices), "")) if its is not None else ""
        return str(inputs.get(found[1]) or usual)

    path = re.sub(r"\{([\w-]+)\}", value, rules.file.actions[action].opposed_with)
    against = rules.file.setting(f"{path}-against") or {}
    rated = [name for name, its in parameters.items() if its.kind == "ability" and name in inputs]
    used = [slug(str(inputs[name]).split("=")[0]) for name in rated]
    found = next((against[name] for name in used if name in against), rules.file.setting(path) if path else None)
    return [slug(str(one)) for one in found] if isinstance(found, list) else []


def with_names(rules: Rules, state: State, words: Sequence[str]) -> list[str]:
    """Return a line in which the words of a name of several are one, wherever it stands: `Mara Quill:`, `hired thug,`.

    Such are the titles of characters, abilities and tags. What was quoted, and what stands behind `--`, stays as it is.

    Args:
        state: the table as the seat that types may see it.
    """
    people = state.characters.values()
    names = [*(one.title for one in people), *(tag.name for tag in state.tags)]
    names += [*rules.file.abilities, *(ability for one in people for ability in one.abilities)]
    known = {said: name for name in names if "-" in (said := without_accents(slug(name)))}
    longest = max((said.count("-") + 1 for said in known), default=0)
    end = words.index("--") if "--" in words else len(words)
    line, place = list(words[:end]), 0
    while place < len(line):
        lengths = range(min(longest, len(line) - place), 1, -1)
        spans = ((length, _one_name(line[place : place + length], known)) for length in lengths)
        length, word = next(((length, found) for length, found in spans if found), (1, line[place]))
        line[place : place + length] = [word]
        place += length == 1  # else another name may begin behind its comma
    return [*line, *words[end:]]


def _one_name(words: Sequence[str], known: Mapping[str, str]) -> str:
    """Return words that are a known name as one, with what is typed to either end of it; empty where they are none."""
    lead, cut = _LEAD.match(words[0]), _TAIL.search(words[-1])
    before = lead[0] if lead else ""
    first, *rest = words[0][len(before) :], *words[1:]
    if any(" " in word for word in (first, *rest)):
        return ""
    for tail in (cut[0], "") if cut else ("",):
        said = " ".join([first, *rest]).removesuffix(tail)
        name = known.get(without_accents(slug(said)), "")
        if name:
            return f"{before}{name}{tail}"
    return ""


def who_is_named(rules: Rules, state: State, word: str) -> str | None:
    """Return the name of a character at the table, by its name or title, or of a sheet that ships or lies here.

    Args:
        state: the table as the seat that types may see it.
    """
    found = [name for name in state.named(word) if name != ACTOR]
    if len(found) == 1:
        return found[0]
    if word.endswith(".toml"):
        return word
    text = slug(word)
    if not found and text in sheet_names(rules):
        return text
    return next((name for name in (word, text) if not found and is_sheet_here(rules, name)), None)
