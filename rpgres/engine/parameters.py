"""What is typed after an action, or stands in a scene's `with`, read into the values its rule takes.

Nothing here plays; reading may put somebody or something on the table first (a guard's sheet, a scene's aspect).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice import Dice, dice
from rpgres.errors import UsageError
from rpgres.model.state import EMPTY, GM, ROLES, SCENE, Map, State, Tag, blank_character, pile_name, put, slug
from rpgres.rulesets import FormField, Parameter, Rules, unknown
from rpgres.rulesets.schema import metavar
from rpgres.toml.reading import Source, nearest

if TYPE_CHECKING:
    from rpgres.rulesets.sheets import Sheet

ACTOR = "actor"  # the name of somebody acting of whom no sheet is known
OPPONENT = "opponent"  # the other side when it is nobody with a sheet
SHEET = "sheet"  # the input that names the actor's sheet; every action takes it


class Rating(msgspec.Struct, frozen=True):
    """The number an ability counts for, and the ability's name when one was given."""

    value: int
    name: str = ""


class Opposition(msgspec.Struct, frozen=True):
    """One thing in the way: a number, dice, or a character with an ability.

    Attributes:
        value: the number, or what is added to the dice.
        dice: what is rolled; None for a number.
        character: who opposes, when it is somebody at the table.
        ability: with what.
    """

    value: int
    dice: Dice | None = None
    character: str = ""
    ability: str = ""

    @property
    def is_active(self) -> bool:
        """Whether somebody rolls."""
        return self.dice is not None


class Form(msgspec.Struct, frozen=True):
    """Somebody or something that was named, with what was said of it.

    Attributes:
        name: as typed, or the name at the table of a sheet that sat down.
        values: by field; a field that was left out and has no default is not there. Numbers, texts, True or False,
            `Rating`s for abilities and `Dice` for dice.
    """

    name: str
    values: Map[str, Any]


class Setting(msgspec.Struct):
    """Where inputs are read: the table so far, who acts, and where sheets are sought. Reading adds to `state`.

    `confined` allows sheets by plain file name only, for inputs that strangers typed. `placed` are cards that somebody
    says lie in a pile, as (pile, cards, option). `sheets` are texts of sheets by the name that is typed: those that are
    known beforehand, whatever the files say now, and those that were read.
    """

    rules: Rules
    state: State
    actor: str = ACTOR
    beside: Path | None = None
    confined: bool = False
    placed: list[tuple[str, tuple[str, ...], str]] = []
    sheets: dict[str, Source] = {}

    def seat(self, sheet: Sheet) -> str:
        """Put a character and its tags on the table and return the name it has there."""
        from rpgres.rulesets.sheets import seated, unique_name

        character = sheet.character
        name = unique_name(character.name, taken=dict.fromkeys((*ROLES, *self.state.characters)))
        if name != character.name:
            character = msgspec.structs.replace(character, name=name)
            tags = tuple(msgspec.structs.replace(tag, on=name) for tag in sheet.tags)
            sheet = msgspec.structs.replace(sheet, character=character, tags=tags)
        self.state = seated(self.state, sheet)
        return name

    def sit(self, name: str) -> str:
        """Return the name of somebody at the table; a sheet that is not there yet is read and sits down.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
            MissingSheet: there is no such sheet.
            FileError: it is faulty.
        """
        return name if name in self.state.characters else self.seat(self.read(name))

    def check_name(self, name: str) -> None:
        """Check that a sheet may be named so.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
        """
        if self.confined and (name != os.path.basename(name) or "\\" in name or ":" in name or name in ("-", "..")):
            raise UsageError(f"a sheet is named by its file's name here, not by a path: {name!r}")

    def read(self, name: str) -> Sheet:
        """Return a sheet by the name that was typed.

        Raises:
            UsageError: the name is a path, and paths are not allowed here.
            FileError: there is no such sheet, or it is faulty.
        """
        self.check_name(name)
        from rpgres.rulesets.sheets import read_sheet, sheet_source

        if name not in self.sheets:
            self.sheets[name] = sheet_source(self.rules, name, beside=self.beside)
        return read_sheet(self.rules, name, source=self.sheets[name])


