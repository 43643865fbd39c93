"""`rpgres table`: a table that lasts, from what was typed to what is printed. What it is and does: `rpgres.journal`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rpgres.cli import options as opt
from rpgres.cli.annotations import AsJson, AsWords, Folders, complete_rulesets
from rpgres.cli.dynamic import RulesetGroup, Verb
from rpgres.cli.lazy import Command, LazyGroup
from rpgres.cli.options import Option, folders_in, hoist
from rpgres.cli.output import can_prompt, is_terminal, say, say_json, warn
from rpgres.cli.rulesets import read_ruleset
from rpgres.errors import FileError, RpgresError, UsageError

if TYPE_CHECKING:
    from rpgres.cli.render.lines import Line
    from rpgres.cli.rulesets import RulesetData
    from rpgres.engine.players import Prompt
    from rpgres.engine.run import Pending, Result
    from rpgres.journal.commands import Done, Place
    from rpgres.journal.history import History
    from rpgres.journal.records import Entry
    from rpgres.journal.views import ViewRecord
    from rpgres.rulesets import Rules, RulesetFile

WAITING = 3  # exit code: somebody has to decide
FAILED, TIED = 10, 11  # exit codes of --exit-code
TABLE_ENV, SEAT_ENV = "RPGRES_TABLE", "RPGRES_SEAT"
TABLE_PART = "The table"

TABLE = Option(
    "table",
    "The table's file or folder; else the nearest one from here upwards [env: RPGRES_TABLE].",
    "PATH",
    TABLE_PART,
)
SEAT = Option(
    "as",
    "Act and look as this seat: gm, or a character's name. Without it, as the host [env: RPGRES_SEAT].",
    "SEAT",
    TABLE_PART,
)
ACTOR = Option("actor", "Who acts, where the seat has several characters.", "NAME", TABLE_PART)

Table = Annotated[str | None, typer.Option("--table", metavar="PATH", help=TABLE.help, show_default=False)]
Seat = Annotated[str | None, typer.Option("--as", metavar="SEAT", help=SEAT.help, show_default=False)]
Given = Annotated[
    list[str] | None, typer.Option("--given", metavar=opt.GIVEN.metavar, help=opt.GIVEN.help, show_default=False)
]
Choose = Annotated[
    list[str] | None, typer.Option("--choose", metavar=opt.CHOOSE.metavar, help=opt.CHOOSE.help, show_default=False)
]
Policies = Annotated[
    list[str] | None, typer.Option("--policy", metavar=opt.POLICY.metavar, help=opt.POLICY.help, show_default=False)
]
View = Annotated[
    str | None,
    typer.Option("--view", metavar="FILE", help="Show what a view file has, in place of a table.", show_default=False),
]
Auto = Annotated[bool, typer.Option("--auto", help=opt.AUTO.help)]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="""Keep a table in a file: its characters, what lies on it, and everything that is done at it.

    `rpgres table new --ruleset fate --sheet mara` begins one here, in .rpgres/table.db; `rpgres table act --help` lists
    what can be done at it, `rpgres table show` shows it, `rpgres play` sits down at it.""",
    short_help="Keep a table in a file: act, answer, take back, show, verify.",
)


# ---------------------------------------------------------------------------------------------------------------------
# What all commands share


def place_of(table: str | None, rulesets: Sequence[str] | None = None) -> Place:
    """Return the table that is meant.

    Raises:
        TableError: there is none.
    """
    from rpgres.cli.options import read_folders
    from rpgres.journal.commands import Place
    from rpgres.journal.store import find_table

    return Place(find_table(table or os.environ.get(TABLE_ENV)), read_folders(rulesets or ()))


def seat_of(typed: str | None) -> str | None:
    """Return the seat that is meant; None for the host."""
    return typed or os.environ.get(SEAT_ENV) or None


def read_table(table: str | None, seat: str | None, rulesets: Sequence[str] | None = None) -> tuple[Place, History]:
    """Return a table with its history, after making sure that it has such a seat."""
    from rpgres.journal.commands import check_seat
    from rpgres.journal.store import read

    place = place_of(table, rulesets)
    history = read(place.path)
    check_seat(history, seat)
    return place, history


def _rules(place: Place, history: History) -> Rules:
    from rpgres.journal.commands import rules_of

    return rules_of(history, folders=place.folders)


def say_lines(lines: Sequence[Line], *, plain: bool) -> None:
    """Print lines."""
    say(list(lines), is_plain=plain)


def _is_drawn(plain: bool) -> bool:
    return is_terminal() and not plain


def say_done(done: Done, seat: str | None, *, as_json: bool, plain: bool, exit_code: bool = False) -> int:
    """Print what came of something that runs, and return the exit code.

    Args:
        done: what was added; its last entry tells.
        seat: who reads it.
        as_json: as JSON.
        plain: in words only.
        exit_code: whether a failure and a tie have codes of their own.
    """
    from rpgres.engine.run import Pending, Result
    from rpgres.journal.views import run_seen

    found, said_by = run_seen(done.history, done.entry, seat), done.history.run_of(done.entry).secret.by
    if as_json:
        say_found(found, done.entry, said_by=said_by)
    else:
        from rpgres.cli.render.tables import found_lines

        # Whoever has the file knows what was typed there.
        lines = found_lines(found, done.rules.file, said_by=said_by or None, is_drawn=_is_drawn(plain))
        say_lines(lines, plain=plain)
    if isinstance(found, Pending):
        return WAITING
    return _code_of(found) if exit_code and isinstance(found, Result) else 0


def say_found(found: Result | Pending, entry: Entry, *, said_by: str) -> None:
    """Print a result or a pending decision as JSON, with the number and hash of its entry, and who typed the action."""
    import msgspec

    say_json({**msgspec.to_builtins(found), "said_by": said_by, "entry": entry.number, "hash": entry.hash})


def _code_of(result: Result) -> int:
    if result.success is None:
        return TIED if result.margin is not None else 0
    return 0 if result.success else FAILED


def _say_entry(done: Done, seat: str | None, *, as_json: bool, plain: bool) -> None:
    """Print an entry that was added and has no outcome."""
    from rpgres.journal.views import entry_record, entry_seen

    if as_json:
        say_json(entry_record(done.history, done.entry, seat))
    else:
        from rpgres.cli.render.tables import entry_lines

        view = entry_seen(done.history, done.entry, seat)
        say_lines(list(entry_lines(view, done.rules.file, is_drawn=_is_drawn(plain))), plain=plain)


def prompt_for(
    *, as_json: bool, plain: bool, auto: bool, heading: Sequence[Line] = (), is_wanted: bool = True
) -> Prompt | None:
    """Return what asks a person, when there is one to ask; what is shown is kept by then."""
    if as_json or auto or not is_wanted or not can_prompt():
        return None
    from rpgres.cli.prompt import Person

    return Person(heading=heading, is_plain=plain or not is_terminal(), is_kept=True).ask


def read_named(texts: Sequence[str] | None) -> dict[str, str]:
    """Return policies by the character they are for; everybody's under an empty name."""
    return {who: name for who, _, name in (text.rpartition("=") for text in texts or ())}


