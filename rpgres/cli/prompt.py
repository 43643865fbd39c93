"""Asking a person at a terminal. Whether an answer is possible is the table's to say; here it is only asked again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rpgres.cli.output import ask, flush, offering, say
from rpgres.cli.render.lines import Line, line
from rpgres.cli.render.results import event_lines, question_lines
from rpgres.cli.render.words import listed
from rpgres.engine.players import NO, Question, View
from rpgres.errors import UsageError
from rpgres.model.cards import meant

LET_BY = "pass"  # what an optional moment calls it to press Enter; taken when it is typed, too


class Person:
    """Whoever sits at this terminal, answering for every seat until the input ends.

    Args:
        heading: what stands above the first question.
        is_plain: whether questions are written without colours.
        is_kept: whether what was shown is kept by then, so that an interrupt only leaves the rest undecided.
        read: reads a line behind a sign that one is awaited; for tests.
    """

    def __init__(
        self,
        *,
        heading: Sequence[Line] = (),
        is_plain: bool = False,
        is_kept: bool = False,
        read: Callable[[str], str] = ask,
    ) -> None:
        self._is_plain = is_plain
        self._is_kept = is_kept
        self._read = read
        self._is_gone = False
        self.begin(heading)

    def begin(self, heading: Sequence[Line]) -> None:
        """Take note that another action begins.

        Args:
            heading: what stands above its first question.
        """
        self._heading = list(heading)
        self._shown = 0

    def ask(self, view: View, question: Question) -> str | None:
        """Return the answer typed, or None when it is left undecided; first shows what happened since last time."""
        if self._is_gone:
            return None
        try:
            return self._ask(view, question)
        except KeyboardInterrupt:
            if not self._is_kept:
                raise
            self._is_gone = True
            say([line()])
            return None

    def _ask(self, view: View, question: Question) -> str | None:
        events = [*view.forgotten, *view.events]
        shown = self._shown if self._shown <= len(events) else 0  # fewer than before: another action
        say(self._heading, is_plain=self._is_plain)
        self._heading = []
        say(event_lines(events[shown:], is_drawn=not self._is_plain), is_plain=self._is_plain)
        self._shown = len(events)
        while True:
            say(question_lines(question), is_plain=self._is_plain)
            answer = self._answer(question)
            if answer != "?":
                return answer

    def _answer(self, question: Question) -> str | None:
        """Return the option typed, None at the end of the input, or `?` when the question is to be shown again."""
        while True:
            flush()
            try:
                with offering([(option.name, option.text) for option in question.offered]):
                    typed = self._read("> ").strip()
            except EOFError:
                self._is_gone = True  # whoever ends the input answers nothing that is still to come
                say([line()])
                return None
            except UsageError as error:
                say([line(f"  {error.typed}")], is_plain=self._is_plain)
                continue
            found = matching(question, typed)
            # Where more can be typed than is listed, the beginning of something listed is an answer of its own.
            is_listed = typed.isdecimal() or typed in found or typed in ("", "0")
            if typed == "?" or (len(found) == 1 and (question.reads is None or is_listed)):
                return found[0] if found else typed
            fault = _unclear(question, typed, found)
            if question.reads is not None and typed:
                try:
                    return question.reads(typed)
                except UsageError as error:
                    if len(found) == 1:
                        return found[0]
                    fault = error.typed
            say([line(f"  {fault}")], is_plain=self._is_plain)


def matching(question: Question, typed: str) -> list[str]:
    """Return the answers that a typed text may mean: a number of the list, a name, the beginning of names.

    Nothing typed passes an optional moment.
    """
    names = [option.name for option in question.offered]
    if question.optional:
        if typed in ("", "0", NO) or (typed.lower() == LET_BY and not any(name.startswith(LET_BY) for name in names)):
            return [NO]
        names.append(NO)
    if typed.isascii() and typed.isdecimal():
        place = int(typed[:6]) - 1
        return [option.name for option in question.listed[place : place + 1]] if place >= 0 else []
    said = typed.lower()
    same = [name for name in names if name.lower() == said]
    if typed in names or len(same) == 1:
        return [typed] if typed in names else same
    return [name for name in names if said and name.lower().startswith(said)]


def _unclear(question: Question, typed: str, found: list[str]) -> str:
    if found:
        return f"{typed!r} could be {listed(found)}."
    cards = meant(typed, {option.name: (option.name,) for option in question.options})
    if cards:
        return f"Did you mean {listed(cards)}?"
    last = len(question.listed)
    offered = [f"1 to {last}" if last > 1 else "1", "a name"] if last else []
    wanted = " or ".join([*offered, *([question.form] if question.form else [])])
    passing = ", or press Enter to skip" if question.optional else ""
    return f"Type {wanted}{passing}; ? asks again, Ctrl-D leaves it unanswered."
