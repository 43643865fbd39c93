"""Whether data and code fit together: each kind of misfit is told, and what fits is left alone."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rpgres
from rpgres.conformance import CHECKS
from rpgres.dice import dice
from rpgres.engine.table import Outcome, Table
from rpgres.formats.schemas import make_schema
from rpgres.lint.whole import all_diagnostics
from rpgres.model.state import Character, State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.entries import BUILTIN
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Band, Part, Rules, Ruleset, RulesetFile, merge_parts
from rpgres.toml.diagnostics import CODES, Diagnostic
from rpgres.toml.reading import Source, parse
from tests.support.effort import examples

ROOT = Path(rpgres.__file__).parent

DATA = """
title = "Climb"
summary = "One action with everything an action can have."
version = "1"
dice = "2d6"

[bands]
fall = { title = "Fall", to = -1, success = false }
up = { title = "Up", from = 0, success = true, unopposed = true }
stuck = { title = "Stuck" }

[actions.climb]
summary = "Climb."
parameters = ["skill", "how", "rope", "fear"]
required = ["skill"]
labels = ["roll"]
tables = ["climb"]

[parameters.skill]
kind = "ability"
aliases = ["ability"]
help = "what is rolled with"

[parameters.how]
kind = "choice"
choices = { slow = "with care", fast = "at a run" }
default = "slow"
help = "how"

[parameters.rope]
kind = "tag"
tag = "gear"
help = "what helps"

[parameters.fear]
kind = "counter"
counter = "fear"
help = "how afraid"

[labels.roll]
kind = "chance"
help = "two dice"

[labels.catch]
kind = "decision"
help = "whether to catch hold"

[switches.mercy]
help = "who decides"
source = "ours"
default = "actor"
choices = { actor = "whoever climbs", gm = "the game master" }

[effects.hurt]
help = "somebody is hurt"

[policies]
careful = "catches hold"

[tracks.wounds]
title = "Wounds"
boxes = { a = 1 }

[sheet.skills]
kind = "abilities"
any-name = true
help = "skills"

[sheet.gear]
kind = "tags"
tag = "gear"
help = "what is carried"

[sheet.wounds]
kind = "written"
track = "wounds"
help = "wounds"

[menus.catch]
who = "switch:mercy"
text = "Catch hold?"
[menus.catch.options.yes]
text = "You hold."
effects = [{ kind = "hurt", when = { margin-from = -3, mercy = ["actor"], weather = "wet" } }]
[menus.catch.options.no]
text = "You fall."

[outcomes.climb.fall]
text = "You slip."
ask = { catch = { menu = "catch", unless = { mercy = "gm" } } }