# ---------------------------------------------------------------------------------------------------------------------
# Acting


ACT_OPTIONS = (
    *(ACTOR, SEAT, TABLE, opt.GIVEN, opt.CHOOSE, opt.AUTO, opt.POLICY, opt.RULESETS),
    *(opt.JSON, opt.PLAIN, opt.NOTE, opt.EXIT_CODE),
)


def act_with(data: RulesetData, action: str, values: dict[str, Any]) -> None:
    """Resolve an action at the table and print what came of it; exit with the code it calls for."""
    from rpgres.cli.render.results import action_lines
    from rpgres.journal.commands import act

    shared = {option.name: values.pop(option.name) for option in ACT_OPTIONS}
    inputs = opt.given_inputs(values)
    seat = seat_of(shared["as"])
    plain = {key.replace("_", "-"): value for key, value in inputs.items()}
    heading = action_lines(action, actor=shared["actor"] or "", inputs=plain)
    place = place_of(shared["table"], shared["rulesets"])
    done = act(
        place,
        action,
        inputs,
        actor=shared["actor"] or "",
        seat=seat,
        given=opt.read_answers(shared["given"], option="--given"),
        choose=opt.read_answers(shared["choose"], option="--choose"),
        policies=read_named(shared["policy"]),
        auto=shared["auto"],
        prompt=prompt_for(as_json=shared["json"], plain=shared["plain"], auto=shared["auto"], heading=heading),
        note=shared["note"],
    )
    code = say_done(done, seat, as_json=shared["json"], plain=shared["plain"], exit_code=shared["exit_code"])
    if code:
        raise typer.Exit(code)


