"""Commands made from data: a group for each ruleset, a command for each of its actions, one for dice notation.

What happens when one is called stands in `roll` and `odds`; here is how the line is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer.core
from msgspec import Struct, structs
from typer.core import TyperOption

from rpgres.cli.lazy import Command, LazyGroup
from rpgres.cli.options import SectionedCommand, built, folders_in, hoist, values_in
from rpgres.cli.settings import active
from rpgres.cli.streams import results_alone
from rpgres.errors import FileError, UsageError, called, enumerated
from rpgres.lines.options import Option
from rpgres.parameters.context import ACTOR, SHEET
from rpgres.parameters.kinds import metavar
from rpgres.plugins.discovery import ruleset_names
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.loading import RulesetData, read_ruleset
from rpgres.rulesets import Parameter, unknown
from rpgres.rulesets.actions import said_words
from rpgres.toml.diagnostics import nearest

if TYPE_CHECKING:
    from rpgres.lines.fitting import Scope
    from rpgres.model.state import State
    from rpgres.rulesets import Action

INPUTS = "What the action takes"
SCENE_RUN = "scene run"  # the verb that plays a procedure as a scene of its own


class Verb(Struct, frozen=True):
    """What is done with an action or with dice: `roll` or `odds`.

    Attributes:
        options: those an action takes beside its own.
        act: plays an action: `act(data, action, values)`.
        dice_options: those dice take.
        roll_dice: does the same with dice: `roll_dice(notation, values)`; None where dice are not named.
        dice_help: what it does with dice, in one line.
        scene: returns the command that does it with a scene, by its name; None where there is no such.
        procedure_options: those a procedure takes; by default those of an action.
        table: where the actor sits at a table already, so that no sheet is named: returns the table as the reader may
            see it, with the actor, by a line.
    """

    name: str
    options: Sequence[Option]
    act: Callable[[RulesetData, str, dict[str, Any]], None]
    dice_options: Sequence[Option] = ()
    roll_dice: Callable[[str, dict[str, Any]], None] | None = None
    dice_help: str = ""
    scene: Callable[[str], Command] | None = None
    procedure_options: Sequence[Option] = ()
    table: Callable[[Sequence[str]], tuple[State, str]] | None = None

    @property
    def is_seated(self) -> bool:
        """Whether the actor sits at a table already."""
        return self.table is not None

    def options_of(self, action: Action) -> Sequence[Option]:
        """Return the options that an action takes beside its own."""
        return self.procedure_options if action.procedure and self.procedure_options else self.options


class PlayGroup(LazyGroup):
    """`roll` or `odds`: behind it stands dice notation, or a ruleset and an action."""

    verb: Verb
    heading = "Rulesets"

    def entries(self) -> Mapping[str, str]:
        """Return the rulesets with their titles, and the actions of the default one."""
        default = active().settings.ruleset
        rulesets = {name.id: name.title for name in ruleset_names()}
        actions = read_ruleset(default).file.actions if default in rulesets else {}
        return rulesets | {name: f"{action.summary} ({default})" for name, action in actions.items()}

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what the first word can be: a ruleset, an action of the default one, once typed so far a scene."""
        offers = super().shell_complete(ctx, incomplete)
        if self.verb.scene is None or not is_scene(incomplete):
            return offers
        from typer._click.shell_completion import CompletionItem

        from rpgres.cli.completion import played_names

        return [*offers, *(CompletionItem(name) for name in played_names(incomplete) if name.startswith(incomplete))]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line up to its first word."""
        args = hoist(args, self.verb.options)
        first = args[0] if args else ""
        if first == "--ruleset" and len(args) > 1:
            raise UsageError(f"a ruleset needs no option: `{ctx.command_path} {' '.join(args[1:])}`")
        if first[:1] == "-" and first[:2] != "--" and _is_dice(first[1:]):  # no option is a number or looks like dice
            args = ["--", *args]
        return super().parse_args(ctx, args)

    def missing(self, ctx: Any) -> str:
        """Return the message of a line that names nothing to roll or evaluate."""
        name = self.verb.name
        return (
            f"name what to {'roll' if name == 'roll' else 'evaluate'}: dice, as in `{called(name, '4dF+3')}`, "
            f"or a ruleset and an action, as in `{called(name, 'fate', 'overcome', skill='3', vs='2')}`"
        )

    def load(self, name: str, args: Sequence[str]) -> Command:
        """Return the group of a ruleset, or the command of a dice expression, a scene or a procedure."""
        if self.verb.scene is not None and is_scene(name):
            found = procedure_named(name, folders_in(args))
            return ActionCommand(self.verb, *found) if found is not None else self.verb.scene(name)
        if name not in BUILTIN and _is_dice(name):
            return dice_command(self.verb, name)
        extra = folders_in(args)
        default = "" if name in BUILTIN else active().settings.ruleset
        data = _default_ruleset(default, extra) if default else None
        if data is not None and name in data.file.actions:
            return ActionCommand(self.verb, data, name)
        try:
            return RulesetGroup(self.verb, read_ruleset(name, extra=extra))
        except UsageError as error:
            from rpgres.dice.translation import describes_dice

            if error.details.get("known") is not None and describes_dice(" ".join((name, *args))):
                return dice_command(self.verb, name)  # which tells how these are written here
            error.add(_hint_on_action(name, data, verb=self.verb.name))
            raise


def _default_ruleset(name: str, extra: tuple[Path, ...]) -> RulesetData:
    try:
        return read_ruleset(name, extra=extra)
    except UsageError as error:
        error.add(
            f"\nit is your default ruleset, set by {active().origins.get('ruleset')}; see `{called('config show')}`"
        )
        raise


def _hint_on_action(name: str, default: RulesetData | None, *, verb: str) -> str:
    """Return what to type where the name of an action stands in place of a ruleset's; nothing where it is none."""
    having = rulesets_with(name)
    if default is not None:
        near = nearest(name, default.file.actions)
        of = f"; your default ruleset is {default.id}" + (f", and has {near!r}" if near else "")
    else:
        of = f"; `{called('config set', 'ruleset', having[0])}` lets you leave the ruleset out" if having else ""
    return (f"\n{name} is an action of {', '.join(having)}: `{called(verb, having[0], name)}`" if having else "") + of


