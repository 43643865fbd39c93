"""Asking a person at a terminal. The table decides whether an answer is possible; here the question is only repeated.

Beside an answer, a person may type `?`, `odds`, `why`, `pass` and `undo` at any question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rpgres.cli.asking.terminal import ask, carry_out, offering
from rpgres.cli.output import READER, flush, say, worded
from rpgres.cli.streams import columns
from rpgres.engine.events import Turned
from rpgres.engine.players import NO, Question, View
from rpgres.engine.stops import NeedsAnswer, PassesOn, PutAgain, SaysInAdvance, TakenBack
from rpgres.errors import RpgresError, UsageError
from rpgres.lines.questions import ODDS, SKIP, WHY, matching, odds_aside, why_aside
from rpgres.lines.words import split
from rpgres.model.cards import meant
from rpgres.render.lines import Line, line
from rpgres.render.questions import LIST, keyed, question_lines
from rpgres.render.results import event_lines
from rpgres.render.words import listed

if TYPE_CHECKING:
    from rpgres.engine.prepare import Prepared
    from rpgres.rulesets import RulesetFile

WIDEST = 120  # columns of a question in one line, at most
FEW = 2  # lines of a question that is repeated in full
HELP = "help"  # likewise, where no table says more
UNDO = "undo"
ASIDES = ((ODDS, "the chances of each option"), (WHY, "the rule"), (UNDO, "take back the last answer"))
ACTION, ALWAYS = "action", "always"  # how long decisions are skipped: for this action, or until that is undone

Aid = Callable[[View], "Prepared"]  # returns the action that is under way, as the seat of a view knows the table


class Person:
    """The person at this terminal, who answers for every seat until the input ends.

    Args:
        heading: what stands above the first question.
        is_kept: whether what was shown is kept by then, so that an interrupt only leaves the rest undecided, and what
            was answered is undone in the journal.
        may_withdraw: whether the action itself can be taken back, and not only what was answered in it.
        aid: what `odds` and `why` need to know; None where they are not to be had.
        file: returns the ruleset's data, for the words of what turns have changed; None where there are none.
        read: reads a line behind a sign that one is awaited; for tests.

    Attributes:
        is_interrupted: whether a run that keeps nothing was interrupted at a question, where it then stops.
    """

    def __init__(
        self,
        *,
        heading: Sequence[Line] = (),
        is_kept: bool = False,
        may_withdraw: bool = True,
        aid: Aid | None = None,
        file: Callable[[], RulesetFile] | None = None,
        read: Callable[[str], str] = ask,
    ) -> None:
        self._is_kept = is_kept
        self._may_withdraw = may_withdraw
        self._read = read
        self._file = file
        self._has_ended = self.is_interrupted = False
        self._asides: dict[str, Callable[[View, Question], list[Line]]] = {
            LIST: lambda _view, question: question_lines(question),
            ODDS: self._odds,
            WHY: lambda view, question: why_aside(self._prepared(view), question),
        }
        self._passes = set[tuple[str, str]]()  # seat and label of optional decisions that are skipped from now on
        self.begin(heading, aid=aid)

    def begin(self, heading: Sequence[Line], *, aid: Aid | None = None) -> None:
        """Take note that another action begins.

        Args:
            aid: what `odds` and `why` need to know of it.
        """
        self._heading = list(heading)
        self._aid = aid
        self._told = list[object]()  # what happened, as far as it was shown
        self._asked_last: tuple[object, ...] = ()  # who, by what label, and what could be typed
        self._answers = list[str | None]()  # of this action
        self._passing = set[tuple[str, str]]()  # the same, until the action is over
        self._advance = dict[tuple[str, str], tuple[str, int]]()  # by who and label: what, and behind how many answers
        self._again = list[str | None]()  # those that a run gets once more after one was taken back

    def ask(self, view: View, question: Question) -> str | None:
        """Return the answer typed, or None when it is left undecided; first shows what happened since last time."""
        if not self._is_kept and question.label in self._in_advance(view).values():
            said, count = self._advance.get((question.who, question.label), ("", len(self._answers)))
            return said if count < len(self._answers) else None
        if self._again:
            answer = self._again.pop(0)
        elif self._has_ended:
            self._leave(question)
            return None
        elif question.optional and {(view.seat, question.label), (view.seat, "")} & (self._passes | self._passing):
            answer = NO
        else:
            answer = self._asked(view, question)
        self._answers.append(answer)
        return answer

    def _leave(self, question: Question) -> None:
        """Leave a question without an answer; an interrupt skips none, not even one that is optional."""
        if self.is_interrupted and not question.is_naming:
            raise NeedsAnswer(question)

    def rewind(self) -> bool:
        """Forget the last answer of this action, so that a new run of it is answered up to there; False without one.

        Decisions that were to be skipped are asked again.
        """
        self._passes.clear()
        self._passing.clear()
        if not self._answers:
            return False
        self._answers.pop()
        self._advance = {asked: count for asked, count in self._advance.items() if count[1] < len(self._answers)}
        self._again, self._answers, self._told = self._answers, [], []
        return True

    def _asked(self, view: View, question: Question) -> str | None:
        try:
            return self._ask(view, question)
        except KeyboardInterrupt:
            self._has_ended, self.is_interrupted = True, not self._is_kept
            say([line()])
            self._leave(question)
            return None

    def _ask(self, view: View, question: Question) -> str | None:
        # A skipped decision is not shown, and may be noted later than it was.
        events = [one for one in (*view.forgotten, *view.events) if getattr(one, "answer", "") != NO]
        shown = len(self._told)
        if shown > len(events):  # after an answer that was taken back, all is there still; else it is another action
            shown = len(events) if events == self._told[: len(events)] else 0
        say(self._heading)
        self._heading = []
        has_turns = any(isinstance(one, Turned) for one in events[shown:])
        file = self._file() if has_turns and self._file is not None else None
        say(event_lines(events[shown:], file))
        self._told = events
        width = columns(at_most=WIDEST)
        # What was listed just before is not listed again, where it takes many lines or is read aloud; `?` does.
        asked, self._asked_last = self._asked_last, (question.who, question.label, tuple(keyed(question).items()))
        rows = question_lines(question, width=width)
        is_long = len(rows) > FEW or READER.is_plain
        again = question_lines(question, width=width, is_again=True) if is_long else rows
        say(again if asked == self._asked_last else rows)
        while True:
            answer = self._answer(view, question)
            if answer is None or isinstance(answer, str):
                return answer
            done = self._do(answer, view, question) if answer else None
            if done is not None:
                return done
            if answer != [LIST]:
                say(again)

    def _answer(self, view: View, question: Question) -> str | list[str] | None:
        """Return the option typed, None at the end of the input, or the words of what is to be done before; [] for
        what is done already.
        """
        while True:
            flush()
            try:
                with offering([*((option.name, option.text) for option in question.offered), *ASIDES]):
                    typed = self._read("> ").strip()
            except EOFError:
                self._has_ended = True  # nothing that is still to come is answered either
                say([line()])
                return None
            except UsageError as error:
                self._tell(worded(error.raw))
                continue
            found = matching(question, typed)
            words = _words(typed)
            if words and typed not in [option.name for option in question.offered] and not (found and typed == SKIP):
                return words
            if not found and (label := self._in_advance(view).get(typed.lower())):
                self._say_in_advance(label, typed.lower(), question.who)
                return []
            if not found and (question.reads is None or " " not in typed) and self._carries_out(typed):
                return []
            if typed.lower() == HELP and not found:
                return [LIST]
            # Where more can be typed than is listed, the beginning of something listed is an answer of its own.
            is_listed = typed.isdecimal() or typed in found or typed in ("", "0")
            if len(found) == 1 and (question.reads is None or is_listed):
                return found[0]
            fault = _unclear(question, typed, found)
            if question.reads is not None and typed:
                try:
                    return question.reads(typed)
                except UsageError as error:
                    if len(found) == 1:
                        return found[0]
                    if not question.is_naming and self._carries_out(typed):
                        return []
                    fault = worded(error.raw)
            self._tell(fault)

    # -- what may be typed in place of an answer

    def _in_advance(self, view: View) -> dict[str, str]:
        """Return the answers that people give only in advance, with the labels of their decisions in this action."""
        if self._file is None:
            return {}
        file = self._file()
        asked = file.actions[self._aid(view).action].labels if self._aid is not None else file.labels
        own = {label: file.labels[label] for label in asked if label in file.labels}
        return {answer: label for label, one in own.items() if one.in_advance for answer in one.options}

    def _say_in_advance(self, label: str, answer: str, who: str) -> None:
        self._tell(f"{who} will {answer} as soon as the rules allow it. Answer this question first.")
        if self._is_kept:
            raise SaysInAdvance(label, answer, who)
        self._advance[who, label] = answer, len(self._answers)

    def _carries_out(self, typed: str) -> bool:
        """Carry out a command of the table, where it is one."""
        has_changed = carry_out(typed)
        if has_changed:
            self._asked_last = ()
            raise PutAgain(typed)
        return has_changed is not None

    def _do(self, words: Sequence[str], view: View, question: Question) -> str | None:
        """Do what was typed, and return the answer; an error is printed, and the question stays."""
        try:
            if words[0] == SKIP:
                return self._pass_on(words[1:], view, question)
            if words == [UNDO]:
                self._carries_out(UNDO)
                if not (self._may_withdraw or self._answers):
                    raise UsageError("nothing was decided in this step so far")
                raise TakenBack(question.label)
            say(self._asides[words[0]](view, question))
        except RpgresError as error:
            self._tell(worded(error.raw))
        except KeyboardInterrupt:
            self._tell("interrupted")
        return None

    def _odds(self, view: View, question: Question) -> list[Line]:
        from rpgres.cli.progress import progress

        return odds_aside(self._prepared(view), view, question, progress("odds of each option"))

    def _prepared(self, view: View) -> Prepared:
        if self._aid is None:
            raise UsageError("that is not known here")
        return self._aid(view)

    def _pass_on(self, words: Sequence[str], view: View, question: Question) -> str:
        """Skip optional decisions from now on, this one too: `pass always`, `pass invoke --until scene`."""
        rest = [word for word in words if word not in ("--until", "until")]
        label = next((word for word in rest if word in (question.label, "all")), question.label)
        spans = [word for word in rest if word != label] or [ACTION]
        if not question.optional:
            raise UsageError("this decision has to be made, and cannot be skipped")
        if len(spans) > 1:
            raise UsageError(f"type `{SKIP}`, `{SKIP} {ALWAYS}` or `{SKIP} {question.label} --until scene`")
        label = "" if label == "all" else label
        if self._is_kept:
            raise PassesOn(label, view.seat, spans[0])
        if spans[0] not in (ACTION, ALWAYS):
            raise UsageError(f"without a table there is no {spans[0]!r}: type `{SKIP} {ALWAYS}`")
        (self._passes if spans[0] == ALWAYS else self._passing).add((view.seat, label))
        return NO

    def _tell(self, text: str) -> None:
        say([line(f"  {text}")])


def _words(typed: str) -> list[str]:
    """Return the words of what is to be done in place of an answer; none where it is an answer."""
    try:
        words = split(typed)
    except UsageError:
        return []
    is_it = words in ([LIST], [ODDS], [WHY], [UNDO]) or (words[:1] == [SKIP])
    return words if is_it else []


def _unclear(question: Question, typed: str, found: list[str]) -> str:
    if found:
        return f"{typed!r} could be {listed(found)}."
    cards = meant(typed, {option.name: (option.name,) for option in question.options})
    if cards:
        return f"Did you mean {listed(cards)}?"
    last = sum(key.isdecimal() for key in keyed(question))
    offered = [f"1 to {last}" if last > 1 else "1", "a name"] if last else []
    wanted = " or ".join([*offered, *([question.form] if question.form else [])])
    passing = ", or press Enter to skip" if question.optional else ""
    none = f"{typed!r} is not offered. " if typed else ""
    return (
        f"{none}Type {wanted}{passing}; {LIST} lists the options; {ODDS}, {WHY}, {UNDO}; Ctrl-D leaves it unanswered."
    )