def _no_dice(_notation: str, _values: dict[str, Any]) -> None:
    raise UsageError("dice without a ruleset are rolled with `rpgres roll`")


ACT = Verb("act", ACT_OPTIONS, (), "", act_with, _no_dice, is_seated=True)


class ActGroup(LazyGroup):
    """The actions of the ruleset that is played at the table found here."""

    heading = "Actions"
    line: Sequence[str] = ()  # what was typed, which may name the table

    def entries(self) -> Mapping[str, str]:
        """Return the actions with their summaries; none where there is no table."""
        try:
            return {name: action.summary for name, action in _data(self.line).file.actions.items()}
        except RpgresError:
            return {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line up to the action."""
        self.line = tuple(args)
        return super().parse_args(ctx, hoist(args, {name: one for one in ACT_OPTIONS for name in one.names}))

    def invoke(self, ctx: Any) -> Any:
        """Run the action that is named.

        Raises:
            UsageError: none is.
        """
        if not ctx._protected_args:
            raise UsageError(f"say which action: {', '.join(_data(self.line).file.actions)}; --help explains them")
        return super().invoke(ctx)

    def load(self, name: str, args: Sequence[str]) -> Command:
        """Return the command of an action."""
        return RulesetGroup(ACT, _data(args)).load(name, args)


def _data(args: Sequence[str]) -> RulesetData:
    """Return the data of the ruleset of the table that a line names, which is not parsed yet."""
    from rpgres.journal.store import read

    named = [word.partition("=")[2] for word in args if word.startswith("--table=")]
    named += [args[place + 1] for place, word in enumerate(args[:-1]) if word == "--table"]
    new = read(place_of(named[0] if named else None).path).new
    return read_ruleset(new.public.ruleset, extra=(*map(Path, new.secret.folders), *folders_in(args)))


app.add_typer(
    typer.Typer(
        cls=ActGroup,
        add_completion=False,
        rich_markup_mode=None,
        help="Resolve an action at the table, by the ruleset that is played there.",
        subcommand_metavar="ACTION [OPTIONS]",
    ),
    name="act",
)


@app.command("new")
def new(
    ruleset: Annotated[
        str, typer.Option("--ruleset", metavar="ID", help="What is played.", autocompletion=complete_rulesets)
    ],
    sheet: Annotated[
        list[str] | None,
        typer.Option("--sheet", metavar="FILE", help="Who sits there; repeat it for others.", show_default=False),
    ] = None,
    switch: Annotated[
        list[str] | None,
        typer.Option("--switch", metavar=opt.SWITCH.metavar, help=opt.SWITCH.help, show_default=False),
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar=opt.SEED.metavar, help=opt.SEED.help, show_default=False)
    ] = None,
    name: Annotated[str, typer.Option("--title", metavar="TEXT", help="What people call it.", show_default=False)] = "",
    trust: Annotated[
        str,
        typer.Option(
            "--trust",
            metavar="players|gm",
            help="Whether numbers that players type and no sheet has count at once, or when the game master has "
            "confirmed them; by default as the rules say.",
            show_default=False,
        ),
    ] = "",
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Begin a table, in .rpgres/table.db here or at --table PATH.

    What is printed binds the table to its seed without telling it: sha256 of a salt and the seed, which are told by
    `rpgres table reveal`.
    """
    from rpgres.cli.options import read_folders, read_switches
    from rpgres.cli.render.lines import Piece, line
    from rpgres.journal.commands import Place, begin_table
    from rpgres.journal.store import place_for

    path = place_for(table or os.environ.get(TABLE_ENV))
    done = begin_table(
        Place(path, read_folders(rulesets or ())),
        ruleset=ruleset,
        sheets=sheet or (),
        switches=read_switches(switch or ()),
        seed=seed,
        title=name,
        trust=trust,
    )
    if as_json:
        from rpgres.journal.views import entry_record

        say_json(entry_record(done.history, done.entry, None))
        return
    names = ", ".join(done.history.state.characters) or "nobody yet"
    commitment = done.entry.public.commitment
    say([line(f"{path}: a table of {done.rules.file.title}; at it: {names}")], is_plain=plain)
    say([line(Piece(f"commitment to the seed: {commitment}", "quiet"))], is_plain=plain)


@app.command("answer")
def answer(
    choose: Choose = None,
    given: Given = None,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Take the answer that a seat wrote to a file.", show_default=False),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option("--view", metavar="FILE", help="Answer what a view asks, into --out.", show_default=False),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where the answer goes.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an answer that is there already.")] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take whose answer a file says it is, and the dice in it, unasked.")
    ] = False,
    auto: Auto = False,
    policy: Policies = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Answer the decision that the table waits for, and go on with the action.

    What is given is for what is rolled after the answer: dice that were rolled stay.

    A player elsewhere, who has only a view (`rpgres table view`), writes the answer to a file with --view and --out,
    and whoever has the table takes it with --from. Whose it says it is, and dice in it, are shown first: at a terminal
    you are asked, elsewhere --accept takes them; --as SEAT says whose it is.
    """
    from rpgres.journal.commands import answer as give

    choices = opt.read_answers(choose or (), option="--choose")
    rolled = opt.read_answers(given or (), option="--given")
    if view is not None or out is not None:
        _write_answer(view, out, choices, rolled, is_forced=force)
        return
    who, at, taken = seat_of(seat), "", ""
    if from_ is not None:
        if choices or rolled:
            raise UsageError("--from has the whole answer; leave out --choose and --given")
        who, at, choices, rolled = _answer_in(from_, who)
        taken = _take(from_, who or "", choices, rolled, is_named=seat_of(seat) is not None, is_accepted=accept)
    done = give(
        place_of(table, rulesets),
        seat=who,
        given=rolled,
        choose=choices,
        policies=read_named(policy),
        auto=auto,
        prompt=prompt_for(as_json=as_json, plain=plain, auto=auto, is_wanted=not choices),
        at=at,
        accepted=taken,
    )
    code = say_done(done, seat_of(seat), as_json=as_json, plain=plain)
    if code:
        raise typer.Exit(code)


def _write_answer(
    view: str | None,
    out: str | None,
    choices: dict[str, list[str]],
    given: dict[str, list[str]],
    *,
    is_forced: bool,
) -> None:
    from rpgres.cli.render.lines import line
    from rpgres.journal.exchange import answer_for, read_view, write_json

    if view is None or out is None:
        raise UsageError("an answer for somebody else's table needs both --view FILE and --out FILE")
    if not choices:
        raise UsageError("say what you choose: --choose LABEL=OPTION")
    path = write_json(Path(out), answer_for(read_view(view), choose=choices, given=given), is_forced=is_forced)
    say([line(f"{path}: written; whoever has the table takes it with: rpgres table answer --from {path}")])


def _take(
    file: str,
    seat: str,
    choices: dict[str, list[str]],
    given: dict[str, list[str]],
    *,
    is_named: bool,
    is_accepted: bool,
) -> str:
    """Return what of an answer file the host has been shown and takes.

    Raises:
        UsageError: the host does not take it, or was not asked and has not said so beforehand.
    """
    parts = [f"{label}={value}" for label, values in choices.items() for value in values]
    dice = [f"{label}={value}" for label, values in given.items() for value in values]
    told = f"{seat}: {', '.join(parts)}" + (f"; given: {', '.join(dice)}" if dice else "")
    if is_accepted or (is_named and not dice):
        return told
    if not can_prompt():
        what = "says whose it is" + (" and which dice were rolled" if dice else "")
        named = "" if dice else f", or --as {seat}"
        raise UsageError(f"{file} {what} ({told}): --accept takes it{named}")
    from rpgres.cli.output import ask, flush, say_text
    from rpgres.text.harmless import in_line

    say_text(f"{in_line(file)} says, and it becomes what was answered: {in_line(told)}\n")
    flush()
    try:
        typed = ask("Take it? [y/N] ")
    except EOFError:
        typed = ""
    if typed.strip().lower() not in ("y", "yes"):
        raise UsageError(f"{file} was not taken, and nothing was written")
    return told


def _answer_in(file: str, seat: str | None) -> tuple[str, str, dict[str, list[str]], dict[str, list[str]]]:
    from rpgres.journal.exchange import read_answer

    found = read_answer(file)
    if seat not in (None, found.seat):
        raise UsageError(f"{file} is an answer of {found.seat}, not of {seat}")
    lists = [
        {label: [value] if isinstance(value, str) else value for label, value in answers.items()}
        for answers in (found.choose, found.given)
    ]
    return found.seat, found.entry, lists[0], lists[1]


@app.command("seal")
def seal(
    choose: Annotated[
        str | None,
        typer.Option("--choose", metavar=opt.CHOOSE.metavar, help="The answer to be sealed.", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Where answer and salt go; keep them secret.", show_default=False),
    ] = None,
    elsewhere: Annotated[
        bool, typer.Option("--elsewhere", help="Only write the file; whoever has the table hands it in.")
    ] = False,
    commitment: Annotated[
        str | None,
        typer.Option("--commitment", metavar="HASH", help="Hand in what was made elsewhere.", show_default=False),
    ] = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Commit a seat to an answer that is told later, so that nobody can know it before and nobody can change it.

    The table gets sha256(salt + LABEL=ANSWER), and sees whose it is. `rpgres table open` opens it, and takes no other
    answer.
    """
    from rpgres.cli.render.lines import line
    from rpgres.journal.commands import fresh_salt
    from rpgres.journal.commands import seal as hand_in
    from rpgres.journal.commitments import sealed
    from rpgres.journal.exchange import write_json

    who = seat_of(seat)
    if (choose is None) != (out is None) or (choose is None) == (commitment is None):
        raise UsageError("say --choose LABEL=ANSWER and --out FILE, or hand in a --commitment that was made elsewhere")
    if choose is None or out is None:
        if who is None or elsewhere:
            raise UsageError("say whose commitment it is: --as SEAT")
        _say_entry(hand_in(place_of(table, rulesets), commitment or "", seat=who), who, as_json=as_json, plain=plain)
        return
    label, sign, answer = choose.partition("=")
    if not sign or not label.strip() or not answer.strip():
        raise UsageError(f"--choose takes LABEL=ANSWER, not {choose!r}")
    made = sealed(label.strip(), answer.strip(), salt=fresh_salt())
    if not elsewhere and who is None:
        raise UsageError("say whose answer it is: --as SEAT; or --elsewhere, where the table is not")
    if Path(out).exists():
        raise FileError(f"{out}: is there already; nothing was sealed. Name another file", file=out)
    if elsewhere:
        write_json(Path(out), made)
        say([line(f"{out}: written; tell whoever has the table the commitment: {made.commitment}")])
        return
    place = place_of(table, rulesets)
    assert who is not None
    path = write_json(Path(out), made)  # first, as a seal of which the salt is lost can never be opened
    try:
        done = hand_in(place, made.commitment, seat=who, label=made.label, answer=made.answer)
    except BaseException:
        path.unlink()
        raise
    _say_entry(done, who, as_json=as_json, plain=plain)


