"""What checks find: one record for every check, its codes, its line for people, and which name was meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from rpgres.errors import FileError, RpgresError, RuleError, enumerated

KeyPath = tuple[str | int, ...]
Severity = Literal["error", "warning", "note"]

# Every code with what it says, in one line. Codes are stable: scripts and annotations go by them.
CODES: dict[str, str] = {
    # of any file
    "unreadable-file": "a file is missing, unreadable or too large",
    "syntax": "the text is not TOML",
    "wrong-type": "a value has the wrong type",
    "wrong-value": "a value has the right type, but is not allowed",
    "unknown-key": "an unknown key",
    "missing-key": "a required key is missing",
    "unknown-name": "an unknown name",
    "taken-name": "a duplicate name",
    "refused": "the code that reads the file rejects it",
    # of rulesets
    "bad-dice": "dice or a formula that cannot be read",
    "bad-bounds": "bounds that no number satisfies",
    "bad-default": "an invalid default",
    "bad-example": "an invalid example, or one that does not run",
    "card-clash": "two decks at one table have different cards with the same code",
    "division-by-zero": "a division whose divisor may be 0",
    "endless": "an endless self-reference",
    "inconsistent": "two statements that contradict each other",
    "incomplete": "a required field is missing",
    "margin-gap": "a number without an outcome",
    "margin-overlap": "a number with several outcomes",
    "never-matches": "an unreachable condition, outcome or deck",
    "no-choice": "a question with fewer than two answers",
    "no-code": "the data declare something that the code lacks",
    "no-data": "the code has something that the data do not declare",
    "not-a-number": "a number is required",
    "signature": "a rule cannot be called with the parameters of its action",
    "unfilled-text": "an unknown placeholder in a text",
    "unread-file": "an unused file or folder",
    "unseen": "a condition on something that the seat may not see",
    "unused": "an unused declaration",
    "useless": "a field without effect",
    # of scenes and sheets
    "bad-input": "an input that the action of a step does not take",
    "wrong-ruleset": "a sheet of another ruleset",
    # of plugins and folders
    "bad-id": "a folder whose name is not a valid ruleset id",
    "contested-id": "several plugins or folders have one id",
    "broken-plugin": "a plugin that cannot be used, or a setting that disables no plugin",
}

Finding = TypeVar("Finding", "Fault", "Diagnostic")

_SIMILAR = 0.7  # difflib's measure: two letters exchanged in a word of four are, `uses` and `steps` are not
_MAX_WORD = 80  # difflib's work grows with the square of a word
MAX_SHOWN = 100  # lines of one error message; its `details` hold the rest


class Diagnostic(msgspec.Struct, frozen=True):
    """Something that a check found, and where.

    Attributes:
        code: what kind of fault it is: one of `CODES`, or the name of a check of plugins.
        message: what is wrong.
        file: the file; empty where none is at fault.
        line: the line from 1; None where it cannot be told.
        column: the column from 1; None where it cannot be told.
        key: the key path, dotted, with entries of lists by their `id`, else from 0 (`steps.climb.with`,
            `steps[2].with`); empty for the whole file.
        hint: the nearest valid name; empty for none.
        advice: what to try; may be empty.
        severity: only an `error` makes a check fail.
    """

    code: str
    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    key: str = ""
    hint: str = ""
    advice: str = ""
    severity: Severity = "error"

    @property
    def told(self) -> str:
        """What is wrong, under which key, and what to try."""
        said = f"{self.key}: {self.message}" if self.key else self.message
        said += f"; did you mean `{self.hint}`?" if self.hint else ""
        return said + (f"; {self.advice}" if self.advice else "")

    @property
    def text(self) -> str:
        """The whole as a paragraph: `FILE:LINE: KEY: what is wrong; did you mean ...?`."""
        column = self.column if self.code == "syntax" else None  # elsewhere the key says more
        place = ":".join(str(part) for part in (self.file, self.line, column) if part)
        return f"{place}: {self.told}" if place else self.told


class Fault(msgspec.Struct, frozen=True):
    """A diagnostic whose file and line are not known yet; `names` are those right where `word` stands."""

    code: str
    path: KeyPath
    message: str
    word: str = ""
    names: tuple[str, ...] = ()
    severity: Severity = "error"

    def under(self, *prefix: str | int) -> Fault:
        """Return the same fault seen from further out."""
        return msgspec.structs.replace(self, path=prefix + self.path) if prefix else self

    def placed(
        self, file: str, line: int | None, column: int | None, *, prefix: KeyPath = (), key: KeyPath | None = None
    ) -> Diagnostic:
        """Return the fault with the place where it stands, under the key `prefix` of that file, or as `key` says."""
        hint = (nearest(self.word, self.names) or "") if self.names else ""
        shown = key_text(prefix + self.path if key is None else key)
        return Diagnostic(self.code, self.message, file, line, column, shown, hint, severity=self.severity)


def unknown_name(path: KeyPath, message: str, name: object, known: Iterable[str], *, there: str = "there are") -> Fault:
    """Return the fault that nothing has a name: the nearest is its hint, or else the message lists all.

    Args:
        name: the name; anything but a text comes near to none.
    """
    word, names = name if isinstance(name, str) else "", tuple(known)
    if not nearest(word, names):
        message += f"; {there}: {enumerated(names, word)}" if names else ", and no other"
    return Fault("unknown-name", path, message, word, names)


def errors_in(found: Iterable[Finding]) -> list[Finding]:
    """Return the errors among what was found: what makes a file unusable."""
    return [one for one in found if one.severity == "error"]


# ---------------------------------------------------------------------------------------------------------------------
# As errors


def diagnostics_error(found: Sequence[Diagnostic], **details: Any) -> FileError:
    """Return the error that tells diagnostics, one a line; `details["problems"]` has each as a dict."""
    lines = [diagnostic.text for diagnostic in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        lines.append(f"... and {len(found) - MAX_SHOWN} more")
    return FileError("\n".join(lines), problems=[msgspec.to_builtins(diagnostic) for diagnostic in found], **details)


def diagnostics_in(error: RpgresError, *, code: str = "", file: str = "") -> list[Diagnostic]:
    """Return the diagnostics that an error tells, or the error as one.

    Args:
        code: the code of an error that tells none; by default that of a file that cannot be read, or is refused.
        file: where it arose, if the error does not tell.
    """
    told = error.details.get("problems")
    if told:
        return msgspec.convert(told, list[Diagnostic])
    is_code = isinstance(error, RuleError)  # whose message says where it failed
    said, line = (None, None) if is_code else (error.details.get("file"), error.details.get("line"))
    file, line = said if isinstance(said, str) and said else file, line if isinstance(line, int) else None
    message = error.message.removeprefix(f"{file}:{line}: ").removeprefix(f"{file}: ")
    code = code or ("unreadable-file" if isinstance(error, FileError) else "refused")
    return [Diagnostic(code, message, file, line)]


# ---------------------------------------------------------------------------------------------------------------------
# Names


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the one of `words` that `word` comes nearest to, without regard to case, `_` and `-`; None for none.

    The only word that begins with it is near, however much is left out.
    """
    import difflib

    names = [name for name in words if name != word]  # the word itself is no help
    said = _folded(word)
    if not 0 < len(said) <= _MAX_WORD:
        return None
    meant = {_folded(name): name for name in reversed(names)}  # of two alike, the first
    near = difflib.get_close_matches(said, meant, n=1, cutoff=_SIMILAR) or [
        name for name in meant if name.startswith(said)
    ]
    return meant[near[0]] if len(near) == 1 else None