[outcomes.climb.up.ask.gloat]
who = "gm"
optional = true
options = { aloud = { text = "Aloud." }, softly = { text = "Softly.", effects = [{ kind = "hurt" }] } }
"""


def code() -> Ruleset:
    """Return the code that fits the data above."""
    ruleset = Ruleset("climb", data=Path())

    @ruleset.action("climb")
    def climb(table: Table, actor: Character, skill: Any, how: str) -> Outcome:
        return table.settle("climb", table.roll(dice("2d6")) + skill.value - 7)

    @ruleset.effect("hurt")
    def hurt(state: State, effect: Any) -> State:
        return state

    @ruleset.policy("careful")
    def careful(view: Any, question: Any) -> str:
        return "yes"

    return ruleset


def problems_of(rules: Rules) -> list[str]:
    return [found.text for found in all_diagnostics(rules)]


def problems(data: str, ruleset: Ruleset | None = None) -> list[str]:
    source = Source("ruleset.toml", data)
    parts = [Part(folder=Path("nowhere"), source=source, data=parse(source))]
    return problems_of(Rules(ruleset or code(), file=merge_parts(parts), parts=parts))


def test_what_fits_has_no_problems() -> None:
    assert problems(DATA) == []


@pytest.mark.parametrize("ruleset_id", BUILTIN)
@pytest.mark.parametrize("value", ["first", "last"])
def test_builtins_fit_with_every_switch_at_either_end(ruleset_id: str, value: str) -> None:
    ruleset = find_ruleset(ruleset_id)
    switches = load_rules(ruleset).file.switches
    picked = {name: list(switch.choices)[0 if value == "first" else -1] for name, switch in switches.items()}
    assert problems_of(load_rules(ruleset, switches=picked)) == []


FORM = '[parameters.foe]\nkind = "form"\nhelp = "who else"\n'

CHANGES = {
    "action without rule": ("[actions.climb]", "[actions.clim]", "actions.clim has no rule in the code"),
    "procedure without rule": (
        "[actions.climb]",
        "[actions.clim]\nprocedure = true",
        'actions.clim has no rule in the code (@ruleset.procedure("clim", turn=...)); did you mean `climb`?',
    ),
    "parameter": (
        '"how", "rope"',
        '"hwo", "rope"',
        "actions.climb.parameters[1]: the ruleset has no parameter 'hwo'; it has",
    ),
    "required": (
        'required = ["skill"]',
        'required = ["skil"]',
        "actions.climb.required[0]: the ruleset has no parameter 'skil'",
    ),
    "dice of a label": (
        '[labels.roll]\nkind = "chance"',
        '[labels.roll]\nkind = "chance"\ndice = "4dX"',
        "labels.roll.dice: ",
    ),
    "label": ('labels = ["roll"]', 'labels = ["rol"]', "the ruleset has no label 'rol'; did you mean `roll`?"),
    "table": ('tables = ["climb"]', 'tables = ["clim"]', "has no outcome table 'clim'; did you mean `climb`?"),
    "argument too many": (
        '"how", "rope", "fear"',
        '"rope"',
        "and does not accept that: missing a required argument: 'how'",
    ),
    "argument that may be left out": (
        'default = "slow"\nhelp = "how"',
        'help = "how"',
        "actions.climb.parameters[1]: how can be left out, so the rule 'climb' needs a default: how=None or another",
    ),
    "argument unknown": ('kind = "tag"\ntag = "gear"', 'kind = "text"', "unexpected keyword argument 'rope'"),
    "reserved name": ("[parameters.rope]", '[parameters.rope]\nname = "seed"', "every action has an option 'seed'"),
    "reserved name of rolls alone": ("[parameters.rope]", '[parameters.rope]\nname = "wait"', "an option 'wait'"),
    "reserved alias": ('aliases = ["ability"]', 'aliases = ["sheet"]', "every action has an option 'sheet'"),
    "double name": ("[parameters.rope]", '[parameters.rope]\nname = "how"', "two of its parameters have the same name"),
    "double alias": ('aliases = ["ability"]', 'aliases = ["how"]', "'how' means both"),
    "no choices": ('choices = { slow = "with care", fast = "at a run" }\ndefault = "slow"', "", "without choices"),
    "default": ('default = "slow"', 'default = "slwo"', "the default 'slwo' is none of the choices"),
    "tag": ('kind = "tag"\ntag = "gear"', 'kind = "tag"', "needs tag = KIND"),
    "counter": ('counter = "fear"', "", "needs counter = NAME"),
    "effect text": (
        "[effects.hurt]",
        "[effects.hrut]",
        "the kind of effect 'hrut' has no function in the code (@ruleset.effect(\"hrut\")); did you mean `hurt`?",
    ),
    "policy text": ("careful =", "carefull =", "policies.carefull: the policy 'carefull' has no function"),
    "effect kind in a row": (
        'text = "You slip."',
        'text = "You slip."\neffects = [{ kind = "hrut" }]',
        "outcomes.climb.fall.effects[0].kind: the kind of effect 'hrut' has no function in the code",
    ),
    "effect kind in an option": (
        'effects = [{ kind = "hurt" }] }',
        'effects = [{ kind = "x" }] }',
        "outcomes.climb.up.ask.gloat.options.softly.effects[0].kind",
    ),
    "effect kind in a menu": (
        'effects = [{ kind = "hurt", when',
        'effects = [{ kind = "x", when',
        "menus.catch.options.yes.effects[0].kind: the kind",
    ),
    "no kind": ('effects = [{ kind = "hurt" }] }', "effects = [{ size = 3 }] }", "an effect without a kind"),
    "menu": ('menu = "catch"', 'menu = "cacht"', "has no menu 'cacht'"),
    "menu of menus": ('who = "switch:mercy"', 'who = "gm"\nmenu = "catch"', "a menu cannot use another menu"),
    "menu without end": (
        'text = "You fall."',
        'text = "You fall."\nask = { catch = { menu = "catch" } }',
        "refers to itself endlessly",
    ),
    "nobody asked": ('who = "gm"\noptional', 'text = "Well?"\noptional', "who is asked is missing"),
    "nothing asked": ('who = "gm"\noptional', "optional", "up.ask.gloat: this question has none of"),
    "kind without a text": ("[effects.hurt]", "[effects.other]", "[effects.hurt] is missing"),
    "values of no field": ("[effects.hurt]", '[effects.hurt]\nvalues = { size = ["s"] }', "it has no field 'size'"),
    "margin of a condition": ("margin-from = -3", "margin-form = -3", "did you mean `margin-from`?"),
    "unknown switch asked": ("switch:mercy", "switch:mecry", "has no switch 'mecry'; did you mean `mercy`?"),
    "odd role": ("switch:mercy", "swich:mercy", "neither a role nor switch:NAME"),
    "no options": (
        'options = { aloud = { text = "Aloud." }, softly = { text = "Softly.", effects = [{ kind = "hurt" }] } }',
        "",
        "it has no options",
    ),
    "label rolled": (
        "[outcomes.climb.up.ask.gloat]",
        "[outcomes.climb.up.ask.roll]",
        "labels.roll is declared as a roll",
    ),
    "condition on a margin": ("margin-from = -3", 'margin-from = "low"', "margin-from is a whole number, not 'low'"),
    "condition on a switch": ('mercy = ["actor"]', 'mercy = ["actr"]', "the switch mercy has no choice 'actr'"),
    "condition of a question": ('unless = { mercy = "gm" }', 'unless = { mercy = "mg" }', "has no choice 'mg'"),
    "condition": ("when = { margin-from = -3, ", "when = 3, other = { ", "when: expected a table, found a whole"),
    "band of a table": ("[outcomes.climb.fall]", "[outcomes.climb.fal]", "has no band 'fal'"),
    "two unopposed": (
        'fall = { title = "Fall",',
        'fall = { title = "Fall", unopposed = true,',
        "several bands",
    ),
    "empty band": ("to = -1", "from = 3, to = -1", "the band fall goes from 3 to -1"),
    "dice": ('"2d6"', '"2d"', "dice: "),
    "track": ('track = "wounds"', 'track = "wound"', "has no track 'wound'; did you mean `wounds`?"),
    "written nowhere": ('track = "wounds"', "", "track = NAME is missing"),
    "tags of no kind": (
        'tag = "gear"\nhelp = "what is carried"',
        'help = "what is carried"',
        "the kind of its tags is missing",
    ),
    "form without fields": ("[parameters.rope]", FORM + "[parameters.rope]", "parameters.foe: a form without fields"),
    "fields of no form": (
        'tag = "gear"',
        'tag = "gear"\nfields.load = { kind = "text", help = "what" }',
        "parameters.rope.fields: only parameters of the kind 'form' have fields",
    ),
    "field of a form called name": (
        "[parameters.rope]",
        FORM + 'fields.name = { kind = "text", help = "what" }\n[parameters.rope]',
        "parameters.foe.fields.name: `name` is reserved for the text before the colon",
    ),
    "default of a required field": (
        "[parameters.rope]",
        FORM + 'fields.load = { kind = "text", help = "what", required = true, default = "a" }\n[parameters.rope]',
        "parameters.foe.fields.load.default: a required field cannot have a default",
    ),
    "note on no setting": (
        "[labels.roll]",
        '[settings-notes]\nnone = "what"\n[labels.roll]',
        "settings-notes.none: there is no setting 'none' to explain",
    ),
    "rule beside a description": (
        'summary = "Climb."',
        'summary = "Climb."\ndice = "2d6"',
        "actions.climb.dice: it has both `dice` and a rule in the code",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_does_not_fit_is_told(what: str) -> None:
    old, new, told = CHANGES[what]
    assert old in DATA
    found = problems(DATA.replace(old, new, 1))
    assert any(told in problem for problem in found), found
    assert all("\n" not in problem for problem in found)


def test_code_without_data_is_told() -> None:
    ruleset = code()
    ruleset.action("glide")(ruleset.actions["climb"])
    assert problems(DATA, ruleset) == ["ruleset.toml:12: actions: the rule 'glide' has no data ([actions.glide])"]


def test_effects_that_only_code_gives_need_no_text() -> None:
    ruleset = code()
    ruleset.effect("secret")(ruleset.effects["hurt"])
    assert problems(DATA, ruleset) == []


NUMBER = '[effects.hurt]\nfields = { count = "how badly" }\nnumbers = ["count"]\n'
TOLD = '[outcomes.climb.up]\neffects = [{ kind = "hurt", count = "height-1", when = { height-from = 2 } }]\n'


def test_rows_may_name_a_number_that_the_code_tells_once_it_is_declared() -> None:
    data = DATA.replace("[effects.hurt]\n", NUMBER).replace("[outcomes.climb.up.ask", f"{TOLD}[outcomes.climb.up.ask")
    declared = f"{data}\n[facts]\nweather = ['wet']\nheight = []\n"
    assert problems(declared) == []
    assert [text for text in problems(declared.replace("height = []", "")) if "such as `margin`" in text] == [
        "ruleset.toml:95: outcomes.climb.up.effects[0].count: expected a whole number, or text such as `margin`,"
        " `-margin`, `margin-1`, found 'height-1'; a number that the code tells (facts=) is declared:"
        " [facts] with height = []"
    ]
    assert any("height-from is a whole number" in text for text in problems(declared.replace("from = 2", 'from = "x"')))


def test_every_file_of_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "ruleset.toml").write_text(DATA, "utf-8")
    ruleset = code()
    ruleset.data = tmp_path
    tables, sheets = tmp_path / "outcomes", tmp_path / "sheets"
    tables.mkdir()
    sheets.mkdir()
    assert problems_of(load_rules(ruleset)) == []
    (tables / "other.toml").write_text("[up]\neffects = [{ kind = 'unheard-of' }]\n", "utf-8")
    (tables / "worse.toml").write_text("[up]\ntxt = 'x'\n", "utf-8")
    (sheets / "ann.toml").write_text("skills = { climb = 'high' }\n", "utf-8")
    (sheets / "bob.toml").write_text("skills = { climb = 2 }\ngear = ['A long rope']\n", "utf-8")
    first, second, third = sorted(
        problems_of(load_rules(ruleset)), key=lambda text: "sheets" in text or "worse" in text
    )
    assert "other.toml:2: up.effects[0].kind: the kind of effect 'unheard-of'" in first
    assert "worse.toml:2" in second
    assert "ann.toml:1" in third


def test_a_rule_that_takes_anything_fits() -> None:
    ruleset = code()
    ruleset.actions["climb"] = lambda table, actor, **anything: Outcome("up")
    assert problems(DATA, ruleset) == []


# ---------------------------------------------------------------------------------------------------------------------
# Bands, against counting

EDGE = st.none() | st.integers(-8, 8)


@pytest.mark.slow
@given(st.lists(st.tuples(EDGE, EDGE), max_size=4))
@settings(max_examples=examples(300))
def test_bands_are_faultless_exactly_when_every_margin_has_one(edges: list[tuple[int | None, int | None]]) -> None:
    bands = {f"b{i}": Band(title="B", from_=low, to=high) for i, (low, high) in enumerate(edges)}
    file = RulesetFile(title="T", summary="S", version="1", bands=bands)
    found = [problem for problem in problems_of(Rules(Ruleset("t"), file=file, parts=[])) if "margin" in problem]
    counts = [sum(band.has(margin) for band in bands.values()) for margin in range(-20, 21)]
    empty = any(low is not None and high is not None and low > high for low, high in edges)
    ranged = any(edge != (None, None) for edge in edges)
    assert bool(found) == (ranged and (empty or any(count != 1 for count in counts)))
    assert any("no band" in problem for problem in found) == (ranged and 0 in counts)
    assert any("share the margin" in problem for problem in found) == (max(counts) > 1)


@pytest.mark.parametrize(
    ("edges", "told"),
    [
        ([(None, -2), (0, None)], ["bands.b0.to: no band has the margin -1"]),
        ([(None, -4), (0, None)], ["bands.b0.to: no band has the margins -3 to -1"]),
        ([(0, None)], ["bands.b0.from: no band has the margins up to -1"]),
        ([(None, 5)], ["bands.b0.to: no band has the margins from 6"]),
        ([(None, 2), (0, None)], ["bands.b0.from: the bands b0 and b1 share the margins 0 to 2"]),
        ([(None, None)], []),
        ([], []),
    ],
)
def test_gaps_and_overlaps_are_named(edges: list[tuple[int | None, int | None]], told: list[str]) -> None:
    bands = {f"b{i}": Band(title="B", from_=low, to=high) for i, (low, high) in enumerate(edges)}
    file = RulesetFile(title="T", summary="S", version="1", bands=bands)
    found = problems_of(Rules(Ruleset("t"), file=file, parts=[]))
    assert found == [*told, "actions: it has no actions"]


def codes_in(path: Path) -> set[str]:
    """Return the codes that a module writes as literals where it makes faults and diagnostics."""
    makers = {"Fault": 0, "Diagnostic": 0, "add": 0, "_told": 1, "refuse": 1}
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        place = makers.get(name, len(node.args)) if len(node.args) > 1 else 1  # a set has an `add` too
        given = node.args[place : place + 1] + [one.value for one in node.keywords if one.arg == "code"]
        found |= {
            one.value
            for argument in given
            for one in ast.walk(argument)
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        }
    return found


@pytest.mark.slow
def test_every_code_is_listed_used_and_explained() -> None:
    modules = [
        path for folder in ("toml", "rulesets", "lint", "scenes", "cli") for path in (ROOT / folder).rglob("*.py")
    ]
    modules += [ROOT / "plugins" / "entries.py", ROOT / "plugins" / "listing.py"]
    used = {code for path in modules for code in codes_in(path)} - {""}
    assert {"never-matches", "unknown-key", "bad-input"} <= used
    said = ast.walk(ast.parse((ROOT / "toml" / "diagnostics.py").read_text("utf-8")))
    assert used - set(CODES) == set()
    by_default = {one.value for one in said if isinstance(one, ast.Constant)} & {"unknown-name", "unreadable-file"}
    assert set(CODES) - used - by_default == set()
    assert not set(CODES) & {check.name for check in CHECKS}
    text = (ROOT.parent / "rulesets" / "README.md").read_text("utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning} |" in text, f"say in rulesets/README.md: | `{code}` | {meaning} |"


@pytest.mark.parametrize("kind", ["ruleset-check", "check", "plugin-check"])
def test_the_schemas_of_checks_describe_diagnostics(kind: str) -> None:
    described = make_schema(kind)["$defs"]["Diagnostic"]
    assert set(described["properties"]) == set(Diagnostic.__struct_fields__)
    assert all(described["properties"][name]["description"] for name in described["properties"])
