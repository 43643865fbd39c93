"""Options that commands share: their names and help, and their texts read into values. Nothing here acts on them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import typer.core

from rpgres.cli.asking.terminal import can_prompt, is_listening
from rpgres.cli.output import READER
from rpgres.cli.settings import active
from rpgres.errors import NotationError, UsageError, named
from rpgres.lines.options import OTHER, OUTPUT, REAL, Option, read_pair
from rpgres.text.harmless import harmless

if TYPE_CHECKING:
    from rpgres.dice import DiceLine
    from rpgres.rulesets import Rules

SIMULATION = "Simulation"


def built(option: Option) -> typer.core.TyperOption:
    """Return what Typer parses of an option."""
    return typer.core.TyperOption(
        param_decls=[option.name, *option.names],
        type=None if option.is_flag else str,
        is_flag=option.is_flag or None,
        default=False if option.is_flag else None,
        multiple=option.many,
        metavar=option.metavar or None,
        help=option.help,
        autocompletion=option.complete,
        rich_help_panel=option.section,
    )


SEED = Option("seed", "Seed of all random results; the same command with the same seed gives the same result.", "TEXT")
BEST_WHO = Option(
    "best",
    "Let this character or seat decide optimally over the whole scene, and evaluate each first choice [without WHO: "
    "the one who acts first].",
    "WHO",
    bare="",
)
GOALS = Option(
    "goal",
    "The ending or outcome that --best brings about [repeatable; default: every success].",
    "ENDING",
    many=True,
    aliases=("target",),
)
BEST = Option("best", "Let the actor decide optimally, and evaluate each first choice.")
EACH = Option("each", "Evaluate each first choice of the actor; policies decide afterwards.")
BY = Option("by", "Evaluate the margin, the total, or a number that the action tells, instead of the outcome.", "NAME")
VS = Option("vs", "Compare the total with a number, or with dice: 15, <=45, d20+3.", "[SIGN]NUMBER|DICE")
DICE_BY = Option("by", "Evaluate the margin, the total, or one named part.", "margin|total|PART")
WAIT = Option(
    "wait",
    "Wait for optional decisions too, with exit code 3, where they would be skipped because no person can be asked.",
)
SWITCH = Option("switch", "Set a house rule.", "NAME=CHOICE", OTHER, many=True)
PLAIN = Option("plain", "Print plain text, to be read aloud: no colours, no drawn dice or bars.", section=OUTPUT)
DICE_WORDS = Option(
    "dice_words",
    "Print dice as words, such as minus, blank, plus, plus, and cards by their full names.",
    section=OUTPUT,
)
REPEAT = Option(
    "repeat",
    "Repeat N times, each with its own seed, and print a summary, which is a sample; with --json each run on a line.",
    "N",
    OUTPUT,
)
EACH_RUN = Option("each_run", "Print each run of --repeat too.", section=OUTPUT)
LEAVES = Option("leaves", "Maximum number of paths to search, in place of the default budget.", "N", OTHER)
SECONDS = Option("seconds", "Time limit in seconds, in place of the default budget.", "S", OTHER)
COMPARISONS = "Several at once"
COMPARE = Option(
    "compare",
    "Show the odds beside those with this switch or input changed, or under a house rule (a TOML file or a folder); "
    "with --vary a grid for each.",
    "NAME=VALUE|FILE",
    COMPARISONS,
    many=True,
)
VARY = Option(
    "vary",
    "Evaluate every value of an input or a switch; repeat for a grid of two. --skill 0..5 is the same.",
    "NAME=LOW..HIGH",
    COMPARISONS,
    many=True,
)
OUTCOME = Option("outcome", "Show this outcome, in place of success, with two ranges.", "NAME", COMPARISONS, many=True)
FORMAT = Option("format", "Print it in this format [default: table].", "table|md|csv|json|html", OUTPUT)
OUT = Option("out", "Write it to this file; its ending says the format where --format does not.", "FILE", OUTPUT)

# Of simulations.
COUNT = Option(
    "by",
    "Count this too: a part of the table at the end, as characters.mara.counters.fate-points, or what an action tells "
    "or a procedure counts, as hits or exchanges. What is counted anyway, as margin, is listed value by value. Repeat "
    "for others.",
    "PATH",
    many=True,
)
RUNS = Option("runs", "Number of runs [default: 10000].", "N", SIMULATION, letter="n")
UNTIL_WIDTH = Option(
    "until_width",
    "Instead of a number of runs: run until no 95 % interval of an outcome or ending is wider than this.",
    "PERCENT",
    SIMULATION,
)
WORKERS = Option(
    "workers",
    "Number of processes [default: one per processor, unless it is soon over].",
    "N",
    SIMULATION,
)
CLUSTER = Option(
    "cluster", "Run on a Dask cluster instead: the address of its scheduler.", "tcp://HOST:PORT", SIMULATION
)
SAVE = Option("save", "Keep the counts in this file, and resume from it.", "FILE", SIMULATION)
SHOW = Option("show", "Show this run (from 0) instead of simulating.", "RUN", SIMULATION)
SVG = Option("svg", "Write a chart to this file, as SVG.", "FILE", OUTPUT)

# Of accounts.
MARKDOWN = Option("markdown", "Write the account as Markdown.", "FILE", OUTPUT)
HTML = Option("html", "Write the account as a web page.", "FILE", OUTPUT)
LONELOG = Option("lonelog", "Write the account in Lonelog notation.", "FILE", OUTPUT)


# What stands for a value that is left out; an input of an action may have the name of one of these options.
BARE = {(one.name, one.metavar): one.bare or "" for one in (REAL, BEST_WHO)}


class StrictCommand(typer.core.TyperCommand):
    """A command that refuses an option of one value that is typed twice; Typer would silently take the last."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options, and those of every command, which are taken from a line before it is read."""
        *own, asks_help = super().get_params(ctx)
        return [*own, *_of_readers(), asks_help]

    def get_help_option_names(self, ctx: Any) -> list[str]:
        """Return what asks for help, also where no root command is above this one, as in `rpgres play`."""
        return ["-h", "--help"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line.

        Raises:
            UsageError: an option that takes one value is typed twice, or one has another option as its value.
        """
        args = self._completed(args)
        if not ctx.resilient_parsing:
            self._check_values(args, {name for one in self.get_params(ctx) for name in one.opts})
        settings = active().settings
        ctx.default_map = {}
        is_asked = can_prompt() and not is_listening() and "--json" not in args  # who plays says `real` and `real off`
        if settings.dice != "seeded" and is_asked:
            ctx.default_map["real_dice"] = settings.dice
        if settings.ruleset and any(one.name == "ruleset" and one.required for one in self.params):
            ctx.default_map["ruleset"] = settings.ruleset
        if not ctx.resilient_parsing:
            READER.spelled = self._spelled(args)
            typed: set[str | None] = set()
            for param in self.make_parser(ctx).parse_args(args=list(args))[2]:
                if not isinstance(param, typer.core.TyperOption) or param.multiple or param.is_flag:
                    continue
                if param.name in typed:
                    raise UsageError(f"{param.opts[0]} is given twice, and takes one value", option=param.opts[0])
                typed.add(param.name)
        return super().parse_args(ctx, args)

    def _spelled(self, args: list[str]) -> dict[str, str]:
        """Return the options of a line that are typed by another name than their first long one, by that."""
        words = {word.partition("=")[0] for word in args} | {word[:2] for word in args if word[1:2] != "-"}
        spelled: dict[str, str] = {}
        for one in self.params:
            first, *others = sorted(one.opts, key=lambda name: not name.startswith("--"))
            if first not in words and (typed := next((name for name in others if name in words), "")):
                spelled[first.removeprefix("--")] = typed
        return spelled

    def _check_values(self, args: list[str], names: set[str]) -> None:
        """Refuse an option in the place of a value, as Typer would take `--auto` of `--seed --auto` as the seed."""
        takes = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        words = iter(args)
        for word in words:
            if word == "--":
                return
            value = next(words, "") if word in takes else ""
            if value.startswith("--") and value.partition("=")[0] in names:
                raise UsageError(f"{word} needs a value, and {value} is an option", option=word)

    def _completed(self, args: list[str]) -> list[str]:
        """Return a line in which an option that needs no value has one."""
        read = {(one.name, one.metavar): one.opts for one in self.params}
        bare = {name: BARE[key] for key, names in read.items() if key in BARE for name in names}
        end = args.index("--") if "--" in args else len(args)
        for place in reversed(range(end)):
            if args[place] in bare and (place + 1 >= end or args[place + 1].startswith("-")):
                args = [*args[:place], f"{args[place]}={bare[args[place]]}", *args[place + 1 :]]
        return args


@cache
def _of_readers() -> list[typer.core.TyperOption]:
    found = [built(one) for one in (PLAIN, DICE_WORDS)]
    for option in found:
        option.expose_value = False
    return found


class SectionedCommand(StrictCommand):
    """A command whose help lists its options under headings."""

    def get_help(self, ctx: Any) -> str:
        """Return the help; what rulesets say in it is made harmless here, as Typer may write past our stream."""
        return harmless(super().get_help(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, section by section in the order in which sections first appear."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                title = getattr(param, "rich_help_panel", None) or OUTPUT
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


# ---------------------------------------------------------------------------------------------------------------------
# Values


def exclusive(first: str, second: str, why: str = "") -> UsageError:
    """Return the error of two options that exclude each other, with the reason where it is not plain."""
    return UsageError(f"{named(first)} and {named(second)} exclude each other{': ' if why else ''}{why}")


def read_dice(notation: str, vs: str | None, note: str | None) -> DiceLine:
    """Return the dice of a line with what they are compared with.

    Raises:
        UsageError: something was typed twice, or cannot be read.
    """
    from rpgres.dice import read_line, read_target
    from rpgres.dice.hints import as_range

    line = read_line(notation)
    if vs is not None and line.target is not None:
        raise UsageError(f"the roll is compared twice: with vs and with {named('vs')}")
    if vs is not None and line.times:
        raise UsageError(
            f"one roll is compared, not several; count those that succeed with {named('vs')} and {named('repeat')}"
        )
    if note is not None and line.comment:
        raise UsageError(f"a comment is the note of the roll: write # or {named('note')}, not both")
    if vs is None:
        return line
    if as_range(vs):
        raise UsageError(f"{named('vs')} {vs}: dice are compared with one number, or with other dice: 15, <=45, d20+3")
    try:
        return msgspec.structs.replace(line, target=read_target(vs))
    except NotationError as error:
        error.add(f"; {named('vs')} takes a number or dice: 15, <=45, d20+3")
        raise


def read_switches(texts: Iterable[str] | None) -> dict[str, str]:
    """Return the chosen value of each switch named.

    Raises:
        UsageError: one is not NAME=CHOICE, or one switch is set twice and differently.
    """
    switches: dict[str, str] = {}
    for text in texts or ():
        name, value = read_pair(text, option="switch")
        if switches.get(name, value) != value:
            raise UsageError(f"{named('switch')} {name} is set to both {switches[name]} and {value}")
        switches[name] = value
    return switches


def read_count(text: str | None, *, option: str, default: int) -> int:
    """Return a whole number of at least 1; it may be typed as 1_000_000, 1,000,000 or 1e6.

    Raises:
        UsageError: the text is none, or more than `MOST`.
    """
    if text is None:
        return default
    import re

    from rpgres.arguments import MOST

    found = re.fullmatch(r"(?a)(\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*)(?:[eE]\+?(\d\d?))?", text.strip())
    digits = re.sub(r"^0+|[_,]", "", found[1]) + "0" * int(found[2] or 0) if found else ""
    if not digits.strip("0"):
        raise UsageError(f"{option} takes a whole number from 1 on, not {text!r}")
    if len(digits) > len(str(MOST)):
        raise UsageError(f"{option} takes a whole number from 1 to {MOST:,}, not {text!r}", reason="range")
    return int(digits)


def read_seconds(text: str | None) -> float | None:
    """Return a positive number of seconds; None where there is no limit.

    Raises:
        UsageError: the text is none.
    """
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise UsageError(f"{named('seconds')} takes a number of seconds over 0, not {text!r}")
    return seconds


def read_budget(shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits of a search, from `--leaves` and `--seconds`; None for the default ones.

    Raises:
        UsageError: one is no number.
    """
    leaves = read_count(shared["leaves"], option=named("leaves"), default=0) or None
    return {"leaves": leaves, "seconds": read_seconds(shared["seconds"])}


def read_folders(texts: Iterable[str] | None) -> tuple[Path, ...]:
    """Return the folders of `--rulesets`, farthest first.

    Raises:
        UsageError: one is no folder, or the one above that is meant.
    """
    folders = tuple(Path(text) for text in texts or ())
    for folder in folders:
        if not os.path.isdir(folder):
            what = "this is a file; name its folder" if os.path.isfile(folder) else "there is no such folder"
            raise UsageError(f"{named('rulesets')} {folder}: {what}")
        if os.path.isdir(folder / "rulesets") and not _has_rulesets(folder):
            raise UsageError(f"{named('rulesets')} {folder}: no rulesets there; did you mean {folder / 'rulesets'}?")
    return folders


def load_named(ruleset_id: str, rulesets: Sequence[str] | None, switch: Sequence[str] | None = None) -> Rules:
    """Return a ruleset with its code, after `--rulesets` and `--switch`.

    Raises:
        UsageError: there is no such ruleset, folder, switch or choice.
        PluginError: its plugin cannot be used.
        FileError: its data are faulty.
    """
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    folders = read_folders(rulesets)
    return load_rules(find_ruleset(ruleset_id, extra=folders), switches=read_switches(switch), extra=folders)


def _has_rulesets(folder: Path) -> bool:
    """Tell whether folders in this one are rulesets or overlays of rulesets."""
    from rpgres.lint.overlays import FILES, FOLDERS

    return any(os.path.exists(inner / name) for inner in folder.iterdir() for name in (*FILES, *FOLDERS))


def values_in(args: Sequence[str], name: str) -> list[str]:
    """Return the values of an option on a line that is not parsed yet."""
    line = args[: args.index("--")] if "--" in args else args
    read = ((word.partition("="), behind) for word, behind in pairwise([*line, ""]))
    found = [value if sign else behind for (typed, sign, value), behind in read if typed == f"--{name}"]
    return [value for value in found if value]


def folders_in(args: Sequence[str]) -> tuple[Path, ...]:
    """Return the folders of `--rulesets` in a line that is not parsed yet: they may change what can be parsed."""
    return read_folders(values_in(args, "rulesets"))


def named_policies(texts: Iterable[str] | None) -> dict[str, str]:
    """Return policies by the names of characters, the default under an empty name, from `NAME` and `CHARACTER=NAME`."""
    return {who: name for who, _, name in (text.rpartition("=") for text in texts or ())}


def hoist(args: Sequence[str], options: Iterable[Option]) -> list[str]:
    """Return a line in which options in front of its first word stand behind it.

    So `--seed 7 4dF` and `4dF --seed 7` are the same, though only the word says which command reads the options. A line
    without a word has no command for them, and is returned empty.
    """
    end, known = 0, {name: option for option in options for name in option.names}
    while end < len(args) and args[end].startswith("-") and args[end] not in ("-", "--"):
        name, joined, _ = args[end].partition("=")
        option = known.get(name)
        if option is None:
            break
        end += 1 if joined or option.is_flag else 2
    if end >= len(args):
        return []
    if args[end] in ("-h", "--help"):
        return ["--help"]
    first = end + 2 if args[end] == "--" else end + 1
    return [*args[end:first], *args[:end], *args[first:]]