def rulesets_with(action: str) -> list[str]:
    """Return the ids of the rulesets that ship with rpgres and have an action."""
    return [ruleset for ruleset in BUILTIN if action in read_ruleset(ruleset).file.actions]


def _is_dice(name: str) -> bool:
    from rpgres.dice import is_notation, resembles_notation

    return name == "-" or resembles_notation(name) or is_notation(name)


class RulesetGroup(LazyGroup):
    """The actions of one ruleset."""

    heading = "Actions"

    def __init__(self, verb: Verb, data: RulesetData) -> None:
        super().__init__(
            name=data.id,
            help=f"{data.file.title}: {data.file.summary}",
            epilog=f"`rpgres ruleset show {data.id}` shows all its details.",
            rich_markup_mode=None,
            subcommand_metavar="ACTION [OPTIONS]",
        )
        self.verb = verb
        self.data = data

    def entries(self) -> Mapping[str, str]:
        """Return the actions with their summaries."""
        return {name: action.summary for name, action in self.data.file.actions.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line up to the action."""
        args = hoist(args, self.verb.options)
        action = next((word for word in args if word in self.data.file.actions), "")
        if action and args[0].startswith("--") and args[0] not in ("--", "--help"):
            rest = " ".join([word for word in args if word != action])
            raise UsageError(f"options of an action follow its name: `{ctx.command_path} {action} {rest}`")
        return super().parse_args(ctx, args)

    def missing(self, ctx: Any) -> str:
        """Return the message of a line that names no action."""
        actions = enumerated(self.data.file.actions)
        return f"name an action of {self.data.id}: {actions}; `{ctx.command_path} --help` explains them"

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command of the action that is called; before its name may stand who acts."""
        if args[0] not in self.data.file.actions and not ctx.resilient_parsing:
            args = self._action_first(args)
        return super().resolve_command(ctx, args)

    def _action_first(self, args: list[str]) -> list[str]:
        """Return `mara overcome ...` with the action first, and an option for who acts; another line as it is."""
        from rpgres.lines.fitting import who_is_named, with_names
        from rpgres.model.state import State

        state, rules = self.verb.table(args)[0] if self.verb.table is not None else State(), self.data.without_code()
        args = with_names(rules, state, args)
        who = who_is_named(rules, state, args[0].rstrip(":"))
        if who is None:
            return args
        behind = hoist(args[1:], self.verb.options)
        action, *rest = behind[1:] if behind[:1] == ["--"] else behind or [""]
        if action == "":
            raise UsageError(f"{who}: name an action: {enumerated(self.data.file.actions)}")
        self._require(action)
        return [action, "--actor" if self.verb.is_seated else f"--{SHEET}", who, *rest]

    def load(self, name: str, args: Sequence[str]) -> Command:
        """Return the command of an action."""
        self._require(name)
        return ActionCommand(self.verb, self.data, name)

    def _require(self, action: str) -> None:
        if action not in self.data.file.actions:
            raise UsageError(unknown("action", action, self.data.file.actions, of=f"the ruleset {self.data.id}"))


_DIVIDED = (
    r"[\d(]|[dD][\d%F]+/[-\d(]|/r(?:oll)?(?!\S)"  # what begins like dice, here or elsewhere: (2d6)/2, d20/2, /r 2d6
)


def is_scene(name: str) -> bool:
    """Tell whether a word names a scene or a procedure, and neither a ruleset nor dice."""
    return name.endswith(".toml") or ("/" in name and not re.match(_DIVIDED, name)) or "\\" in name


def procedure_named(name: str, extra: tuple[Path, ...]) -> tuple[RulesetData, str] | None:
    """Return the ruleset and the procedure that `RULESET/PROCEDURE` names; None where it is a scene's name.

    Raises:
        FileError: a ruleset is named that has neither a procedure nor a scene of that name.
    """
    ruleset, _, procedure = name.partition("/")
    if not procedure or ruleset not in {one.id for one in ruleset_names()}:
        return None
    data = read_ruleset(ruleset, extra=extra)
    action = data.file.actions.get(procedure)
    from rpgres.scenes import scene_file

    if procedure.endswith(".toml") or scene_file(name, extra=extra) is not None:
        return None
    if action is None or not action.procedure:
        raise _no_procedure(data, name, procedure, extra)
    return data, procedure


def _no_procedure(data: RulesetData, name: str, procedure: str, extra: Sequence[Path]) -> FileError:
    """Return the error of a name behind a ruleset's that is neither a scene nor a procedure."""
    from rpgres.scenes import scene_names

    if procedure in data.file.actions:
        hint = f"{procedure} is an action, which `{called('roll', data.id, procedure)}` resolves"
    else:
        procedures = [f"{data.id}/{one}" for one, action in data.file.actions.items() if action.procedure]
        near = nearest(name, [*procedures, *scene_names(extra=extra)])
        told = enumerated(procedures, name, none=f"none; `{called('ruleset show', data.id)}` lists its actions")
        hint = f"did you mean {near!r}?" if near else f"procedures of {data.id}: {told}"
    return FileError(f"there is no scene or procedure {name!r}; {hint}", file=name)


def scene_command(
    name: str, act: Callable[[str, dict[str, Any]], None], options: Sequence[Option], *, summary: str, details: str
) -> SectionedCommand:
    """Return the command that does something with a scene.

    Args:
        act: does it: `act(name, values)`.
    """

    @results_alone()
    def call(**values: Any) -> None:
        act(name, values)

    return SectionedCommand(
        name,
        callback=call,
        params=[built(option) for option in options],
        help=f"{summary}\n\n{details}",
        short_help=summary,
        rich_markup_mode=None,
    )


class ActionCommand(SectionedCommand):
    """The command of one action; its help lists what can be answered, and the house rules."""

    def __init__(self, verb: Verb, data: RulesetData, action: str) -> None:
        described = data.file.actions[action]
        inputs = inputs_of(data, action, verb=verb.name)
        own = [option for option in inputs if option.name != SHEET] if verb.is_seated else inputs
        more = _besides(own, [_with_offers(option, data, action) for option in verb.options_of(described)])

        @results_alone()
        def call(**values: Any) -> None:
            try:
                verb.act(data, action, values)
            except UsageError as error:
                if error.reason == "missing" and described.example and len(error.path) == 1:
                    error.add(f"; an example: `{_example_for(described.example, verb.name)}`")
                raise

        super().__init__(
            action,
            callback=call,
            params=[built(option) for option in (*own, *more)],
            help=f"{described.summary}\n\n{described.details}".strip(),
            short_help=described.summary,
            rich_markup_mode=None,
        )
        self.verb = verb
        self.data = data

    @property
    def takes(self) -> dict[str, bool]:
        """Return whether each option takes a value, by its name as typed."""
        return {name: not one.is_flag for one in self.params if isinstance(one, TyperOption) for name in one.opts}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line; words that belong to no option are read as a short line."""
        if not ctx.resilient_parsing and has_bare_words(args, self.takes):
            from rpgres.lines.short import lengthened

            args = lengthened(self._scope(args), str(self.name), args)
        return super().parse_args(ctx, args)

    def _scope(self, words: Sequence[str]) -> Scope:
        """Return what may be named on a line, which may name the actor's sheet, or a table and the actor there."""
        from rpgres.lines.fitting import Scope
        from rpgres.model.state import State
        from rpgres.parameters.plain import sheet_of

        rules = self.data.without_code()
        if self.verb.table is not None:
            return Scope(rules, *self.verb.table(words), self.takes, is_seated=True)
        names = values_in(words, SHEET)
        character = sheet_of(rules, names[0]) if names else None
        if character is None:
            return Scope(rules, State(), ACTOR, self.takes)
        return Scope(rules, State().with_character(character), character.name, self.takes)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what can be answered, the house rules, and an example."""
        from rpgres.cli.completion import label_records, switch_records

        action = str(self.name)
        sections = {
            "Dice and decisions (--given for dice, --choose for decisions)": label_records(self.data, action),
            "House rules (--switch)": switch_records(self.data),
        }
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=28)
        example = self.data.file.actions[action].example
        if example:
            formatter.write_example(_example_for(example, self.verb.name))


def has_bare_words(args: Sequence[str], takes: Mapping[str, bool]) -> bool:
    """Tell whether a word of a line belongs to no option."""
    place = 0
    while place < len(args):
        if args[place] == "--":
            return place + 1 < len(args)
        if not args[place].startswith("-"):
            return True
        is_valued = takes.get(args[place]) and args[place + 1 : place + 2] and args[place + 1] not in takes
        place += 2 if is_valued else 1
    return False


def _besides(own: Sequence[Option], shared: Sequence[Option]) -> list[Option]:
    """Return the options of every action without names that an action's own inputs have."""
    taken = {name for option in own for name in option.names}
    left = [option for option in shared if option.names[0] not in taken]
    return [structs.replace(one, aliases=[alias for alias in one.aliases if f"--{alias}" not in taken]) for one in left]


def _example_for(example: str, verb: str) -> str:
    if verb == SCENE_RUN:
        return re.sub(r"^rpgres roll (\S+) ", r"rpgres scene run \1/", example)
    if verb in ("act", "table odds"):  # who acts sits there, and the table says which ruleset
        words = re.sub(r"^rpgres roll \S+|--sheet \S+ ?", "", example).split()
        return " ".join(("rpgres table", verb.removeprefix("table "), *words))
    return example.replace("rpgres roll ", f"rpgres {verb} ", 1)


def inputs_of(data: RulesetData, action: str, *, verb: str = "roll") -> list[Option]:
    """Return the options that an action takes itself, beside those of every action.

    Args:
        verb: what is done with it, `roll` or `odds`.
    """
    required = data.file.actions[action].required
    taken = data.parameters(action).items()
    options = [
        _input_option(data, name, parameter, left_out=_left_out(data, parameter, name in required, verb))
        for name, parameter in taken
    ]
    who = Option(SHEET, "The actor's sheet: a file, or one shipped with the ruleset.", "FILE", INPUTS)
    return [*options, _with_offers(who, data, action)]


def _left_out(data: RulesetData, parameter: Parameter, is_required: bool, verb: str) -> str:
    """Return what an input is when it is not typed."""
    if is_required and verb.endswith("odds") and parameter.kind == "opposition" and data.file.ladder:
        return "[omitted: the odds at every rung of the ladder]"
    if is_required:
        return "[required]"
    return f"[default: {parameter.default}]" if parameter.default is not None else ""


def _input_option(data: RulesetData, name: str, parameter: Parameter, *, left_out: str) -> Option:
    text = f"{parameter.help[:1].upper()}{parameter.help[1:]}"
    if parameter.choices:
        text += ": " + ", ".join(f"{choice} ({meaning})" for choice, meaning in parameter.choices.items())
    if said_words(parameter):
        text += f" ({said_words(parameter)})"
    if left_out:
        text += f" {left_out}"
    if parameter.is_repeated:
        text += f" [repeatable, at most {parameter.most} times]"

    def offer(ctx: Any, _args: list[str], incomplete: str) -> list[tuple[str, str]]:
        from rpgres.cli.completion import offer_input

        return offer_input(data, name, parameter, typed=ctx.params, incomplete=incomplete)

    return Option(
        name.replace("-", "_"),
        text,
        metavar(parameter, name, has_rungs=bool(data.file.ladder)),
        INPUTS,
        parameter.is_repeated,
        parameter.aliases,
        None if parameter.kind == "flag" else offer,
    )


def _with_offers(option: Option, data: RulesetData, action: str) -> Option:
    """Return the option with what the ruleset offers for it in a shell."""
    if option.is_flag:
        return option

    def offer(_ctx: Any, _args: list[str], incomplete: str) -> list[tuple[str, str]]:
        from rpgres.cli.completion import offer_shared

        return offer_shared(data, action, option.name)

    return structs.replace(option, complete=offer)


class DiceCommand(SectionedCommand):
    """The command of a dice expression, whose other words may begin with a minus: `d20 -2`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line, a minus before a number or dice as part of the expression."""
        taking = {name for param in self.params if not getattr(param, "is_flag", True) for name in param.opts}
        before = ["", *args]
        is_minus = re.compile(r"-(\d|[dD][\dfF%])")
        read = [
            f"\u2212{word[1:]}" if is_minus.match(word) and previous not in taking else word
            for previous, word in zip(before, args, strict=False)
        ]
        return super().parse_args(ctx, read)


def dice_command(verb: Verb, first: str) -> typer.core.TyperCommand:
    """Return the command for the dice expression that begins with this word.

    The other words of the line belong to it, so that `4dF + 3` need not stand in quotes.
    """

    def call(words: Sequence[str] = (), **values: Any) -> None:
        assert verb.roll_dice is not None
        verb.roll_dice(_expression(first, words), values)

    more = typer.core.TyperArgument(param_decls=["words"], type=str, nargs=-1, metavar="[...]", hidden=True, default=())
    return DiceCommand(
        first,
        callback=call,
        params=[more, *(built(option) for option in verb.dice_options)],
        help=f"{verb.dice_help}\n\n{NOTATION}",
        short_help=verb.dice_help,
        rich_markup_mode=None,
    )


NOTATION = """\
NdX are N dice of X sides, dX is one, d% is d100, NdF are Fate dice, d66 two dice read as tens and ones. adv and dis
are 2d20kh1 and 2d20kl1. Expressions are joined by + - * / and ( ); division drops the fraction.

Behind dice, kh kl dh dl keep or drop the highest or lowest (4d6kh3, 4d6 drop lowest), ! explodes the highest face
(!>=8 all from 8 on, !o once, !p each further die less one), oe both ends (d10oe: 10 adds, 1 subtracts), r and ro
reroll always or once (d6r1, d6ro<3), and >= <= = > < count the dice that fit (6d10>=8; > is strictly greater); a count
may have f1 (ones take one off), double 10 (tens count twice), again (tens bring another die).

Brackets name parts (2d6[fire]+d4[cold]), vs compares (d20+5 vs 15), in order rolls six times (3d6 in order), and
a comment begins with #. Instead of an expression, - reads one from standard input."""


def _expression(first: str, words: Sequence[str]) -> str:
    if first != "-" or words:
        return " ".join((first, *words))
    from rpgres.toml.reading import read_source

    lines = [line.strip() for line in read_source(Path("-")).text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise UsageError(f"standard input has one line with a dice expression, not {len(lines)} of them")
    return lines[0]
