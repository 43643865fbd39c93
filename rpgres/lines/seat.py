"""A seat at a table: what it may know of the table now, and what its typed lines stand for."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from rpgres.dice import resembles_notation
from rpgres.dice.translation import describes_dice
from rpgres.engine.labels import labels_of
from rpgres.engine.periods import period_names
from rpgres.engine.records import Pending
from rpgres.engine.views import ANOTHER_SEAT
from rpgres.errors import RpgresError, UsageError, enumerated
from rpgres.journal.commands import Place, actor_of, state_at
from rpgres.journal.commands.pending import refuse_while_pending
from rpgres.journal.files import folders_of
from rpgres.journal.history import History
from rpgres.journal.replay import is_mid_procedure
from rpgres.journal.store import read
from rpgres.journal.views import waiting_seen
from rpgres.lines.fitting import BESIDE, Reading, Scope, Words, typed_apart, who_is_named, with_names
from rpgres.lines.options import ACT_OPTIONS
from rpgres.lines.people import is_in_turns, joining, led, names_settled, with_sides
from rpgres.lines.phrases import as_typed
from rpgres.lines.short import Unclear, lengthened
from rpgres.lines.usual import example_line, usual_values, value_example
from rpgres.lines.words import joined, split
from rpgres.model.state import GM, State, slug
from rpgres.plugins.loading import RulesetData, read_ruleset
from rpgres.rulesets import Rules, unknown
from rpgres.rulesets.sheets import sheet_names
from rpgres.text.harmless import harmless
from rpgres.toml.diagnostics import nearest

ODDS = "odds"
RATED = ("ability", "opposition")  # kinds of parameters that numbers, and names for them, are for
LEAVE = ("quit", "exit", "q")
SAVED = ("save", "store")
HINT = "`help` shows how lines are typed"

# What may be typed beside an action, and what it does; `Seat.told` puts examples of its table in the braces.
TABLE_COMMANDS: dict[str, str] = {
    "show": "the table as it is now",
    "status": "who has what, and what waits, in a line",
    "log": "all entries (log --last 5)",
    "odds": "exact odds of an action here: odds {action}",
    "answer": "answer the pending decision",
    "pass": "skip optional decisions: pass {label} --until {period}",
    "real": "ask for the results of real dice and cards: real all, real {who}, real off",
    "orders": "decide in advance: orders set brave.toml, or orders set sensible; orders show; orders clear",
    "seal": "commit to an answer without showing it: seal --choose declare=... --out sealed.json",
    "open": "reveal a sealed answer: open --from sealed.json",
    "begin": "begin a period: begin {periods}",
    "end": "end the period that began last, or the procedure under way: end {procedure}",
    "undo": "undo the last action, or an entry and everything after it: undo 12",
    "redo": "do again what was undone last",
    "set": "change a value: set {value}",
    "note": "add a note: note The rain stops.",
    "join": "add a character: join {sheet}",
}
# Commands of `rpgres table` that `help` does not list, and the option that a bare word behind a command stands for.
OTHERS = ("export", "reveal", "verify", "view")
BARE = {"log": "--last", "join": "--sheet", "export": "--out", "view": "--out"}

Asks = Callable[
    [str, Sequence[Reading]], Reading | None
]  # puts a choice to a person; None where no person can be asked


class Understood(msgspec.Struct, frozen=True):
    """What a typed line stands for.

    Attributes:
        arguments: those of `rpgres table`, or of `rpgres help` behind `help`.
        long: the same line with options in place of bare words; empty where nothing was shortened.
        joins: who is not at the table yet, and joins it by a sheet.
    """

    arguments: list[str]
    long: str = ""
    joins: tuple[str, ...] = ()


class Seat:
    """A seat at a table, and what it may know.

    Args:
        path: the table's file.
        name: the seat: gm, or a character's name; None for the host.
        folders: further folders with rulesets.
    """

    def __init__(self, path: Path, name: str | None, folders: Sequence[Path] = ()) -> None:
        self.path, self.name, self.folders = path, name, tuple(folders)
        self.place = Place(path, self.folders)
        self.history = read(path)
        new = self.history.new
        self.data: RulesetData = read_ruleset(new.public.ruleset, extra=folders_of(self.history, self.folders))
        self.rules: Rules = self.data.without_code().with_switches(new.public.switches)
        self._kept: tuple[str, State] | None = None  # the head and the state of which `_now` is

    def look(self) -> History:
        """Return the journal as it is now."""
        self.history = read(self.path)
        return self.history

    @property
    def state(self) -> State:
        """The table as the seat may see it; in the middle of a procedure as its finished turns left it."""
        at = (self.history.head.hash, self.history.state)
        if self._kept != at:
            self._kept, self._now = at, self.history.state
            with suppress(RpgresError):  # the rules have changed: what is typed next tells of it
                self._now = state_at(self.history, folders=self.folders)
        return self._now.seen_by(self.name)

    @property
    def waits(self) -> Pending | None:
        """The decision that is pending, as the seat may see it; None when there is none."""
        return waiting_seen(self.history, self.name)

    @property
    def can_answer(self) -> bool:
        """Whether a decision is pending that this seat may take."""
        waits = self.waits
        return waits is not None and self.name in (None, self.history.state.seat_of(waits.question.who))

    @property
    def actions(self) -> dict[str, str]:
        """The actions, with what each does in a line."""
        return {name: action.summary for name, action in self.data.file.actions.items()}

    @property
    def periods(self) -> list[str]:
        """What can begin and end under the ruleset."""
        return period_names(self.rules)

    def commands(self) -> dict[str, str]:
        """Return what may be typed beside actions and can be done here, with what it does."""
        history, waits = self.history, self.waits
        is_asked = waits is not None and (self.can_answer or waits.question.who not in (ANOTHER_SEAT, GM))
        can_turn = self.name in (None, GM)
        players = [name for name in self.state.characters if self.state.seat_of(name) != GM]
        possible = {
            "answer": is_asked,
            "seal": is_asked and len(players) > 1,  # else no other player is there to hide it from
            "open": bool(history.stands.seals),
            "begin": can_turn and waits is None and bool(self.periods),
            "end": can_turn and (bool(self.state.periods) if waits is None else is_mid_procedure(history)),
            "undo": len(history.entries) > 1,
            "redo": bool(history.to_redo()),
            "set": can_turn and waits is None,
        }
        return {name: text for name, text in self.told().items() if possible.get(name, True)}

    def told(self) -> dict[str, str]:
        """Return what may be typed beside actions, with what it does and an example of this table."""
        who, people = next(iter(self.own()), ""), self.state.characters
        action = next(iter(self.actions), "ACTION")
        procedures = [name for name, one in self.data.file.actions.items() if one.procedure]
        labels = [name for name, label in self.rules.file.labels.items() if label.optional]
        sheets = [name for name in sheet_names(self.rules) if name not in people]
        examples = {
            "action": example_line(Words(self.scope(who, self.takes(action)), action)) if self.actions else action,
            "label": next(iter(labels), "LABEL"),
            "period": next(iter(self.periods), "always"),
            "periods": "|".join(self.periods) or "PERIOD",
            "procedure": next(iter([*procedures, *self.periods]), "PERIOD"),
            "who": who or "NAME",
            "value": value_example(self.rules, self.state, self.own()),
            "sheet": next(iter(sheets), "SHEET"),
        }
        return {name: text.format(**examples) for name, text in TABLE_COMMANDS.items()}

    def own(self) -> list[str]:
        """Return the characters that may act for the seat, the seat's own first."""
        state = self.history.state
        mine = [name for name in state.characters if self.name in (None, state.seat_of(name))]
        return [*mine, *(name for name in state.characters if self.name == GM and name not in mine)]

    def takes(self, action: str, verb: str = "act") -> Mapping[str, bool]:
        """Return whether each option of an action here takes a value, by its name as typed.

        Args:
            verb: what is done with it: `act`, or its `odds`.
        """
        inputs = self.rules.parameters(action).items()
        own = {f"--{key}": one.kind != "flag" for name, one in inputs for key in (name, *one.aliases)}
        return {name: not one.is_flag for one in ACT_OPTIONS for name in one.names} | own

    def expanded(self, words: Sequence[str]) -> list[str]:
        """Return a line in which an alias of the person who typed it is replaced by what it stands for."""
        return list(words)

    def scope(self, actor: str, takes: Mapping[str, bool]) -> Scope:
        """Return what may be named on a line of an action."""
        return Scope(self.rules, self.state, actor, takes, is_seated=True)

    def named_first(self, words: Sequence[str]) -> tuple[str, list[str]]:
        """Return the actor that a line begins with, empty for none, and the rest of the line."""
        first, rest = words[0], list(words[1:])
        if first.endswith(":") and rest:
            return who_is_named(self.rules, self.state, first[:-1]) or first[:-1], rest
        if rest and first not in self.actions and first not in TABLE_COMMANDS:
            who = who_is_named(self.rules, self.state, first)
            if who in self.state.characters:
                return str(who), rest
        return "", list(words)

    def unaliased(self, words: Sequence[str]) -> list[str]:
        """Return a line in which an alias is replaced by what it stands for here; no action and no command is one."""
        words = with_sides(self.rules, self.state, with_names(self.rules, self.state, words))
        actor, (first, *rest) = self.named_first(words)
        if first in self.actions or first in (*TABLE_COMMANDS, *OTHERS, *LEAVE, "help"):
            return list(words)
        found = self.expanded([first, *rest])
        return [f"{actor}:", *found] if actor else found

    def typed(self, words: Sequence[str]) -> list[str]:
        """Return a line in the form that commands have, where it is a phrase for one."""
        words = _in_shell(with_names(self.rules, self.state, words), self.actions)
        found = as_typed(words, [*self.actions], self.state, is_line=self.is_line(words))
        if found[0] == ODDS and len(found) > 1:  # of what is said as it is said alone
            action = self.typed(found[1:])
            if self.named_first(action)[1][0] in self.actions:
                return [ODDS, *action]
        return found

    def is_line(self, words: Sequence[str]) -> bool:
        """Tell whether a line that is typed at a question is no answer, but a command or an action."""
        actor, (first, *_) = self.named_first(self.unaliased(words))
        return first in self.actions or (not actor and first in ("help", *TABLE_COMMANDS, *OTHERS))

    def understood(self, words: Sequence[str], asks: Asks) -> Understood:
        """Return what a line stands for.

        Args:
            asks: puts what is unclear to the person who typed it.

        Raises:
            UsageError: it is unknown here, or unclear and no answer makes it clear.
        """
        if words[0] == "help" and len(words) > 1:
            topic = words[1]
            if topic in self.actions:
                return Understood(["act", topic, "--help"])
            return Understood([topic, "--help"] if topic in (*TABLE_COMMANDS, *OTHERS) else ["help", *words[1:]])
        words = self.unaliased(words)
        actor, (first, *rest) = self.named_first(words)
        if first == "roll" and rest:
            if not _is_ability(self, rest[0]):
                return Understood(["roll", *rest])  # dice outside the table
            first, *rest = rest
        if _is_ability(self, first):
            return self._act(actor, self._what_with(actor, first, asks), [first, *rest], asks)
        if first == "begin" and not actor and self._is_played(rest, asks):
            first, *rest = rest
        if first in self.actions:
            return self._act(actor, first, rest, asks)
        if not actor and words in ([ODDS], ["why"]):
            raise UsageError(
                f"no question is open that {first!r} would be about; `{ODDS} ACTION ...` evaluates an action"
            )
        if not actor and words == [first] and first.isdecimal():  # an answer, and no dice
            if self.can_answer:
                raise UsageError(f"a question is open to you: `answer` puts it, then type {first}")
            raise UsageError(f"no question is open to you that {first} would answer; `roll {first}` rolls it as dice")
        if not actor and resembles_notation(first):
            return Understood(["roll", *words])
        if first == ODDS and rest and not actor:
            actor, (action, *more) = self.named_first(rest)
            if action in self.actions:
                return self._act(actor, action, more, asks, verb=ODDS)
            if not action.startswith("-"):
                raise self._unknown(actor, action, rest)
        if first in (*TABLE_COMMANDS, *OTHERS) and not actor:
            is_bare = first in BARE and [word.startswith("-") for word in rest[:2]] in ([False], [False, True])
            return Understood([first, *([BARE[first]] if is_bare else []), *rest])
        if not actor and describes_dice(" ".join(words)):
            return Understood(["roll", *words])  # which tells how these are written here
        error = self._unknown(actor, first, words)
        near = nearest(first, self.actions)
        meant = f"Did you mean {near!r}, or which one?" if near else "Which one is meant?"
        names = sorted(self.actions, key=lambda name: name != near)  # the near one first
        text = f"{harmless(first)!r} is no action here. {meant}"
        found = asks(text, [Reading(name, (name,)) for name in names]) if actor else None
        if found is None:
            raise error
        return self._act(actor, found.text, rest if found.text == near else [], asks)  # which asks for what it takes

    def _what_with(self, actor: str, ability: str, asks: Asks) -> str:
        """Return the action that a line means that names an ability alone."""
        able = [
            name
            for name, action in self.data.file.actions.items()
            if any(self.rules.parameters(name)[one].kind == "ability" for one in action.required)
        ]
        text = f"What is done with {ability}?"
        found = asks(text, [Reading(name, (name,)) for name in able]) if able else None
        if found is None:
            example = f"{actor or next(iter(self.own()), 'NAME')} {(able or [*self.actions])[0]} {ability}"
            raise UsageError(f"{text} Type an action before it, as in `{example}`: {enumerated(able)}")
        return found.text

    def _unknown(self, actor: str, first: str, words: Sequence[str]) -> UsageError:
        """Return the error of an unknown line, with what can be typed instead."""
        if slug(first) in SAVED:
            return UsageError("everything is kept as it is done: there is nothing to save; `quit` leaves")
        said = slug(" ".join(words))
        for who in self.state.characters.values():
            for counter, number in who.counters.items():
                is_said = f"-{counter.removesuffix('s')}-" in f"-{said}-".replace("s-", "-")
                if is_said and (slug(who.name) in said or len(self.own()) == 1):
                    path = f"{who.name}.{counter}"
                    how = f"numbers are changed with `set {path}={number}`"
                    if self.name not in (None, GM):
                        how = f"actions change {counter}; ask the game master to change it otherwise"
                    return UsageError(f"{how} (it is {number} now)")
        asking = [name for name in self.actions if first.removesuffix("s") in labels_of(self.rules, name)]
        if asking:
            named = enumerated(asking)
            return UsageError(f"{harmless(first)!r} is asked in the middle of an action, and answered there: {named}")
        if actor:
            return _hinted(unknown("action", first, self.actions, of=f"the ruleset {self.rules.id}"))
        self.state.meant(first)  # which refuses a title of several
        known = [*self.actions, *TABLE_COMMANDS, *OTHERS, *self.state.characters, *LEAVE[:1], "help"]
        return _hinted(unknown("action or command", first, known, of="this table"))

    def _is_played(self, words: Sequence[str], asks: Asks) -> bool:
        """Tell whether `begin` means an action in turns; a conflict is a period, too, which may be played freely."""
        if not words or not is_in_turns(self.rules, words[0]) or words[1:2] == ["--help"]:
            return False
        if words[0] not in self.periods:
            return True
        if any(not word.startswith("-") for word in words[1:]):
            return True
        freely = Reading(f"every action is typed as it comes, until `end {words[0]}`", ())
        played = Reading("it is played turn by turn, and asks each side what it does", ())
        return len(words) == 1 and asks(f"How is the {words[0]} played?", [freely, played]) is played

    def _act(self, actor: str, action: str, words: list[str], asks: Asks, verb: str = "act") -> Understood:
        if "--help" in words or "-h" in words:
            return Understood([verb, action, "--help"])
        if verb == "act":  # before anything is asked that could not be done
            refuse_while_pending(self.history, verb, self.name)
        if not actor and not _has(words, "actor"):
            players = [name for name in self.own() if self.state.seat_of(name) != GM]
            actor, words = led(self.rules, self.state, players, action, words, asks)
        takes, line, is_asked = self.takes(action, verb), words, False
        who = self._actor(actor, action, words, asks)
        known = Words(self.scope(who, takes), action)
        sheets: set[str] = set()  # that are meant, though a character at the table has nearly the same name
        while True:
            try:
                there = names_settled(known, line, sheets, asks)
                line, is_asked = there, is_asked or there != line
                long = lengthened(known.scope, action, line)
                options = [long[start].partition("=")[0] for start, _ in typed_apart(long, takes)[1]]
                is_known = all(name in takes for name in options if name != "--")
                # Odds are shown at every rung; an unknown option is reported by the command.
                more = self._missing(who, action, long, asks) if verb != ODDS and is_known else []
                if not more:
                    break
                end = line.index("--") if "--" in line else len(line)  # what stands behind is taken as it is
                line, is_asked = [*line[:end], *more, *line[end:]], True
            except Unclear as unclear:
                reading = asks(unclear.typed, unclear.readings)
                if reading is None:
                    raise
                line, is_asked = unclear.chosen(reading), True
        more = self._beside(who, action, long, asks) if verb != ODDS else []
        is_short = is_asked or bool(more) or bool(typed_apart(words, takes)[0])
        end = long.index("--") if "--" in long else len(long)
        acting = ["--actor", who] if who and not _has(words, "actor") else []
        arguments = [verb, action, *long[:end], *more, *acting, *long[end:]]
        shown = joined([*([ODDS] if verb == ODDS else []), *([who] if who else []), action, *long, *more])
        joins = joining(known, [*long, *more]) if verb != ODDS else []
        return Understood(arguments, harmless(shown) if is_short else "", tuple(map(harmless, joins)))

    def _actor(self, actor: str, action: str, words: Sequence[str], asks: Asks) -> str:
        """Return the actor: the one named first, or the only possible one; empty where an option names one."""
        if actor or _has(words, "actor"):
            return actor
        try:
            return actor_of(self.history, "", self.name, is_anybody=self.data.file.actions[action].anybody)
        except UsageError:
            able = self.own()
            players = [name for name in able if self.state.seat_of(name) != GM]
            named = {who_is_named(self.rules, self.state, word) for word in words}
            left = [name for name in players if name not in named]
            if self.data.file.actions[action].procedure and any(named) and len(left) == 1:
                return left[0]  # the others are named beside, or against, the actor
            if len(able) < 2:
                raise
            found = asks("Who acts?", [Reading(name, (name,)) for name in able])
            if found is None:
                who = players[0] if players else able[0]
                raise UsageError(f"the actor comes first, as in `{who} {action}`: {enumerated(able)}") from None
            return found.text

    def _missing(self, who: str, action: str, long: Sequence[str], asks: Asks) -> list[str]:
        """Return what a person adds of the first parameter that is missing; nothing where none is."""
        for name in self.data.file.actions[action].required:
            parameter = self.rules.parameters(action)[name]
            if any(_has(long, one) for one in (name, *parameter.aliases)):
                continue
            words, fault = Words(self.scope(who, self.takes(action)), action), ""
            usual = [value for value, _ in usual_values(words, words.takers[name])]
            number = ["or a number"] if usual and parameter.kind in RATED else []
            usually = ", ".join(filter(None, [enumerated(usual, none=""), *number])) or parameter.help
            while (found := asks(f"{fault}{action}: {name}? ({usually})", ())) is not None:
                if parameter.kind not in RATED:
                    return [f"--{name}={found.text}"]
                typed = with_names(self.rules, self.state, split(found.text))
                if any(words.fit(words.takers[name], typed[0], {})):
                    return [name, *typed]  # which may leave something open
                fault = f"{harmless(found.text)!r} does not fit; Enter leaves it. "
            hint = f"`help {action}` shows a line that works here"
            raise UsageError(f"{action} needs `{name}`: {parameter.help}; {hint}")
        return []

    def _beside(self, who: str, action: str, line: Sequence[str], asks: Asks) -> list[str]:
        """Return who stands beside the actor of a procedure, of the players' characters that the line does not name."""
        words = Words(self.scope(who, self.takes(action)), action)
        names = words.introduced_by(BESIDE[0])
        if not self.data.file.actions[action].procedure or not names or any(_has(line, name) for name in names):
            return []
        said, added = {word.partition("=")[2] or word for word in line}, list[str]()
        left = [one for one in self.state.characters if one not in {who, *said} and self.state.seat_of(one) != GM]
        while left:
            text = f"{action}: {names[0]}? ({words.parameters[names[0]].help}; Enter: nobody{' else' if added else ''})"
            found = asks(text, [Reading(one, (one,)) for one in left])
            if found is None:
                break
            left.remove(found.text)
            added.append(f"--{names[0]}={found.text}")
        return added


def _is_ability(seat: Seat, word: str) -> bool:
    names = {name for one in seat.state.characters.values() for name in one.abilities}
    return slug(word) in {*names, *seat.rules.file.abilities} and word not in (*seat.actions, *TABLE_COMMANDS)


def _hinted(message: str) -> UsageError:
    return UsageError(f"{message}{'' if message.endswith('?') else ';'} {HINT}")


def _in_shell(words: Sequence[str], actions: Container[str]) -> Sequence[str]:
    """Return a line without the words before it that only a shell needs: `rpgres table verify`."""
    left = list(words[1:] if words[0] == "rpgres" else words)
    left = left[1:] if left[:1] == ["table"] else left
    if left[:1] == ["act"] and "act" not in actions and left[1:2] and left[1] in actions:
        return left[1:]
    return left if left and (left[0] in (ODDS, *TABLE_COMMANDS, *OTHERS) or left[0] in actions) else words


def _has(words: Sequence[str], option: str) -> bool:
    return any(word == f"--{option}" or word.startswith(f"--{option}=") for word in words)