@app.command("open")
def open_(
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="The file that `seal` wrote.", show_default=False),
    ] = None,
    choose: Annotated[
        str | None,
        typer.Option("--choose", metavar=opt.CHOOSE.metavar, help="The answer that was sealed.", show_default=False),
    ] = None,
    salt: Annotated[
        str | None, typer.Option("--salt", metavar="HEX", help="The salt it was sealed with.", show_default=False)
    ] = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Answer with what was sealed, and go on with the action; another answer is refused."""
    from rpgres.journal.commands import open_seal
    from rpgres.journal.exchange import read_seal

    who = seat_of(seat)
    if who is None:
        raise UsageError("say whose seal is opened: --as SEAT")
    if (from_ is None) == (choose is None) or (choose is None) != (salt is None):
        raise UsageError("say --from FILE, or both --choose LABEL=ANSWER and --salt HEX")
    if from_ is not None:
        made = read_seal(from_)
        label, answer, salted = made.label, made.answer, made.salt
    else:
        label, _, answer = (part.strip() for part in (choose or "").partition("="))
        salted = salt or ""
    done = open_seal(place_of(table, rulesets), seat=who, label=label, text=answer, salt=salted)
    code = say_done(done, who, as_json=as_json, plain=plain)
    if code:
        raise typer.Exit(code)


@app.command("pass")
def let_pass(
    label: Annotated[
        str, typer.Argument(metavar="[LABEL]", help="Which moments; all of them by default.", show_default=False)
    ] = "",
    until: Annotated[
        str,
        typer.Option(
            "--until",
            metavar="SPAN",
            help="How long: action (the one going on, or else the next), a period such as scene (until it begins or "
            "ends), or always.",
        ),
    ] = "action",
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Let optional moments go by in advance, so that nobody waits for this seat.

    Where such a moment of the seat is waited for now, it passes, and the action goes on. Decisions that have to be
    taken are not touched.
    """
    from rpgres.journal.commands import let_pass as let
    from rpgres.journal.commands import may_pass

    who = seat_of(seat)
    if who is None:
        raise UsageError("say whose moments pass: --as SEAT")
    done = let(place_of(table, rulesets), label, seat=who, until=until)
    if label and not may_pass(done.rules, label):
        warn(f"{label!r} is nothing that may pass, by the data of {done.rules.id}: it is asked all the same")
    if done.entry.kind == "pass":
        _say_entry(done, who, as_json=as_json, plain=plain)
        return
    code = say_done(done, who, as_json=as_json, plain=plain)
    if code:
        raise typer.Exit(code)