def nearest_file(name: str, names: Iterable[str]) -> str | None:
    """Return the file name that `name` comes nearest to; None for none. An ending that both have makes no two alike."""
    known, ending = list(names), os.path.splitext(name)[1]
    stems = [one.removesuffix(ending) for one in known if ending and one.endswith(ending)]
    near = nearest(name.removesuffix(ending), stems)
    return near + ending if near else nearest(name, [one for one in known if not (ending and one.endswith(ending))])


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")


def key_text(path: KeyPath) -> str:
    """Return a key path as TOML writes it, list items from 0: `steps[2]."two words"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{_key_part(part)}" if text else _key_part(part)
    return text


def _key_part(part: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]+", part):
        return part
    quoted = part.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(one if one.isprintable() else _escaped(one) for one in quoted) + '"'


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) <= 0xFFFF else f"\\U{ord(sign):08x}"


LONGEST_NAME = 80  # characters of an unknown name that a message repeats


def unknown(what: str, name: str, known: Any, *, of: str) -> str:
    """Return the message for a name that nothing has: the nearest one, or all when they are few."""
    names = list(known)
    near = nearest(name, names)
    name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
    if near is not None:
        return f"{of} has no {what} {name!r}; did you mean {near!r}?"
    others = f"; it has: {enumerated(names, name)}" if names else ", and no other"
    return f"{of} has no {what} {name!r}{others}"
