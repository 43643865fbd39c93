"""Playing by post: what a player elsewhere writes from a view, and how the host takes what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from rpgres.cli.asking.terminal import ask, can_prompt
from rpgres.cli.commands.table.common import finish_run, say_entry
from rpgres.cli.options import exclusive
from rpgres.cli.output import flush, say, say_text, warn
from rpgres.cli.shell import join_line
from rpgres.cli.streams import is_terminal
from rpgres.cli.tables import TableOptions
from rpgres.errors import FileError, PluginError, UsageError, called, named
from rpgres.journal.commands import fresh_salt, sort_posted, take
from rpgres.journal.commands.writing import rules_in
from rpgres.journal.commitments import SealFile
from rpgres.journal.elsewhere import answer_for, seal_for, unchecked
from rpgres.journal.exchange import kept_seal, read_posted, read_view, write_json
from rpgres.journal.forms import AnswerFile, ViewRecord
from rpgres.journal.keys import is_authentic, with_mac
from rpgres.journal.lines import OpenLine, Posted, SealLine, answer_line, has_line, open_line, seal_line, typed_in
from rpgres.render.lines import line
from rpgres.text.harmless import in_line

if TYPE_CHECKING:
    from rpgres.engine.dealers import Hand
    from rpgres.rulesets import Rules


def view_in(file: str, options: TableOptions) -> ViewRecord:
    """Return a view from a file, whose seat is known.

    Raises:
        UsageError: it is another seat's.
        FileError: it is no view.
    """
    if options.table is not None:
        raise exclusive("view", "table")
    found = read_view(file)
    if options.seat not in (None, found.seat):
        raise UsageError(f"{file} is a view of {found.seat}, not of {options.seat}")
    return found


def answer_words(file: str, view: ViewRecord) -> str:
    """Return the command line with which a player answers a view, up to the answer; nothing where it asks nothing."""
    pending = view.table.pending
    if pending is None or not pending.question.label:
        return ""
    return f"{join_line(['rpgres', 'table', 'answer', '--view', file])} --choose {pending.question.typed}=..."


def _rules_for(view: ViewRecord, options: TableOptions) -> Rules | None:
    """Return the rules to check an answer by; None where they are not installed."""
    try:
        return rules_in(view.table.ruleset, view.table.switches, options.folders)
    except (UsageError, PluginError, FileError) as error:
        warn(f"the answer is checked only by the options of the view: {error.message}")
        return None


def _tell_unchecked(rules: Rules | None, view: ViewRecord, choose: Mapping[str, Sequence[str]]) -> None:
    if found := unchecked(rules, view, choose):
        warn(f"not checked here: {', '.join(found)}; the table will check {'it' if len(found) == 1 else 'them'}")


def write_answer(
    file: str,
    out: str | None,
    options: TableOptions,
    *,
    choices: dict[str, list[str]],
    given: dict[str, list[str]],
    is_forced: bool,
) -> None:
    """Check an answer to a view, and print it as a line to send, or write it to a file."""
    view = view_in(file, options)
    if not choices:
        raise UsageError(f"choose an option: {answer_words(file, view) or named('choose') + ' LABEL=OPTION'}")
    rules = _rules_for(view, options)
    answer = answer_for(rules, view, choose=choices, given=given)
    _tell_unchecked(rules, view, choices)
    if out is None:
        _hand_over(answer_line(answer))
        return

    path = write_json(Path(out), answer, is_forced=is_forced)
    taken = join_line(["rpgres", "table", "answer", "--from", str(path)])
    say([line(f"{path}: written; the host imports it with: {taken}")])


def _hand_over(text: str) -> None:
    """Print a line for a mail; what to do with it goes to standard error, so that a pipe gets the line alone."""
    say_text(("Send this line to the host of the table:\n" if is_terminal() else "") + f"{text}\n")


def file_of(seal: SealFile, out: str | None) -> Path:
    """Return the file for a sealed answer: the one that was named, or where such are kept."""
    return Path(out) if out is not None else kept_seal(seal.commitment)


def seal_elsewhere(file: str, out: str | None, options: TableOptions, *, label: str, answer: str) -> None:
    """Write a sealed answer for its owner, and print the line with its commitment for the host."""
    view = view_in(file, options)
    rules = _rules_for(view, options)
    made = seal_for(rules, view, label, answer, salt=fresh_salt())
    _tell_unchecked(rules, view, {label: [answer]})
    write_json(file_of(made, out), made)
    _hand_over(seal_line(with_mac(SealLine(made.seat, made.entry, made.commitment), view.key)))


def open_elsewhere(seal: SealFile, options: TableOptions) -> None:
    """Print the line that opens a seal, for the host."""
    seat = options.who or seal.seat
    if not seat:
        raise UsageError(f"name the seat of the sealed answer: {named('as')} SEAT")

    _hand_over(open_line(structs.replace(seal, seat=seat)))


# ---------------------------------------------------------------------------------------------------------------------
# What comes back to the host


def read_sent(source: str, *, is_line: bool) -> list[Posted]:
    """Return what seats sent.

    Args:
        source: a file, `-` for standard input, or lines.
        is_line: whether it can only be lines.

    Raises:
        UsageError: it is none, or a line was cut off or changed on its way.
        FileError: it cannot be read.
    """
    if is_line and not has_line(source):
        raise UsageError(
            f"{source!r} is no line that a seat sent, which begins with rpgres-answer:, rpgres-seal: or rpgres-open:; "
            f"to answer, use {named('choose')} LABEL=OPTION"
        )
    if source == "-" and can_prompt():
        say_text("Paste what was sent, then press Enter and Ctrl-D:\n")
        flush()
    return read_posted(source)


def take_posted(
    posted: Sequence[Posted], source: str, options: TableOptions, *, is_accepted: bool, hand: Hand | None = None
) -> None:
    """Take what seats wrote elsewhere, one after the other, each as the host accepts it; print the result.

    What the table has already, as in the older mail that a reply quotes, is left out.

    Raises:
        UsageError: one is another seat's than --as says, is not accepted, or is refused by the table; or the table has
            all of it already. Then nothing is taken.
    """
    for one in posted:
        if options.who not in (None, one.seat):
            raise UsageError(f"{source} is an answer of {one.seat}, not of {options.who}")
    fresh, known = sort_posted(options.find(), posted)
    left_out = "; ".join(f"already answered, left out: {_posted_words(one)[0]}" for one in known)
    if not fresh:
        raise UsageError(left_out)
    if left_out:
        warn(left_out)
    taken = [(one, _accepted(one, source, options, is_accepted=is_accepted)) for one in fresh]
    for number, (one, accepted) in enumerate(taken):
        done = take(options.find(), one, accepted=accepted, is_host=options.who is None, hand=hand)
        if number == len(taken) - 1 and done.entry.kind != "seal":
            finish_run(done, options)
        else:
            say_entry(done, options)


def _accepted(one: Posted, source: str, options: TableOptions, *, is_accepted: bool) -> str:
    """Return what the host has been shown of an answer and takes."""
    is_known = is_authentic(options.read()[1], one)
    message, has_dice = _posted_words(one, " (authenticated)" if is_known else " (not authenticated)")
    if (is_accepted and is_known) or (options.who is not None and (is_accepted or not has_dice)):
        return message
    shown = "the line" if source == "-" or len(source) > 60 or "\n" in source else source
    if not can_prompt():
        if not is_known and options.who is None:
            seat, view = one.seat, called("table view", as_=one.seat, out="FILE")
            raise UsageError(
                f"not taken: {message}. It was not made with the key in {seat}'s view, so anybody may have written it. "
                f"Send {seat} a new view to answer (`{view}`); if you know who wrote this, add {named('as')} {seat}"
            )
        what = "states its seat" + (" and the dice rolled" if has_dice else "")
        also = "" if has_dice else f", or {named('as')} {one.seat}"
        raise UsageError(f"{shown} {what} ({message}): {named('accept')} confirms it{also}")

    say_text(f"{in_line(shown)} says, and it becomes what was answered: {in_line(message)}\n")
    flush()
    try:
        typed = ask("Accept it? [y/N] ")
    except EOFError:
        typed = ""
    if typed.strip().lower() not in ("y", "yes"):
        raise UsageError(f"{shown} was not accepted; nothing was written")
    return message


def _posted_words(one: AnswerFile | SealLine | OpenLine, mark: str = "") -> tuple[str, bool]:
    """Return what is accepted, in words, with a mark after the seat, and whether there are dice in it."""
    if isinstance(one, SealLine):
        return f"{one.seat}{mark} seals {one.commitment[:12]}...", False
    if not isinstance(one, AnswerFile):
        return f"{one.seat} opens {one.label}={one.answer}", False
    dice = ", ".join(_said(one.given))
    return f"{one.seat}{mark}: {', '.join(_said(one.choose))}" + (f"; given: {dice}" if dice else ""), bool(dice)


def _said(answers: Mapping[str, str | list[str]]) -> Iterator[str]:
    return (f"{label}={value}" for label, values in typed_in(answers).items() for value in values)