@app.command("begin")
def begin(
    period: Annotated[
        str, typer.Argument(metavar="[PERIOD]", help="A scene, or what else the ruleset has.", show_default="scene")
    ] = "",
    given: Given = None,
    choose: Choose = None,
    auto: Auto = False,
    policy: Policies = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Begin a scene, an exchange, a round: the ruleset does what it does then."""
    _turn("begin", period, given, choose, auto, policy, seat, table, as_json, plain, rulesets)


@app.command("end")
def end(
    period: Annotated[
        str,
        typer.Argument(
            metavar="[PERIOD]", help="What ends, with all that began in it.", show_default="what began last"
        ),
    ] = "",
    given: Given = None,
    choose: Choose = None,
    auto: Auto = False,
    policy: Policies = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """End what began: the ruleset cleans up, boosts fade and the like."""
    _turn("end", period, given, choose, auto, policy, seat, table, as_json, plain, rulesets)


def _turn(
    moment: Any,
    period: str,
    given: list[str] | None,
    choose: list[str] | None,
    auto: bool,
    policy: list[str] | None,
    seat: str | None,
    table: str | None,
    as_json: bool,
    plain: bool,
    rulesets: list[str] | None,
) -> None:
    from rpgres.journal.commands import turn

    who = seat_of(seat)
    done = turn(
        place_of(table, rulesets),
        moment,
        period,
        seat=who,
        given=opt.read_answers(given or (), option="--given"),
        choose=opt.read_answers(choose or (), option="--choose"),
        policies=read_named(policy),
        auto=auto,
        prompt=prompt_for(as_json=as_json, plain=plain, auto=auto),
    )
    code = say_done(done, who, as_json=as_json, plain=plain)
    if code:
        raise typer.Exit(code)


@app.command("undo")
def undo(
    number: Annotated[
        int | None,
        typer.Argument(metavar="[NUMBER]", help="From which entry on; the last action by default.", show_default=False),
    ] = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Take back what was done from an entry on.

    The journal keeps it. The same question asked again gets the same dice, and the entry tells whether a roll or a
    secret that somebody has seen is taken back. Notes and passes stay, but for one whose number is given.
    """
    from rpgres.journal.commands import undo as take_back

    who = seat_of(seat)
    _say_entry(take_back(place_of(table, rulesets), number, seat=who), who, as_json=as_json, plain=plain)


@app.command("set")
def set_(
    assignment: Annotated[
        str,
        typer.Argument(
            metavar="PATH=VALUE",
            help="Such as characters.mara.counters.fate-points=2, tags.On Fire=aspect, tags.on-fire=absent, "
            "tracks.alarm=4.",
        ),
    ],
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to", metavar="SEAT", help="Who may know of this tag, track or thing from now on.", show_default=False
        ),
    ] = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Correct or award something: put a value at a place of the table.

    What stands there tells which values fit; `rpgres table show --json` shows all places under `state`.
    """
    from rpgres.journal.commands import set_value

    path, separator, text = assignment.partition("=")
    if not separator or not path.strip():
        raise UsageError(f"say PATH=VALUE, such as characters.mara.counters.fate-points=2, not {assignment!r}")
    who = seat_of(seat)
    done = set_value(place_of(table, rulesets), path.strip(), text.strip(), seat=who, to=to or ())
    _say_entry(done, who, as_json=as_json, plain=plain)


@app.command("note")
def note(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is written down.")],
    to: Annotated[
        list[str] | None,
        typer.Option("--to", metavar="SEAT", help="Who may read it; everybody by default.", show_default=False),
    ] = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Write something down in the journal."""
    from rpgres.journal.commands import write_note

    who = seat_of(seat)
    done = write_note(place_of(table, rulesets), text, seat=who, to=to or ())
    _say_entry(done, who, as_json=as_json, plain=plain)


