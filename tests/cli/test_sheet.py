"""`rpgres sheet`: a start for any ruleset, every problem of every file, and what a character looks like."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from rpgres.catalog.sheets import diagnose_sheet, sheet_template
from rpgres.errors import FileError, RpgresError, RuleError, UsageError
from rpgres.formats.schemas import make_schema
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets import Part, Rules, Ruleset, merge_parts
from rpgres.rulesets.sheets import make_sheet, read_sheet
from rpgres.toml.reading import Source, parse
from tests.support.effort import examples
from tests.support.lantern import installed, rpgres


@pytest.fixture(scope="module", autouse=True)
def work() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, installed(Path(folder)) as found:
        yield found


def switched_on(text: str) -> str:
    """Return a start with everything in it that is switched off."""
    return re.sub(r"^#(?! )", "", text, flags=re.MULTILINE)


START = """\
# A character sheet for Lantern (ruleset lantern).
# Replace these values; remove the # from a line to use it.
# To check it: rpgres sheet check FILE

# the ruleset it is for
ruleset = "lantern"

# what people call them
name = "Ash \\"the Lamp\\" Müller"

# where they come from
#past = "..."

# who plays them
#side = "player"

# oil at dusk (at least 1)
oil = 6

# oil now (from 0 to 12)
#oil-now = 6

# what marks them
[traits]
first = "First trait"
second = "Second trait"

# how good they are (from 1 to 5)
[abilities]
grit = 1
eyes = 1

# what they carry
#[tools.example]
# what for
#use = "..."
# how heavy
#weight = 1
# where it is
#place = "hand"
# whether it burns
#lit = false

# boxes of those who have fewer
#[fewer]
#wounds = 2
#scars = 1

# boxes already marked
#[hurt]
#wounds = ["a"]