def read_inputs(setting: Setting, action: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an action's rule, by parameter name with underscores.

    Args:
        setting: the table so far; characters and tags that the inputs bring are added to its state.
        action: the action's name.
        given: values as typed (text) or scripted (numbers, tables, lists), by parameter name.

    Raises:
        UsageError: an input is unknown, missing, or says something impossible.
        FileError: a sheet is missing or faulty.
    """
    rules = setting.rules
    described = rules.file.actions[action]
    given = _canonical(rules, action, given)
    sheet, before = given.get(SHEET), setting.state.characters
    if sheet is not None:
        setting.actor = setting.seat(setting.read(str(sheet)))
    elif setting.actor not in setting.state.characters:
        setting.state = setting.state.with_character(blank_character(setting.actor))
    arguments: dict[str, Any] = {}
    parameters = rules.parameters(action)
    lacking = [name for name in parameters if name in described.required and given.get(name) is None]
    if lacking:
        words = (
            f"--{name} {metavar(parameters[name], name, has_rungs=bool(rules.file.ladder))}: {parameters[name].help}"
            for name in lacking
        )
        raise UsageError(f"{rules.id} {action} needs {'; and '.join(words)}")
    for name, parameter in parameters.items():  # first, as what else is typed may depend on whose somebody is
        if parameter.kind == "flag" and parameter.seat and read_flag(given.get(name, False), option=f"--{name}"):
            give_seat(setting, setting.actor, parameter.seat, before=before)
    for name, parameter in parameters.items():
        value = given.get(name)
        if value is None and parameter.default is None and name not in described.required:
            continue  # the rule's own default stands
        read = _read(setting, name, parameter, value)
        if parameter.is_argument:
            arguments[name.replace("-", "_")] = read
    return arguments


def _canonical(rules: Rules, action: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs under their parameters' own names, aliases replaced; refuses what the action does not take."""
    names = {SHEET: SHEET}
    for name, parameter in rules.parameters(action).items():
        names |= {name: name} | dict.fromkeys(parameter.aliases, name)
    read: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("_", "-")
        if name not in names:
            raise UsageError(unknown("parameter", key, names, of=f"the action {rules.id} {action}"))
        if names[name] in read:
            raise UsageError(f"{rules.id} {action} was given both --{names[name]} and --{name}; they mean the same")
        if value is not None:
            read[names[name]] = value
    return read


def _read(setting: Setting, name: str, parameter: Parameter, value: Any) -> Any:
    if value is None:
        value = parameter.default
    if parameter.kind == "cards":
        return _place(setting, name, parameter, value)
    if parameter.is_repeated:
        if value is None:
            return ()
        values = value if isinstance(value, list | tuple) else [value]
        if len(values) > parameter.most:
            raise UsageError(f"--{name} can be given {parameter.most} times at most, not {len(values):,} times")
        read = [_read_one(setting, name, parameter, one) for one in values]
        return tuple(one for one in read if one is not None)
    if value is None:
        return False if parameter.kind == "flag" else None
    if isinstance(value, list | tuple):
        raise UsageError(f"--{name} takes one value, not {len(value)}")
    return _read_one(setting, name, parameter, value)


def _read_one(setting: Setting, name: str, parameter: Parameter, value: Any) -> Any:
    match parameter.kind:
        case "ability":
            return read_ability(setting.rules, value, state=setting.state, actor=setting.actor, option=f"--{name}")
        case "opposition":
            return read_opposition(setting, value, option=f"--{name}", parameter=parameter)
        case "integer":
            return read_integer(parameter, value, option=f"--{name}")
        case "counter":
            return _set_counter(setting, parameter, read_integer(parameter, value, option=f"--{name}"))
        case "flag":
            return read_flag(value, option=f"--{name}")
        case "choice":
            return read_choice(parameter, value, option=f"--{name}")
        case "character":
            return _character(setting, str(value), option=f"--{name}")
        case "tag":
            return _lay_tag(setting, parameter, str(value))
        case "text":
            return read_text(value, option=f"--{name}")
        case "form":
            from rpgres.engine.forms import read_form

            return read_form(setting, parameter, value, option=f"--{name}")


def read_text(value: Any, *, option: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{option} takes a text, not {value!r}")
    return value


def read_choice(described: Parameter | FormField, value: Any, *, option: str) -> str:
    if not isinstance(value, str) or value not in described.choices:
        raise UsageError(unknown("choice", str(value), described.choices, of=option))
    return value


def read_integer(parameter: Parameter | FormField, value: Any, *, option: str) -> int:
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            raise UsageError(f"{option} takes a whole number, not {value!r}") from None
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{option} takes a whole number, not {value!r}")
    low, high = parameter.at_least, parameter.at_most
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = (
            f"from {low} to {high}"
            if None not in (low, high)
            else f"at least {low}"
            if high is None
            else f"at most {high}"
        )
        raise UsageError(f"{option} takes a whole number {bounds}, not {value}")
    return value


def read_flag(value: Any, *, option: str) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "yes", "false", "no"):
        return value in ("true", "yes")
    raise UsageError(f"{option} is either set or not; {value!r} is neither true nor false")


def _set_counter(setting: Setting, parameter: Parameter, value: int) -> int:
    counter = parameter.counter
    if parameter.holder == ACTOR:
        setting.state = put(
            setting.state, ("characters", setting.actor, "counters"), _counters(setting).with_(counter, value)
        )
    else:
        setting.state = put(setting.state, ("counters",), setting.state.counters.with_(counter, value))
    return value


def _counters(setting: Setting) -> Map[str, int]:
    return setting.state.characters[setting.actor].counters


def _place(setting: Setting, name: str, parameter: Parameter, value: Any) -> None:
    """Note which cards somebody says lie in a pile; they are laid there when the action begins."""
    if value is None:
        return
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"--{name} takes cards separated by commas, not {value!r}")
    texts = tuple(text.strip() for one in value for text in one.split(",") if text.strip())
    most = parameter.at_most if parameter.at_most is not None else parameter.most
    if len(texts) > most:
        raise UsageError(f"--{name} takes at most {most} of the cards, not {len(texts):,}")
    each = setting.rules.file.piles[parameter.pile].each
    owner = setting.actor if each else ""
    if each == "players" and setting.state.seat_of(owner) == GM:
        raise UsageError(f"--{name}: {owner} is the game master's, and has no {parameter.pile} of their own")
    setting.placed.append((pile_name(parameter.pile, owner), texts, f"--{name}"))