@app.command("join")
def join(
    sheet: Annotated[str, typer.Option("--sheet", metavar="FILE", help="Who sits down.")],
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Let somebody sit down, or replace the sheet of somebody who sits there.

    A seat replaces its own sheet alone; the host and the game master anybody's.
    """
    from rpgres.journal.commands import join as sit_down

    who = seat_of(seat)
    _say_entry(sit_down(place_of(table, rulesets), sheet, seat=who), who, as_json=as_json, plain=plain)


@app.command("reveal")
def reveal(
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Tell the seed and its salt, so that everybody can check every roll. Nothing more is rolled at the table."""
    from rpgres.journal.commands import reveal as tell

    who = seat_of(seat)
    _say_entry(tell(place_of(table, rulesets), seat=who), who, as_json=as_json, plain=plain)


# ---------------------------------------------------------------------------------------------------------------------
# Looking


@app.command("show")
def show(
    view: View = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Show the table as it is now, and what it waits for. A player elsewhere reads a view file with --view."""
    from rpgres.journal.views import table_record

    if view is not None:
        found = _view_in(view, seat, table)
        if as_json:
            say_json(found.table)
            return
        from rpgres.cli.render.tables import show_lines
        from rpgres.journal.exchange import state_in

        state = state_in(view, found)
        file = _rules_of_view(found, rulesets).file
        say_lines(show_lines(found.table, state, file, is_drawn=_is_drawn(plain)), plain=plain)
        return
    who = seat_of(seat)
    place, history = read_table(table, who, rulesets)
    if as_json:
        say_json(table_record(history, who))
        return
    say_lines(shown(place, history, who, plain=plain), plain=plain)


def _view_in(file: str, seat: str | None, table: str | None) -> ViewRecord:
    """Return a view from a file, of which it is said already whose it is."""
    from rpgres.journal.exchange import read_view

    if table is not None:
        raise UsageError("--view shows a file, and --table a table; leave one of them out")
    found = read_view(file)
    if seat not in (None, found.seat):
        raise UsageError(f"{file} is a view of {found.seat}, not of {seat}")
    return found


def _rules_of_view(view: ViewRecord, rulesets: Sequence[str] | None) -> Rules:
    from rpgres.cli.options import read_folders
    from rpgres.plugins.discovery import find_ruleset
    from rpgres.plugins.loading import load_rules

    extra = read_folders(rulesets or ())
    return load_rules(find_ruleset(view.table.ruleset, extra=extra), switches=view.table.switches, extra=extra)


def shown(place: Place, history: History, seat: str | None, *, plain: bool) -> list[Line]:
    """Return the table as it is now, for people."""
    from rpgres.cli.render.tables import show_lines
    from rpgres.journal.views import state_seen, table_record
    from rpgres.rulesets import pictured

    state = state_seen(history.state, seat)
    rules, is_drawn = _rules(place, history), _is_drawn(plain)
    pictures = pictured(rules.ruleset, state, is_drawn=is_drawn)
    return show_lines(table_record(history, seat), state, rules.file, is_drawn=is_drawn, pictures=pictures)


@app.command("log")
def log(
    times: Annotated[bool, typer.Option("--times", help="Tell when each thing was done.")] = False,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=1, help="Only the last so many.", show_default=False)
    ] = None,
    view: View = None,
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Show everything that was done at the table, in order; what was taken back is shown as such."""
    from rpgres.journal.views import LogRecord, log_record

    if view is not None:
        found = _view_in(view, seat, table)
        its = found.table
        record = LogRecord(
            version=its.version,
            ruleset=its.ruleset,
            title=its.title,
            seat=found.seat,
            entries=found.log[-last:] if last is not None else found.log,
        )
        rules = None if as_json else _rules_of_view(found, rulesets)
    else:
        who = seat_of(seat)
        place, history = read_table(table, who, rulesets)
        record = log_record(history, who, last=last)
        rules = None if as_json else _rules(place, history)
    if rules is None:
        say_json(record)
    else:
        say_lines(logged(rules.file, record.entries, plain=plain, times=times), plain=plain)


def logged(file: RulesetFile, entries: Sequence[Any], *, plain: bool, times: bool = False) -> list[Line]:
    """Return entries for people."""
    from rpgres.cli.render.tables import log_lines

    return log_lines(list(entries), file, is_drawn=_is_drawn(plain), is_timed=times)


@app.command("verify")
def verify(
    head: Annotated[
        str,
        typer.Option(
            "--head", metavar="HASH", help="The hash of an entry that you noted, or its beginning.", show_default=False
        ),
    ] = "",
    seat: Seat = None,
    table: Table = None,
    as_json: AsJson = False,
    plain: AsWords = False,
    rulesets: Folders = None,
) -> None:
    """Check that the journal is what was played: its chain of hashes and, after `reveal`, every roll and result.

    The exit code is 0 when it is in order, 20 when the rolls cannot be checked yet as the seed is secret, 21 when it
    was tampered with or has no entry of a noted hash, 22 when the rules have changed since.
    """
    from rpgres.journal.verifying import SHORTEST
    from rpgres.journal.verifying import verify as check

    if head and (len(head) < SHORTEST or any(char not in "0123456789abcdefABCDEF" for char in head)):
        raise UsageError(f"--head takes the hash of an entry, or its first {SHORTEST} digits or more, not {head!r}")
    place = place_of(table, rulesets)
    verdict = check(place.path, head=head, folders=place.folders)
    if as_json:
        say_json(verdict)
    else:
        from rpgres.cli.render.tables import verdict_lines

        say_lines(verdict_lines(verdict), plain=plain)
    if verdict.exit:
        raise typer.Exit(verdict.exit)


@app.command("view")
def view(
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="Where the view goes; - for standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")] = False,
    seat: Seat = None,
    table: Table = None,
    rulesets: Folders = None,
) -> None:
    """Write all that a seat may see into a file, for a player elsewhere: the table, the log, what is asked.

    The player answers with `rpgres table answer --view FILE --choose LABEL=OPTION --out ANSWER`, or writes such a file
    by hand; whoever has the table takes it with `rpgres table answer --from ANSWER`.
    """
    from rpgres.cli.render.lines import line
    from rpgres.journal.exchange import view_of, write_json

    who = seat_of(seat)
    if who is None:
        raise UsageError("say whose view: --as SEAT")
    place, history = read_table(table, who, rulesets)
    record = view_of(history, place.path, seat=who)
    if out == "-":
        say_json(record)
        return
    write_json(Path(out), record, is_forced=force)
    say([line(f"{out}: what {who} may see; nothing else is in it")])