# scars already there
#[scarred]
#deep = "..."
"""


def test_new_prints_every_key_explained() -> None:
    done = rpgres("sheet", "new", "lantern", "--name", 'Ash "the Lamp" Müller')
    assert (done.exit_code, done.stdout, done.stderr) == (0, START, "")


@pytest.mark.parametrize("ruleset", ["lantern", "fate"])
def test_new_passes_check_as_it_is_and_with_everything_switched_on(ruleset: str) -> None:
    start = rpgres("sheet", "new", ruleset).stdout
    for text in (start, switched_on(start)):
        done = rpgres("sheet", "check", "-", "--ruleset", ruleset, stdin=text)
        assert (done.exit_code, done.stdout) == (0, "-: ok\n")
    assert tomllib.loads(start).keys() < tomllib.loads(switched_on(start)).keys()
    rules = load_rules(find_ruleset(ruleset))
    assert tomllib.loads(switched_on(start)).keys() == {"ruleset", *rules.file.sheet}
    assert all(field.help.split("\n")[0][:40] in start for field in rules.file.sheet.values())


def test_new_follows_house_rules(work: Path) -> None:
    overlay = work / "rulesets" / "lantern"
    overlay.mkdir(parents=True)
    (overlay / "ruleset.toml").write_text('[sheet.luck]\nkind = "counter"\ndefault = 2\nhelp = "luck"\n', "utf-8")
    try:
        assert "# luck\nluck = 2\n" in rpgres("sheet", "new", "lantern").stdout
    finally:
        (overlay / "ruleset.toml").unlink()


def test_new_writes_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "a sheet.toml"
    done = rpgres("sheet", "new", "lantern", "--out", str(path))
    told = f"{path}: written; change it, then: rpgres sheet check '{path}'\n"
    assert (done.exit_code, done.stdout, done.stderr) == (0, told, "")
    line = "#:schema ./.schemas/sheet-lantern.json\n"
    assert path.read_text("utf-8") == line + rpgres("sheet", "new", "lantern").stdout
    path.write_text("mine", "utf-8")
    done = rpgres("sheet", "new", "lantern", "--out", str(path))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"rpgres: {path}: already exists; nothing was written. Name another file.\n"
    assert path.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["fat"], 2, "did you mean 'fate'?"),
        (["4dF"], 2, "is dice notation"),
        (["lantern", "--name", "two\nlines"], 2, "cannot be a name"),
        (["lantern", "--out", "no/such/folder.toml"], 1, "cannot be written"),
        (["lantern", "--rulesets", "nowhere"], 2, "there is no such folder"),
    ],
)
def test_new_refuses(args: list[str], code: int, told: str) -> None:
    done = rpgres("sheet", "new", *args)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr


FAULTY = """\
nam = "x"
[hurt]
wounds = ["a", "zz"]
wound = ["a"]
[scarred]
deap = "x"
[abilities]
eye = 1
grit = 9
[tools.lamp]
lit = 3
"""


def test_check_finds_every_problem_of_every_file(work: Path) -> None:
    (work / "good.toml").write_text('name = "Ash"\n[abilities]\ngrit = 2\n[hurt]\nwounds = ["c"]\n', "utf-8")
    (work / "bad.toml").write_text(FAULTY, "utf-8")
    (work / "broken.toml").write_text("name = \n", "utf-8")
    names = ["bad.toml", "good.toml", "broken.toml", "absent.toml"]
    done = rpgres("sheet", "check", *names, "--ruleset", "lantern")
    assert done.exit_code == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    found = [line.split(": ")[:2] for line in lines if line.startswith("bad.toml")]
    assert sorted(found) == sorted(
        [
            ["bad.toml:1", "name"],
            ["bad.toml:1", "nam"],
            ["bad.toml:3", "hurt.wounds"],
            ["bad.toml:4", "hurt.wound"],
            ["bad.toml:6", "scarred.deap"],
            ["bad.toml:8", "abilities.eye"],
            ["bad.toml:9", "abilities.grit"],
            ["bad.toml:10", "tools.lamp.use"],
            ["bad.toml:11", "tools.lamp.lit"],
        ]
    )
    hints = [line for line in lines if "did you mean" in line]
    assert [re.findall("`([^`]*)`[?]", line) for line in hints] == [["name"], ["wounds"], ["deep"], ["eyes"]]
    assert "the track wounds of this character has a, b, c; there is no 'zz'" in done.stdout
    assert "good.toml: ok" in lines
    assert any(line.startswith("broken.toml:1:8: Invalid value") for line in lines)
    assert lines[-1].startswith("absent.toml: there is no sheet 'absent.toml'; `rpgres sheet new lantern --out FILE` ")

    record = json.loads(rpgres("sheet", "check", *names, "--ruleset", "lantern", "--json").stdout)
    assert record["format"] == "rpgres.check/1"
    assert [(file["file"], file["ok"], bool(file["problems"])) for file in record["files"]] == [
        ("bad.toml", False, True),
        ("good.toml", True, False),
        ("broken.toml", False, True),
        ("absent.toml", False, True),
    ]
    assert {
        "code": "unknown-key",
        "message": "unknown key",
        "file": "bad.toml",
        "line": 1,
        "column": 1,
        "key": "nam",
        "hint": "name",
        "advice": "",
        "severity": "error",
    } in record["files"][0]["problems"]
    (broken,) = record["files"][2]["problems"]
    assert (broken["code"], broken["line"], broken["column"]) == ("syntax", 1, 8)
    assert [problem["code"] for problem in record["files"][3]["problems"]] == ["unreadable-file"]
    as_json = rpgres("sheet", "check", *names, "--ruleset", "lantern", "--format", "json")
    assert (as_json.exit_code, json.loads(as_json.stdout)) == (1, record)


def test_check_annotates_files_for_github(work: Path) -> None:
    (work / "50%, a:b.toml").write_text("name = 'Ash'\nnam = 'x'\n", "utf-8")
    (work / "broken.toml").write_text("name = \n", "utf-8")
    (work / "good.toml").write_text("name = 'Ash'\n", "utf-8")
    files = ["50%, a:b.toml", "broken.toml", "good.toml"]
    done = rpgres("sheet", "check", *files, "--ruleset", "lantern", "--format", "github")
    assert (done.exit_code, done.stderr) == (1, "")
    first, second = done.stdout.splitlines()
    assert first == (
        "::error file=50%25%2C a%3Ab.toml,line=2,col=1,title=unknown-key::nam: unknown key; did you mean `name`?"
    )
    assert second.startswith("::error file=broken.toml,line=1,col=8,title=syntax::Invalid value%0A  name =%0A ")
    done = rpgres("sheet", "check", "good.toml", "--ruleset", "lantern", "--format", "github")
    assert (done.exit_code, done.stdout) == (0, "")


def test_check_takes_boxes_as_the_abilities_and_limits_have_them() -> None:
    text = 'name = "Ash"\n{}[hurt]\nwounds = ["c"]\n'
    for more, code in (("", 1), ("[abilities]\ngrit = 2\n", 0), ("[abilities]\ngrit = 2\n[fewer]\nwounds = 2\n", 1)):
        assert rpgres("sheet", "check", "-", "--ruleset", "lantern", stdin=text.format(more)).exit_code == code


def test_check_tells_of_more_boxes_than_there_are() -> None:
    text = "[skills]\nfight = 3\nphysique = {}\n\n[boxes]\nphysical = 3\n"
    done = rpgres("sheet", "check", "-", "--ruleset", "fate", stdin=text.format(0))
    assert done.exit_code == 1
    assert "the track physical of this character has 2 boxes, not 3; a sheet can only have fewer" in done.stdout
    with_a_third = rpgres("sheet", "check", "-", "--ruleset", "fate", stdin=text.format(1))
    assert with_a_third.exit_code == 0


def test_check_tells_what_only_the_rulesets_code_finds() -> None:
    ruleset = Ruleset("made")

    @ruleset.prepare
    def refuse(rules: Rules, character: Any) -> Any:
        raise RpgresError("a character needs a past")

    rules = made({"sheet": {"past": {"kind": "text", "help": "past"}}}, ruleset)
    (problem,) = diagnose_sheet(rules, Source("x.toml", ""))
    assert (problem.line, problem.message) == (None, "a character needs a past")


def test_check_tells_what_each_function_of_the_rulesets_code_finds() -> None:
    ruleset = Ruleset("made")

    @ruleset.prepare
    def first(rules: Rules, character: Any) -> Any:
        raise UsageError("too strong")

    @ruleset.prepare
    def second(rules: Rules, character: Any) -> Any:
        raise ExceptionGroup("", [UsageError("too fast"), UsageError("too old")])

    @ruleset.prepare
    def third(rules: Rules, character: Any) -> Any:
        return character.counters["made-by-the-first"]

    rules = made({}, ruleset)
    found = diagnose_sheet(rules, Source("x.toml", ""))
    told = ["too strong", "too fast", "too old (the ruleset's own check may report more after this is fixed)"]
    assert [problem.message for problem in found] == told
    with pytest.raises(FileError) as caught:
        make_sheet(rules, {}, name="x", source=Source("x.toml", ""))
    assert caught.value.message == "x.toml: too strong\nx.toml: too fast\nx.toml: too old"
    scene = Source("s.toml", 'ruleset = "made"\n[characters.x]\n')
    with pytest.raises(FileError, match=r"^s.toml:2: characters.x: too strong\n"):
        make_sheet(rules, {}, name="x", source=scene, prefix=("characters", "x"))
    ruleset.preparations[:] = [second]
    assert [problem.message for problem in diagnose_sheet(rules, Source("x.toml", ""))] == ["too fast", "too old"]


def test_what_a_function_of_the_rulesets_code_raises_else_is_its_fault() -> None:
    ruleset = Ruleset("made")

    @ruleset.prepare
    def mixed(rules: Rules, character: Any) -> Any:
        raise ExceptionGroup("both", [UsageError("too fast"), KeyError("x")])

    with pytest.raises(RuleError, match="failed when it prepared the sheet of x: ExceptionGroup: both"):
        make_sheet(made({}, ruleset), {}, name="x", source=None)


def test_a_sheet_that_is_no_toml_says_where_and_others_are_checked_all_the_same(work: Path) -> None:
    Path("a.toml").write_text('ruleset = "fate"\naspects = { high-concept = "Thief"\n[skills]\n', "utf-8")
    Path("b.toml").write_text('ruleset = "fate"\nname = "B"\n', "utf-8")
    done = rpgres("sheet", "check", "a.toml", "b.toml")
    assert done.exit_code == 1
    assert done.stdout.startswith("a.toml:3:1: Unclosed inline table\n")
    assert done.stdout.endswith("b.toml: ok\n")
    assert rpgres("sheet", "show", "a.toml").stderr.startswith("rpgres: a.toml:3:1: Unclosed inline table\n")


def test_the_ruleset_of_a_sheet(work: Path) -> None:
    Path("a.toml").write_text('name = "A"\n', "utf-8")
    done = rpgres("sheet", "check", "a.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    told = "rpgres: a.toml: name the ruleset of this sheet, with --ruleset or `ruleset` in the file: fate, "
    assert done.stderr.startswith(told)
    assert done.stderr.endswith(", ...\n")
    Path("b.toml").write_text('ruleset = "fat"\nname = "B"\n', "utf-8")
    told = rpgres("sheet", "check", "b.toml").stderr
    assert told.startswith("rpgres: b.toml: there is no ruleset 'fat'; did you mean 'fate'?")

    own = work / "rulesets" / "lantern" / "sheets"
    own.mkdir(parents=True, exist_ok=True)
    (own / "ash.toml").write_text('name = "Ash"\n[tools.lamp]\nuse = "light"\n', "utf-8")
    assert (
        rpgres("sheet", "check", "rulesets/lantern/sheets/ash.toml").stdout == "rulesets/lantern/sheets/ash.toml: ok\n"
    )
    assert rpgres("sheet", "show", "ash", "--ruleset", "lantern").stdout.startswith("Ash (lantern)\n")
    done = rpgres("sheet", "check", "rulesets/lantern/sheets/ash.toml", "--ruleset", "fate")
    assert (done.exit_code, "tools: unknown key" in done.stdout) == (1, True)

    # A sheet that ships is known by its name, as long as only one ruleset has it.
    done = rpgres("sheet", "check", "mara", "guards", "tamsin.toml")
    assert (done.exit_code, done.stdout) == (0, "mara: ok\nguards: ok\ntamsin.toml: ok\n")
    (own / "mara.toml").write_text('name = "Another"\n[tools.lamp]\nuse = "light"\n', "utf-8")
    done = rpgres("sheet", "check", "mara")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(": fate, lantern\n")


def test_a_sheet_says_whose_it_is(work: Path) -> None:
    text = 'ruleset = "lantern"\nname = "Ash"\n'
    (work / "own.toml").write_text(text, "utf-8")
    assert rpgres("sheet", "check", "own.toml").stdout == "own.toml: ok\n"
    assert rpgres("sheet", "check", "-", stdin=text).stdout == "-: ok\n"
    assert rpgres("sheet", "show", "-", stdin=text).stdout.startswith("Ash (lantern)\n")
    told = "own.toml:1: ruleset: this sheet is for the ruleset 'lantern', not fate\n"
    done = rpgres("roll", "fate", "overcome", "--sheet", "own.toml", "--skill", "1", "--vs", "1")
    assert (done.exit_code, done.stderr) == (1, f"rpgres: {told}")
    done = rpgres("sheet", "check", "own.toml", "--ruleset", "fate")
    assert (done.exit_code, done.stdout) == (1, told)


ASH = """\
name = "Ash"
side = "gm"
past = "From the \\u001b[31m coast."
oil = 4
[traits]
first-of-all = "Never Lost"
[abilities]
eyes = 1
grit = 2
[tools.old-lamp]
use = "light"
lit = true
place = "hand"
[hurt]
wounds = ["a", "c"]
[scarred]
deep = "Burnt Hand"
"""

SHOWN = """\
Ash (lantern)
played by the game master
Oil 4, Oil now 4