def _lay_tag(setting: Setting, parameter: Parameter, text: str) -> str:
    """Put `TEXT` or `TEXT=USES` on the scene, the uses held by the parameter's holder, and return the tag's slug."""
    name, separator, count = text.rpartition("=")
    if not separator:
        name, count = text, "0"
    if not slug(name):
        raise UsageError(f'{text!r} names nothing; say for example "Rain-Slick Roofs=1"')
    if not count.isdecimal() or int(count) > 99:
        raise UsageError(f"{text!r}: behind = stands a number of free uses from 0 to 99, not {count!r}")
    seat = setting.state.seat_of(setting.actor)  # what the actor does not know of is not met by its name
    tag = setting.state.seen_by(seat).tag(name) or Tag(name.strip(), parameter.tag, SCENE)
    holder = setting.actor if parameter.holder == ACTOR else parameter.holder
    state = setting.state if tag.audience is not None else setting.state.with_room(tag.name)
    setting.state = state.with_tag(tag.with_uses(holder, int(count)))
    return tag.slug


def _character(setting: Setting, name: str, *, option: str) -> str:
    """Return the name of somebody at the table, or of a sheet, which sits down."""
    from rpgres.rulesets.sheets import MissingSheet

    try:
        return setting.sit(name)
    except MissingSheet:
        raise _nobody(setting, name, option) from None


def _nobody(setting: Setting, name: str, option: str) -> UsageError:
    from rpgres.rulesets.sheets import sheet_names

    known = [known for known in setting.state.characters if known != ACTOR]
    who = f"at the table: {', '.join(known)}" if known else "nobody else is at the table"
    near = nearest(name, [*known, *sheet_names(setting.rules)])
    hint = f"; did you mean {near!r}?" if near else ""
    return UsageError(f"{option}: {name!r} is neither at the table nor a sheet ({who}){hint}")


def give_seat(setting: Setting, name: str, seat: str, *, before: Mapping[str, Any]) -> None:
    """Give a seat to somebody who has just come to the table; whoever was there before keeps the own one."""
    if name in setting.state.characters and name not in before:
        setting.state = put(setting.state, ("characters", name, "seat"), seat)


# ---------------------------------------------------------------------------------------------------------------------
# Ratings and opposition


def ability_names(rules: Rules) -> list[str]:
    """Return every ability the ruleset's sheets know by name."""
    return [name for field in rules.file.sheet.values() if field.kind == "abilities" for name in field.names]


