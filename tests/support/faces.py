"""The public names as `plugins/README.md` lists them: made from docstrings, so that page and code cannot part."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, get_args, get_type_hints

import msgspec

import rpgres
from rpgres import kits
from rpgres.formats.descriptions import field_texts
from rpgres.rulesets.actions import FormField, Parameter
from rpgres.rulesets.schema import Action

# By what an author does with them; every public name has to be in one group.
GROUPS: dict[str, tuple[str, ...]] = {
    "A plugin": (
        *("hookimpl", "Ruleset", "Rule", "Costs", "ApplyEffect", "Policy", "Lump", "Passage", "Picture"),
        *("QUESTIONS", "API", "__version__"),
    ),
    "At the table": ("Table", "Rules", "Option", "NO", "Compared", "Outcome", "Turn", "Effect", "effect", "once"),
    "What parameters read": ("Rating", "Opposition", "Form"),
    "Dice": ("Dice", "Reading", "Comparison", "Throw"),
    "The state": (
        *("State", "Character", "Tag", "Box", "Map", "EMPTY", "GM", "SCENE"),
        *("put", "mark_box", "freeze", "slug"),
    ),
    "Cards": ("Card", "Deck", "Pile", "pile_name", "FACE_DOWN"),
    "Policies": (
        "Preference",
        "View",
        "Question",
        "Event",
        "Rolled",
        "Drawn",
        "Moved",
        "Decided",
        "Told",
        "Turned",
        "by_facts",
        "by_question",
        "preferred",
        "uniform",
    ),
    "Errors": (
        *("RpgresError", "UsageError", "NotationError", "GivenError", "ChoiceError"),
        *("FileError", "TableError", "RuleError", "PluginError", "named", "unknown"),
    ),
    "Bots and scripts": (
        *("resolve", "roll", "odds", "odds_scene", "odds_best"),
        *("odds_table", "odds_compare"),
        *("simulate", "whatif", "run_scene", "load_sheet", "rulesets"),
        *("Result", "Pending", "html_of", "text_of"),
    ),
    "Persistent tables": ("open_table", "new_table", "PersistentTable", "TableResult", "TablePending"),
}


def face_text() -> str:
    """Return the tables of what `rpgres` names."""
    noted = notes()
    told = {name: noted.get(name) or first_line(getattr(rpgres, name)) for name in rpgres.__all__}
    return "\n".join(
        _table(f"**{group}**", {name: told.get(name, "") for name in names}) for group, names in GROUPS.items()
    )


def notes() -> dict[str, str]:
    """Return what stands below public names that have no docstring of their own: constants and types."""
    homes = {name: home for home, names in rpgres._HOMES.items() for name in names}
    found = dict[str, str]()
    for name in rpgres.__all__:
        value = getattr(rpgres, name)
        if not isinstance(value, type | FunctionType | ModuleType):
            found |= _notes_in(importlib.import_module(f"rpgres.{homes.get(name, 'version')}"), name)
    return found


def _notes_in(module: ModuleType, name: str) -> dict[str, str]:
    """Return the text below the assignment of a name, in the module or in the one that it is imported from."""
    body = ast.parse(inspect.getsource(module)).body
    for node, below in pairwise(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == name and isinstance(below, ast.Expr):
            return {name: ast.literal_eval(below.value)}
    origins = (node for node in body if isinstance(node, ast.ImportFrom) and name in [one.name for one in node.names])
    return next((_notes_in(importlib.import_module(str(one.module)), name) for one in origins), {})


def kits_text() -> str:
    """Return the tables of what the kits name, a module after the other."""
    return "\n".join(
        _table(f"**`{module.__name__}`**: {first_line(module)}", dict(_named(module))) for module in modules()
    )


def modules() -> Iterator[ModuleType]:
    """Yield the kits' modules."""
    for found in pkgutil.walk_packages(kits.__path__, f"{kits.__name__}."):
        yield importlib.import_module(found.name)


def _named(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the public names that a module defines, in order, with their docstrings' first lines or comments."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, first_line(getattr(module, node.name))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and not target.id.startswith("_") and target.id != "__all__":
                comment = lines[node.end_lineno - 1].partition("  # ")[2] if node.end_lineno else ""
                yield target.id, comment or f"`{ast.unparse(node.value) if node.value else ''}`"


def first_line(named: object) -> str:
    """Return the first sentence of a docstring, which is its first line."""
    return (inspect.getdoc(named) or "").partition("\n")[0]


def _table(heading: str, told: Mapping[str, str]) -> str:
    rows = "".join(f"| `{name}` | {text.replace('|', '/')} |\n" for name, text in told.items())
    return f"{heading}\n\n| | |\n|---|---|\n{rows}"


def table_text() -> str:
    """Return the tables of what a rule may use of `Table`, and of how a `Ruleset` is declared, with the arguments."""
    tables = []
    for record in (rpgres.Table, rpgres.Ruleset):
        told = {}
        for name, member in public_members(record).items():
            is_read = isinstance(member, property)
            told[name if is_read else f"{name}{_arguments(member)}"] = first_line(member)
        tables.append(_table(f"**`{record.__name__}`**", told))
    return "\n".join(tables)


def public_members(record: type) -> dict[str, Any]:
    """Return the methods and properties of a class, in order."""
    kinds = (FunctionType, property)
    return {name: one for name, one in vars(record).items() if isinstance(one, kinds) and not name.startswith("_")}


def _arguments(function: Any) -> str:
    """Return the arguments of a method with their defaults, without types."""
    its = inspect.signature(function)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in its.parameters.values() if one.name != "self"]
    return str(its.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def keys_text() -> str:
    """Return the tables of what `[actions.NAME]`, `[parameters.NAME]` and the fields of a form may say."""
    records = {"[actions.NAME]": Action, "[parameters.NAME]": Parameter, "[parameters.NAME.fields.NAME]": FormField}
    return "\n".join(_table(f"**`{heading}`**", keys_of(record)) for heading, record in records.items())


def keys_of(record: type[msgspec.Struct]) -> dict[str, str]:
    """Return the keys of a table of `ruleset.toml`, as they are written there, with what each says."""
    texts, hints = field_texts(record), get_type_hints(record, include_extras=True)
    keys = {field.encode_name: _described(hints[field.name]) for field in msgspec.structs.fields(record)}
    return {key: described or texts[key] for key, described in keys.items()}


def _described(hint: Any) -> str:
    return next((one.description for one in get_args(hint) if isinstance(one, msgspec.Meta) and one.description), "")


SECTIONS = {"table": table_text, "keys": keys_text, "face": face_text, "kits": kits_text}