Past
  From the  [31m coast.

Traits
  Never Lost (first of all)

Abilities
  Grit 2, Eyes 1

Tools
  Old lamp
    use: light; weight: 1; place: hand; lit: yes

"""


def test_show() -> None:
    done = rpgres("sheet", "show", "-", "--ruleset", "lantern", stdin=ASH)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == SHOWN + "Wounds: a checked, b free, c checked\nScars\n  Deep (4)  Burnt Hand\n"


def test_show_tells_skills_by_the_ladder() -> None:
    text = 'name = "Mara"\n[skills]\nwill = 1\ndeceive = 4\nfight = 1\nlore = -2\n'
    shown = rpgres("sheet", "show", "-", "--ruleset", "fate", stdin=text).stdout
    assert "Skills\n  Great (+4)     Deceive\n  Average (+1)   Will, Fight\n  Terrible (-2)  Lore\n" in shown
    assert "Physical stress: 1 free, 2 free\n" in shown
    assert "Mental stress:   1 free, 2 free, 3 free\n" in shown
    assert "  Mild (2)      free\n" in shown


def test_show_as_json() -> None:
    record = json.loads(rpgres("sheet", "show", "-", "--ruleset", "lantern", "--json", stdin=ASH).stdout)
    assert record.pop("tools", None) is None
    assert record == {
        "format": "rpgres.sheet/1",
        "ruleset": "lantern",
        "name": "character",
        "title": "Ash",
        "played_by": "gm",
        "texts": {"name": "Ash", "past": "From the \u001b[31m coast."},
        "tags": [{"name": "Never Lost", "kind": "trait"}, {"name": "Burnt Hand", "kind": "scar"}],
        "abilities": {"eyes": 1, "grit": 2},
        "counters": {"oil": 4, "oil-now": 4},
        "tracks": {
            "wounds": [
                {"name": "a", "size": 1, "mark": "x"},
                {"name": "b", "size": 2, "mark": ""},
                {"name": "c", "size": 3, "mark": "x"},
            ],
            "scars": [{"name": "deep", "size": 4, "mark": "Burnt Hand"}],
        },
        "records": {"tools": {"old-lamp": {"use": "light", "weight": 1, "place": "hand", "lit": True}}},
    }


def test_show_refuses_a_faulty_sheet() -> None:
    done = rpgres("sheet", "show", "-", "--ruleset", "lantern", "--json", stdin=FAULTY)
    assert (done.exit_code, done.stdout) == (1, "")
    assert json.loads(done.stderr)["code"] == "file"


# ---------------------------------------------------------------------------------------------------------------------
# Whatever the ruleset, whatever the sheet


def made(data: dict[str, Any], ruleset: Ruleset | None = None) -> Rules:
    head = {"title": "Made", "summary": "for a test", "version": "1"}
    part = Part(folder=Path("nowhere"), source=Source("ruleset.toml", ""), data=head | data)
    return Rules(ruleset or Ruleset("made"), file=merge_parts([part]), parts=[part])


IDS = st.from_regex(r"[a-z][a-z0-9]{0,4}(-[a-z0-9]{1,3})?", fullmatch=True)
LINES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
BOUNDS = st.tuples(st.integers(-9, 9), st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def some_fields(draw: st.DrawFn, tracks: list[str]) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(["text", "counter", "abilities", "tags", "records", "boxes", "marks", "written", "seat"])
    )
    field: dict[str, Any] = {"kind": kind, "help": draw(LINES), "required": draw(st.booleans())}
    if kind in ("counter", "abilities"):
        low, high = draw(BOUNDS)
        field |= draw(st.sampled_from([{}, {"at-least": low}, {"at-most": high}, {"at-least": low, "at-most": high}]))
        if kind == "counter" and draw(st.booleans()):
            field["default"] = draw(st.integers(low, high))
    if kind == "abilities":
        field |= {"names": draw(st.lists(LINES, max_size=3, unique=True)), "any-name": draw(st.booleans())}
    if kind == "tags":
        field |= {"tag": draw(IDS), "names": draw(st.lists(IDS, max_size=2, unique=True))}
    if kind == "written":
        field |= {"track": draw(st.sampled_from(tracks))}
    if kind == "records":
        field["fields"] = draw(st.dictionaries(IDS, some_record_fields(), max_size=3))
    return field


@st.composite
def some_record_fields(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["text", "integer", "flag", "choice"]))
    field = {"kind": kind, "help": draw(LINES), "required": draw(st.booleans())}
    return field | ({"choices": draw(st.lists(LINES, min_size=1, max_size=3))} if kind == "choice" else {})


@st.composite
def some_rulesets(draw: st.DrawFn) -> dict[str, Any]:
    boxes = st.dictionaries(IDS, st.integers(1, 9), max_size=3)
    track = st.fixed_dictionaries({"title": LINES, "boxes": boxes, "tag": st.sampled_from(["", "scar"])})
    tracks = draw(st.dictionaries(IDS, track, min_size=1, max_size=2))
    sheet = draw(st.dictionaries(st.just("name") | IDS, some_fields(list(tracks)), max_size=6))
    return {"title": draw(LINES), "tracks": tracks, "sheet": sheet}


TWINS = {"kind": "abilities", "help": "0", "names": ["D", "d"]}


@pytest.mark.slow
@given(some_rulesets())
@example({"title": "0", "tracks": {}, "sheet": {"name": TWINS}})
@settings(max_examples=examples(150), deadline=None)
def test_a_start_is_valid_for_any_ruleset(data: dict[str, Any]) -> None:
    rules = made(data)
    start = sheet_template(rules)
    for text in (start, switched_on(start)):
        assert diagnose_sheet(rules, Source("x.toml", text)) == []
        make_sheet(rules, tomllib.loads(text), name="x", source=None)
    assert tomllib.loads(switched_on(start)).keys() == {"ruleset", *data["sheet"]}


VALUES = st.recursive(
    st.integers(-20, 20) | st.booleans() | st.floats(0.1, 0.9) | st.sampled_from(["", "a", "zz", "player", "hand"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["grit", "eyes", "wounds", "scars", "deep", "use", "lit", "place", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from([*tomllib.loads(switched_on(START)), "unknown", "nam"])
SHEETS = st.dictionaries(KEYS, VALUES, max_size=5) | st.dictionaries(KEYS, VALUES, max_size=4).map(
    lambda keys: {**tomllib.loads(ASH), **keys}
)


@pytest.mark.slow
@given(SHEETS)
@settings(max_examples=examples(300), deadline=None)
def test_check_schema_and_reading_agree(data: dict[str, Any]) -> None:
    rules = load_rules(find_ruleset("lantern"))
    schema = Draft202012Validator(make_schema("sheet", rules=rules))
    source = Source("x.toml", tomli_w.dumps(data))
    problems = diagnose_sheet(rules, source)
    try:
        make_sheet(rules, parse(source), name="x", source=source)
        is_readable = True
    except RpgresError:
        is_readable = False
    assert (problems == []) == is_readable
    # The schema knows every box there can be; which of them this character has, only its abilities and limits tell.
    of_form = [problem for problem in problems if "of this character has" not in problem.message]
    if of_form or not problems:
        assert schema.is_valid(data) == (of_form == [])


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(120), deadline=None)
def test_no_sheet_ends_in_a_traceback(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([ASH, START, switched_on(START)]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 12)))
        junk = st.text(max_size=4) | st.sampled_from(
            ['"', "[", "]", "{", "=", "\n", "[[x]]", "1e999", "0" * 50, "\x00"]
        )
        text = text[:at] + data.draw(junk) + text[end:]
    command = data.draw(st.sampled_from(["check", "show"]))
    done = rpgres("sheet", command, "-", "--ruleset", "lantern", stdin=text.encode("utf-8", "surrogatepass"))
    assert done.exit_code in (0, 1)
    assert "Traceback" not in done.output
    assert "internal error" not in done.output


def test_a_sheet_that_is_not_there_is_told_as_such_with_the_near_ones_of_any_ruleset() -> None:
    told = rpgres("sheet", "check", "nothere.toml")
    missing = "there is neither a file 'nothere.toml' nor a sheet of that name with any ruleset\n"
    assert (told.stdout, told.exit_code) == (f"nothere.toml: {missing}", 1)
    assert rpgres("sheet", "show", "nothere.toml").stderr == f"rpgres: {missing}"
    assert rpgres("sheet", "show", "marra").stderr.endswith("; did you mean 'mara', a sheet of fate?\n")
    Path("my-hero.toml").write_text('name = "H"\n', encoding="utf-8")
    assert rpgres("sheet", "check", "my-heroe.toml").stdout.endswith("; did you mean 'my-hero.toml'?\n")
    assert rpgres("sheet", "show", "nowhere/a.toml").stderr == "rpgres: there is no file 'nowhere/a.toml'\n"


def test_the_game_masters_characters_have_no_fate_points_of_their_own() -> None:
    rules = load_rules(find_ruleset("fate"))
    mob, hero = (read_sheet(rules, name).character.counters for name in ("guards", "mara"))
    assert "fate-points" not in mob
    assert hero["fate-points"] == hero["refresh"]
    shown = rpgres("sheet", "show", "guards", "--ruleset", "fate").stdout
    assert "played by the game master, with the game master's refresh and fate points" in shown
    assert "points 3" not in shown


@pytest.mark.parametrize(
    "line",
    [
        ("roll", "fate", "overcome", "--sheet", "people", "--skill", "fight", "--vs", "1"),
        ("table", "new", "fate", "--sheet", "people"),
        ("scene", "run", "people"),
    ],
)
def test_a_folder_is_no_sheet_or_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]) -> None:
    (tmp_path / "people").mkdir()
    monkeypatch.chdir(tmp_path)
    ran = rpgres(*line)
    assert (ran.exit_code, ran.stderr) == (1, "rpgres: people: cannot be read: it is a folder; name a file in it\n")


def test_no_name_is_no_folder() -> None:
    ran = rpgres("roll", "fate", "overcome", "--sheet", "", "--skill", "3", "--vs", "1")
    assert (ran.exit_code, "there is no sheet ''" in ran.stderr) == (1, True), ran.stderr


@pytest.mark.parametrize(
    ("order", "hint"),
    [
        ('ask = "invoke"\nchoose = "silver-tung"', "silver-tongue"),
        ('when = { "self.tags.silver-tung" = true }\nchoose = "first"', "silver-tongue"),
        ('ask = "invoke"\nchoose = ["silver-tongue:reroll", "wanted-in-three-ports", "no"]', ""),
        ('when = { "tags.on-fire" = true, "self.tags.tired" = false }\nchoose = "first"', ""),
    ],
)
def test_a_near_name_of_an_aspect_in_orders_is_a_warning(order: str, hint: str) -> None:
    text = f'name = "Ada"\naspects = ["Silver Tongue"]\n[[orders]]\n{order}\n'
    found = diagnose_sheet(load_rules(find_ruleset("fate")), Source("ada.toml", text))
    assert [(one.severity, one.hint) for one in found] == ([("warning", hint)] if hint else [])