def read_ability(rules: Rules, value: Any, *, state: State, actor: str, option: str = "--skill") -> Rating:
    """Return the rating that `3`, `resources`, `resources=3` or a rung of the ladder stands for.

    Raises:
        UsageError: it is no number, and the actor's sheet does not know the name.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UsageError(f"{option} takes a number or the name of an ability, not {value!r}")
    if isinstance(value, int):
        return Rating(value)
    number = number_in(value)
    if number is not None:
        return Rating(number)
    name, separator, rating = value.partition("=")
    name = slug(name)
    if separator:
        number = number_in(rating)
        if number is None:
            raise UsageError(f"{option} {value}: behind = stands a whole number, not {rating!r}")
        _check_spelt(rules, name, state.characters[actor].abilities, option=option)
        return Rating(number, name)
    abilities = state.characters[actor].abilities
    if name in abilities:
        return Rating(abilities[name], name)
    known = ability_names(rules)
    if name in known:
        if not abilities:
            raise UsageError(
                f"{option} {name}: no sheet says how high it is; give --sheet FILE, or {option} {name}=NUMBER"
            )
        return Rating(0, name)
    rung = rung_in(rules, value)
    if rung is not None:
        return Rating(rung)
    if actor == ACTOR and not abilities:
        near = nearest(value, (*known, *rules.file.ladder))
        if near is not None:
            raise UsageError(f"{option} {value!r} is no whole number; did you mean {near!r}?")
        shown = value if len(value) < 40 else f"{value[:40]}..."
        raise UsageError(f"{option} {shown!r} is no whole number, and there is no sheet on which it could be a name")
    raise UsageError(unknown("ability", value, sorted({*abilities, *known}), of=f"{actor}'s sheet"))


def _check_spelt(rules: Rules, name: str, abilities: Mapping[str, int], *, option: str) -> None:
    """Check that an ability whose rating is typed is none that the ruleset's sheets list, misspelt.

    Any other may be typed: a ruleset lists what is common, and a number stands by itself.

    Raises:
        UsageError: it is nearly one that is listed.
    """
    known = ability_names(rules)
    if name in abilities or name in known:
        return
    near = nearest(name, known)
    if near is not None:
        raise UsageError(
            f"{option}: {rules.id} has no ability {name!r}; did you mean {near!r}? "
            "(The rating of another one is typed as a number alone.)"
        )


def number_in(text: str) -> int | None:
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    digits = text[1:] if text[:1] in "+-" else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def rung_in(rules: Rules, text: str) -> int | None:
    wanted = slug(text)
    return next((number for name, number in rules.file.ladder.items() if slug(name) == wanted), None)


_ANY = Parameter(kind="opposition", help="")  # what nothing narrows down


def read_opposition(
    setting: Setting, value: Any, *, option: str = "--vs", parameter: Parameter | None = None
) -> Opposition | None:
    """Return the opposition that a number, a rung, dice, `NAME:ABILITY` or a scene's table stands for; None for `none`.

    Args:
        setting: the table so far.
        value: as typed or scripted.
        option: what it was typed after.
        parameter: what says what a rating means as opposition; by default the ruleset's dice are added to it.

    Raises:
        UsageError: it is none of them.
        NotationError: it looks like dice and is faulty.
    """
    if isinstance(value, Mapping):
        return _scripted_opposition(setting, value, option=option, parameter=parameter)
    if isinstance(value, int) and not isinstance(value, bool):
        return _plain(value, parameter)
    if not isinstance(value, str):
        raise UsageError(f"{option} takes a number, a rung of the ladder, dice, or SHEET:ABILITY, not {value!r}")
    text = value.strip()
    if text.lower() == "none":
        return None
    number = number_in(text)
    if number is None:
        number = rung_in(setting.rules, text)
    if number is not None:
        return _plain(number, parameter)
    counted = _with_unit(text, parameter, option=option)
    if counted is not None:
        return Opposition(counted)
    name, separator, ability = text.rpartition(":")
    if separator and name:
        return _opposed_by(setting, name, ability, option=option, parameter=parameter)
    name, separator, ability = text.partition("=")
    if separator and parameter is not None and parameter.rolls and number_in(ability) is not None:
        _check_spelt(setting.rules, slug(name), EMPTY, option=option)
        return rated(parameter.rolls, number_in(ability) or 0, ability=slug(name))
    if any(char.isdigit() for char in text):
        read = dice(text)
        if read.constant:
            return Opposition(read.law.values[0])
        _check_counted(text, read, option=option, parameter=parameter)
        return Opposition(0, read)
    raise _no_opposition(setting.rules, value, option=option, parameter=parameter)


def _no_opposition(rules: Rules, value: str, *, option: str, parameter: Parameter | None) -> UsageError:
    """Return what to say of a text that stands for no opposition: what does, as far as this parameter takes it."""
    near = nearest(value.strip(), rules.file.ladder)
    if near is not None:
        return UsageError(f"{option} {value!r} is no rung of the ladder; did you mean {near!r}?")
    ladder = ", ".join(rules.file.ladder)
    unit = parameter.unit if parameter is not None else ""
    forms = metavar(parameter or _ANY, option, has_rungs=bool(ladder)).split("|")
    wanted = (
        "no number",
        f"no number of {unit} such as 3 {unit}" if unit else "",
        f"no rung of the ladder ({ladder})" if "RUNG" in forms else "",
        f"no dice such as {_dice_example(rules, parameter)}" if "DICE" in forms else "",
        "no SHEET:ABILITY such as guard.toml:will" if "SHEET:ABILITY" in forms else "",
        "not none" if "none" in forms else "",
    )
    *others, last = filter(None, wanted)
    return UsageError(f"{option} {value!r} is {', '.join(others)}{', and ' if others else ''}{last}")


def _dice_example(rules: Rules, parameter: Parameter | None) -> str:
    """Return dice that may oppose, as an example."""
    if parameter is not None and parameter.rolls:
        shown = _rated(parameter.rolls, 4)
        if not shown.constant:
            return shown.text
    return f"{rules.file.dice or '2d6'}+2"


def _with_unit(text: str, parameter: Parameter | None, *, option: str) -> int | None:
    """Return the number of `3 successes`, or of `3s`, where plain numbers are ratings; None for any other text.

    Raises:
        UsageError: the unit is misspelt.
    """
    if parameter is None or not parameter.unit:
        return None
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    word = text[len(digits) :].strip().lower()
    if digits and nearest(word, (parameter.unit,)) and not parameter.unit.startswith(word):
        raise UsageError(f"{option} {text!r}: a plain number is written as `{digits} {parameter.unit}`")
    return number_in(digits) if word and parameter.unit.startswith(word) else None


def _check_counted(text: str, read: Dice, *, option: str, parameter: Parameter | None) -> None:
    """Check that dice which are typed against counted ones are counted too.

    Raises:
        UsageError: they would be a sum of what they show.
    """
    if parameter is None or not parameter.rolls:
        return
    pools = _rated(parameter.rolls, 1).pools
    target = pools[0].target if pools else None
    if target is None or all(pool.target is not None for pool in read.pools):
        return
    count = read.pools[0].count
    advice = [
        f"{count}d{pools[0].sides}{target.sign}{target.number}",
        f"{count} for a pool of so many dice" if parameter.numbers_too else "",
        f"3 {parameter.unit} for a plain number" if parameter.unit else "",
    ]
    say = ", or ".join(filter(None, advice))
    raise UsageError(f"{option} {text} would be the sum of what these dice show, and here dice are counted; type {say}")


def _plain(number: int, parameter: Parameter | None) -> Opposition:
    """Return what a plain number means: itself, or a rating of whoever opposes."""
    if parameter is not None and parameter.rolls and parameter.numbers_too:
        return rated(parameter.rolls, number)
    return Opposition(number)


def rated(rolls: str, rating: int, *, character: str = "", ability: str = "") -> Opposition:
    """Return what a rating means as opposition: `{rating}` of the parameter's `rolls` replaced by it."""
    read = _rated(rolls, rating)
    if read.constant:
        return Opposition(read.law.values[0], None, character, ability)
    return Opposition(0, read, character, ability)


def _rated(rolls: str, rating: int) -> Dice:
    from rpgres.rulesets.templates import fill

    return dice(fill(rolls, lambda _: rating))


def _scripted_opposition(
    setting: Setting, table: Mapping[str, Any], *, option: str, parameter: Parameter | None
) -> Opposition:
    rest = dict(table)
    name = rest.pop("character", None)
    if not isinstance(name, str) or len(rest) != 1:
        raise UsageError(f'{option} as a table is {{ character = "NAME", skill = "ABILITY" }}, not {dict(table)!r}')
    return _opposed_by(setting, name, str(next(iter(rest.values()))), option=option, parameter=parameter)


def _opposed_by(setting: Setting, name: str, ability: str, *, option: str, parameter: Parameter | None) -> Opposition:
    character = _character(setting, name, option=option)
    if character == setting.actor:
        raise UsageError(f"{option}: {character} cannot be in the own way")
    rating = read_ability(setting.rules, ability, state=setting.state, actor=character, option=option)
    if parameter is not None and parameter.rolls:
        return rated(parameter.rolls, rating.value, character=character, ability=rating.name)
    return Opposition(rating.value, setting.rules.dice, character, rating.name)