@app.command("export")
def export(
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder the files go to.")],
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    seat: Seat = None,
    table: Table = None,
    rulesets: Folders = None,
) -> None:
    """Write the sheets as they are now, and an account of everything that was done as Markdown.

    With --as SEAT, what the seat may not know of is in none of them. What a sheet of the ruleset does not take, such as
    a number past its bounds, is written all the same, and told above it and on standard error.
    """
    from rpgres.cli.render.lines import line
    from rpgres.cli.render.transcripts import transcript
    from rpgres.journal.checking import require_whole
    from rpgres.journal.exchange import write_files
    from rpgres.journal.exporting import misfits, sheets_of
    from rpgres.journal.views import log_seen

    who = seat_of(seat)
    place, history = read_table(table, who, rulesets)
    require_whole(place.path, history)
    rules = _rules(place, history)
    title = history.new.public.title or rules.file.title
    sheets = sheets_of(rules, history, seat=who)
    files = {f"sheets/{name}": text for name, text in sheets.items()}
    files["transcript.md"] = transcript(title, log_seen(history, who), rules.file)
    for path in write_files(Path(out), files, is_forced=force):
        say([line(f"{path}: written")])
    for name, text in sheets.items():
        for fault in misfits(rules, str(Path(out) / "sheets" / name), text):
            warn(fault)
