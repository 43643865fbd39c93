"""Short lines: `mara attack thug with fight` as the options it stands for. Only what the ruleset declares decides.

A word behind an action is read so: the name of a parameter or label takes the next word (`bonus 2`, `price cost`), and
so does a word that the action's sentence has before a parameter (`with {skill}`), or `vs`, `with`, ... by its kind. Any
other word goes to the parameter that can read it, those that are required first, numbers in the order of the
parameters. Where that leaves two readings, the line is unclear: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rpgres.errors import UsageError, enumerated, named
from rpgres.lines.fitting import (
    ARTICLES,
    BESIDE,
    FILLERS,
    NAMED,
    NUMBER,
    PREPOSITIONS,
    TEXT,
    USING,
    Fit,
    Reading,
    Scope,
    Taker,
    Words,
    is_sentence,
    typed_apart,
    with_names,
)
from rpgres.lines.hints import option_for
from rpgres.lines.people import is_in_turns, sided
from rpgres.model.state import slug
from rpgres.rulesets.sheets import own_ability
from rpgres.toml.diagnostics import nearest

MOST_READINGS = 5000


class Unclear(UsageError):
    """A short line with more than one meaning.

    Attributes:
        words: the whole line, where one of the `readings` may stand in place of the words from `start` up to `end`.
    """

    def __init__(self, words: Sequence[str], start: int, end: int, readings: Sequence[Reading], why: str = "") -> None:
        from rpgres.render.words import listed

        said = " ".join(words[start:end])
        shown = listed([one.text for one in readings])
        super().__init__(why or f"{said!r} could be {shown}; which one?", reason="unclear")
        self.words, self.start, self.end, self.readings = tuple(words), start, end, tuple(readings)

    def chosen(self, reading: Reading) -> list[str]:
        """Return the line with one of the readings."""
        return [*self.words[: self.start], *reading.words, *self.words[self.end :]]


class Line:
    """A line being read: what is bound so far, and the bare words that are left, by their place.

    Args:
        words: what the action knows.
        typed: the line behind the action.
    """

    def __init__(self, words: Words, typed: Sequence[str]) -> None:
        self.words, self.all = words, list(typed)
        self.bare, self.spans = typed_apart(typed, words.scope.options)
        self.places = tuple(self.bare)
        self.order = {name: place for place, name in enumerate(words.parameters)}
        self.bound: list[tuple[Taker, str]] = []
        options = [typed[start].partition("=")[0].lstrip("-") for start, _ in self.spans]
        self.closed = {words.by_name[name].name for name in options if name in words.by_name}

    # What words can be for

    def is_open(self, taker: Taker) -> bool:
        """Tell whether something is still to be given, or may be given again."""
        return taker.name not in self.closed or taker.is_repeated

    def fits(self, word: str) -> list[Fit]:
        """Return what a bare word may be for; what takes several values takes only one number without its name."""
        card = self.words.card_answer(word)
        if card is not None:  # one card is played, and laid nowhere
            return [Fit(card, NAMED, word)]
        said = self.inputs()
        return [
            fit
            for taker in self.words.takers.values()
            for fit in self.words.fit(taker, word, said)
            if taker.name not in self.closed or (taker.is_repeated and fit.how == NAMED)
        ]

    def inputs(self) -> dict[str, str]:
        """Return what is said so far, by parameter."""
        said = {taker.name: value for taker, value in self.bound if taker.parameter is not None}
        for start, end in self.spans:
            name, _, value = self.all[start].lstrip("-").partition("=")
            said[name] = value or (self.all[start + 1] if end - start > 1 else "")
        for name, one in self.words.parameters.items():
            chosen = [word for word in self.bare.values() if one.kind == "choice" and word in one.choices]
            if chosen:
                said.setdefault(name, chosen[0])
        return said

    # Words that say what the next one is for

    def bind_keywords(self) -> None:
        """Bind what stands behind the name of a parameter or a label, or behind a preposition."""
        places = sorted(self.bare)
        following = dict(pairwise(places))
        done: set[int] = set()
        for place in places:
            if place in done or (found := self.keyword(place, following)) is None:
                continue
            taker, value, used = found
            self.bind(taker, value)
            done |= used
        self.bare = {place: word for place, word in self.bare.items() if place not in done}

    def keyword(self, place: int, following: Mapping[int, int]) -> tuple[Taker, str, set[int]] | None:
        """Return what a word binds, the value, and the places of the words that are used; None where it binds none."""
        word, then = self.bare[place], following.get(place)
        name, sign, value = word.partition("=")
        if sign and value and name in self.words.by_name and not self.fits(word):  # `roll=++0-`
            return self.words.by_name[name], value, {place}
        taker = self.words.by_name.get(slug(word)) if word == word.lower() else None
        if taker is not None and taker.parameter is not None and taker.parameter.kind == "flag":
            return taker, "", {place}
        while then is not None and self.bare[then] in ARTICLES and following.get(then) == then + 1:
            then += 1
        if then is None or any(between not in self.bare for between in range(place, then)):
            return None  # what follows is an option
        used = set(range(place, then + 1))
        if taker is not None:
            fit = next(self.words.fit(taker, self.bare[then], self.inputs()), None)
            if fit is not None or not self.is_value(word):
                return taker, self.settled(place, then, fit) if fit is not None else self.bare[then], used
        if word not in (*PREPOSITIONS, *BESIDE) and word not in self.words.introduced:
            return None
        fits = self.introduced_fits(word, self.bare[then])
        values = [fit for fit in self.fits(word) if fit.how == NAMED]
        if not fits and not values:
            raise self.unknown(self.bare[then], behind=word)
        if not fits:
            return None
        if values or len(fits) > 1:
            several = [fit.taker.words(fit.value) for fit in fits]
            several += [(*fit.taker.words(fit.value), self.bare[then]) for fit in values]
            raise Unclear(self.all, place, then + 1, [Reading(" ".join(one), one) for one in several])
        return fits[0].taker, self.settled(place, then, fits[0]), used

    def settled(self, start: int, last: int, fit: Fit) -> str:
        """Return the value of a word.

        Raises:
            Unclear: it leaves something open.
        """
        if fit.asks:
            why = f"{fit.asks} {enumerated(one.text for one in fit.left)}"
            raise Unclear(self.all, start, last + 1, fit.left, why)
        if fit.left:
            raise Unclear(self.all, last, last + 1, fit.left)
        return fit.value

    def introduced_fits(self, word: str, value: str) -> list[Fit]:
        """Return the parameters that a preposition introduces and that can take the next word.

        The sentence of the action decides, else the kind; of several of one kind those that are required.
        """
        words, said = self.words, self.inputs()
        kinds = [
            [name for name, one in words.parameters.items() if one.kind == kind] for kind in PREPOSITIONS.get(word, ())
        ]
        beside = words.introduced_by(BESIDE[0]) if word in BESIDE else []
        for names in (words.introduced_by(word), *kinds, beside):
            found: list[Fit] = []
            for taker in (words.takers[name] for name in names):
                if self.is_open(taker):
                    its = list(words.fit(taker, value, said))
                    is_text = taker.parameter is not None and taker.parameter.kind in ("text", "tag")
                    found += its or ([Fit(taker, TEXT, value)] if is_text else [])
            if found:
                return [fit for fit in found if fit.taker.name in words.described.required] or found
        return []

    def is_value(self, word: str) -> bool:
        """Tell whether a word is the name of something that the action can take."""
        return any(fit.how == NAMED for fit in self.fits(word))

    def bind(self, taker: Taker, value: str) -> None:
        if not self.is_open(taker):
            raise UsageError(f"{named(taker.name)} is given twice, and takes one value", path=(taker.name,))
        self.bound.append((taker, value))
        if taker.parameter is not None:
            self.closed.add(taker.name)

    # All other words

    def bind_rest(self) -> None:
        """Bind the words that nothing introduces.

        Raises:
            Unclear: there are several ways to do so.
            UsageError: one fits nothing.
        """
        options = {place: found for place in sorted(self.bare) if (found := self.choices(place))}
        readings = self.readings(options)
        if options and not readings:
            last = self.bare[max(options)]
            raise UsageError(f"nothing is left that {last!r} could be for; {self.words.takes()}", reason="unknown")
        best = max(map(self.rank, readings), default=None)
        readings = [reading for reading in readings if self.rank(reading) == best]
        for place in options:
            meant = {reading[place].taker.name: reading[place] for reading in readings}
            if len(meant) > 1:
                several = [fit.taker.words(fit.value) for fit in meant.values()]
                raise Unclear(self.all, place, place + 1, [Reading(" ".join(one), one) for one in several])
        for place in options:
            fit = readings[0][place]
            self.bind(fit.taker, self.settled(place, place, fit))

    def choices(self, place: int) -> list[Fit]:
        """Return what one word may be for; by a known name alone where there is one, and nothing for a filler."""
        word = self.bare[place]
        found = self.fits(word)
        for how in (NAMED, NUMBER):
            if only := [one for one in found if one.how == how]:
                return only
        if word.lower() in FILLERS:
            return []
        # What could be a name that is misspelt is no text of its own.
        is_text = is_sentence(word) or (word != word.lower() and nearest(word, self.words.names()) is None)
        if not is_text or not found:
            raise self.unknown(word, is_text=is_text)
        return found

    def readings(self, options: Mapping[int, Sequence[Fit]]) -> list[dict[int, Fit]]:
        """Return all ways to give each word to what can take it, each once."""
        found: list[dict[int, Fit]] = [{}]
        for place, fits in options.items():
            found = [
                {**reading, place: fit}
                for reading in found
                for fit in fits
                if all(one.taker is not fit.taker for one in reading.values())
            ][:MOST_READINGS]
        return found

    def rank(self, reading: Mapping[int, Fit]) -> tuple[Any, ...]:
        """Return how good a reading is: required parameters, clear values, then numbers in the order of parameters."""
        words, fits = self.words, [reading[place] for place in sorted(reading)]
        required = [name for name in words.described.required if name in words.takers and name not in self.closed]
        names = [fit.taker.name for fit in fits]
        numbers = [fit.taker.name for fit in fits if fit.how == NUMBER]
        introduced = {name for some in words.introduced.values() for name in some}
        principal = {*words.described.required, *words.unmarked, *introduced}
        return (
            sum(name in names for name in required),
            -sum(bool(fit.left) for fit in fits),
            sum(name in principal for name in numbers),
            -sum(self.order[left] > self.order[right] for left, right in pairwise(numbers)),
            [-required.index(name) if name in required else -len(required) for name in names],
        )

    # Errors and the result

    def unknown(self, word: str, *, behind: str = "", is_text: bool = False) -> UsageError:
        """Return the error of an unknown word, with the nearest name."""
        who = self.words.character(word)
        if who is not None:
            return UsageError(
                f"{self.words.action} names no {who}; the actor comes first: {who} {self.words.action}",
                reason="unknown",
            )
        names = [*self.words.names()]
        near = nearest(slug(word), names)
        if slug(word) in names:  # a name, for which there is no place left
            said = self.inputs()
            takers = [one for one in self.words.takers.values() if any(self.words.fit(one, word, said))]
            given = " and ".join(f"{one.name} is already given" for one in takers if not self.is_open(one))
            hint = given or self.words.takes()
            return UsageError(
                f"{self.words.action}: nothing is left that {word!r} could be for; {hint}", reason="unknown"
            )
        where = f"{behind} {word}" if behind else word
        texts = [name for name in self.words.texts() if self.is_open(self.words.takers[name])]
        meant = option_for(f"--{slug(word)}", [f"--{name}" for name in self.words.parameters]).replace("--", "")
        if near is not None:
            hint = f"did you mean {near!r}?"
        elif meant:
            hint = meant
        elif behind in USING and (known := self.words.scope.rules.file.abilities):
            hint = f"there are {enumerated(known, word)}{own_ability(self.words.scope.rules)}"
        elif is_text and texts:
            hint = f"say what it is: {texts[0]} {word!r}" + (f", {texts[1]} {word!r}, ..." if len(texts) > 1 else "")
        else:
            hint = self.words.takes()
        return UsageError(f"{self.words.action}: unknown word {where!r}; {hint}", reason="unknown")

    def written(self) -> list[str]:
        """Return the line with options alone: those of the action in its order, amid what was typed as options."""
        place = {taker.name: self.order.get(taker.name, len(self.order)) for taker, _ in self.bound}
        bound = sorted(self.bound, key=lambda one: place[one[0].name])
        first = min(self.places, default=0)
        return [
            *(word for start, end in self.spans if start < first for word in self.all[start:end]),
            *(word for taker, value in bound for word in taker.words(value)),
            *(word for start, end in self.spans if start >= first for word in self.all[start:end]),
        ]


def lengthened(scope: Scope, action: str, words: Sequence[str]) -> list[str]:
    """Return a line behind an action with options in place of its bare words; what was typed as options stays.

    Raises:
        Unclear: it could mean several things.
        UsageError: a word is unknown.
    """
    typed = with_names(scope.rules, scope.state, words)
    if is_in_turns(scope.rules, action):
        typed = sided(scope.rules, scope.state, action, typed)
    line = Line(Words(scope, action), typed)
    options = [line.all[start].partition("=")[0] for start, _ in line.spans]
    if not line.bare:
        return typed
    if any(name not in scope.options for name in options if name != "--"):
        return list(words)  # an unknown option is reported where options are read
    line.bind_keywords()
    line.bind_rest()
    return line.written()
