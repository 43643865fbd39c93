"""The account of a scene: what it says in every format, what a seat sees of it, and which files it replaces."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator
from markdown_it import MarkdownIt

from rpgres.dice.seeds import Streams
from rpgres.engine.prepare import prepare
from rpgres.engine.records import Result
from rpgres.engine.run import run
from rpgres.formats.accounts import (
    Account,
    Change,
    Chapter,
    Chosen,
    Dealt,
    Meaning,
    Note,
    Outcome,
    Remark,
    Rolled,
    TableItem,
    Turn,
)
from rpgres.formats.lonelog import as_lonelog
from rpgres.formats.schemas import make_schema
from rpgres.model.events import RollEvent, TurnEvent
from rpgres.model.serialization import state_record
from rpgres.model.state import State
from rpgres.plugins.discovery import find_ruleset
from rpgres.render.accounts.html import as_html
from rpgres.render.accounts.lines import account_lines
from rpgres.render.accounts.markdown import as_markdown
from rpgres.render.accounts.scenes import account_of, turns_of
from rpgres.render.accounts.words import words_of
from rpgres.render.lines import Look, plain_text
from rpgres.scenes import Overrides, Scene, SceneResult, load_scene, open_scene, read_scene, run_scene, scene_names
from rpgres.toml.reading import Source
from tests.support.battle import battle_rules
from tests.support.command_line import PROGRAM, completions, rpgres

SHIPPED = [name for name in scene_names() if "conformance" not in name]
FORMATS = ("markdown", "html", "lonelog")
PAGE = Look(width=80)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scene_in(text: str) -> Scene:
    return read_scene(Source("a.toml", text), find_ruleset=find_ruleset)


def shipped(name: str) -> Scene:
    source, folder = open_scene(name)
    return read_scene(source, find_ruleset=find_ruleset, folder=folder)


def told(scene: Scene, seat: str | None = None) -> Account:
    return account_of(run_scene(scene, seat=seat), scene.rules)


# ---------------------------------------------------------------------------------------------------------------------
# What it says

BRIBE = """\
A bribe at the gate

Overcome with resources +1 against the guards' will +0, with the dice of the
text: a failure by one.

Fate (five actions); seed: bribe
Taking part: Mara Quill; of the game master: Gate guards

1. Bribe
  2 (Fair) against 3 (Good).
  Mara Quill tries to overcome what is in the way with resources, against the
  will of Gate guards.
    Roll (Mara Quill): +-0+ = +1
    Opposition (Gate guards): +0++ = +3
    Price (Mara Quill, chosen): fail
  Fail: Fair (+2) against Good (+3), margin -1
  You fall short. You do not get what you wanted.

On the table
  Mara Quill
    refresh 3, fate points 3, physical stress 0 of 2, mental stress 0 of 3,
      consequences 0 of 3
    aspect: Smuggler with a Conscience; Wanted in Three Ports; Tobin Owes Me His
      Life; Silver Tongue, Empty Purse; I Know a Back Way
  Gate guards
    members 2
    aspect: Bored and Underpaid
"""


def test_a_scene_reads_like_one() -> None:
    assert rpgres("scene", "run", "fate/bribe") == (0, BRIBE, "")


def test_the_record_says_who_does_what_and_what_comes_of_it() -> None:
    account = told(shipped("fate/bribe"))
    assert [one.seat for one in account.people] == ["mara", "gm"]
    assert account.chapters == [
        Chapter(
            "Bribe",
            turns=[
                Turn(
                    "tries to overcome what is in the way with resources, against the will of Gate guards.",
                    "Mara Quill",
                    lines=[
                        Note("2 (Fair) against 3 (Good)."),
                        Rolled("Roll", "Mara Quill", "4dF", "+-0+", "+1"),
                        Rolled("Opposition", "Gate guards", "4dF", "+0++", "+3"),
                        Chosen("Price", "Mara Quill", "fail", "chosen"),
                        Outcome("Fail", False, "Fair (+2)", "Good (+3)", -1),
                        Meaning("You fall short."),
                        Meaning("You do not get what you wanted."),
                    ],
                )
            ],
        )
    ]


LONG = ("coppermane/flooded-gate", "faith/grenade", "fate/ledger", "nodice/weir")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in SHIPPED]
)
def test_what_is_told_while_it_is_played_is_the_whole_account(name: str) -> None:
    scene = shipped(name)
    for seat in ("gm", *scene.state.characters):
        if scene.state.seat_of(seat) != seat and seat != "gm":
            continue
        whole = plain_text(account_lines(told(scene, seat)), PAGE)
        assert rpgres("scene", "run", name, "--as", seat, "--seed", str(scene.file.seed)).out == whole
        assert max(map(len, whole.splitlines())) <= 80


class _Text(HTMLParser):
    """The text of a page, the tags that are open, and what a reader by ear needs."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == "meta" or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.parts.append(data)

    @property
    def text(self) -> str:
        return _flat("".join(self.parts))


def _flat(text: str) -> str:
    return " ".join(text.replace("\N{MINUS SIGN}", "-").split())


def page_of(html: str) -> _Text:
    page = _Text()
    page.feed(html)
    page.close()
    assert page.open == []
    return page


def texts_of(account: Account) -> Iterator[str]:
    """Yield every text of an account that each format has to have."""
    yield from filter(None, (account.title, account.summary, account.ruleset, account.ending))
    yield from (one.title for one in account.people)
    for chapter in account.chapters:
        yield chapter.title
        for turn in chapter.turns:
            yield from filter(None, (turn.does, turn.actor))
            for line in turn.lines:
                yield from (value for value in msgspec.structs.astuple(line) if isinstance(value, str) and value)
    for stands in account.table:
        yield stands.name
        yield from stands.details


@pytest.mark.parametrize("name", SHIPPED)
def test_every_format_tells_everything(name: str) -> None:
    account = told(shipped(name))
    texts = [_flat(text) for text in texts_of(account)]
    assert len(texts) > 10
    lines = _flat(plain_text(account_lines(account)))
    markdown = page_of(MarkdownIt("commonmark").render(as_markdown(account))).text
    html = page_of(as_html(account)).text
    dice = {
        line.dice
        for chapter in account.chapters
        for turn in chapter.turns
        for line in turn.lines
        if isinstance(line, Rolled)
    }
    for text in set(texts) - dice:  # what was rolled is said by the faces
        assert text in lines
        assert text in markdown
        assert text in html


HOSTILE = Account(
    title="<script>alert(1)</script> & *so*",
    summary="1. a list? \\ `code` <!-- no -->",
    chapters=[
        Chapter(
            "](x) # _no_",
            turns=[
                Turn("- does <b>this</b>.", "A&B", lines=[Meaning("<img src=x onerror=y>"), Dealt("X", "", "**a**")])
            ],
        )
    ],
    table=[TableItem('"quoted"', "thing", ["</td></table><script>"])],
)


def test_no_text_is_markup() -> None:
    page = page_of(as_html(HOSTILE))
    assert {tag for tag, _ in page.seen} & {"script", "img", "b"} == set()
    rendered = page_of(MarkdownIt("commonmark").render(as_markdown(HOSTILE)))
    assert {tag for tag, _ in rendered.seen} <= {"h1", "h2", "p", "em", "strong", "ul", "li"}
    for text in map(_flat, texts_of(HOSTILE)):
        assert text in page.text
        assert text in rendered.text


def test_a_page_is_whole_and_can_be_read_by_ear() -> None:
    html = as_html(told(shipped("fate/ledger")))
    page = page_of(html)
    tags = [tag for tag, _ in page.seen]
    assert html.startswith("<!DOCTYPE html>\n")
    assert ("html", {"lang": "en"}) in page.seen
    assert not re.search(r"(?:href|src|url|@import)\b", html)
    assert not {"script", "link", "img", "iframe"} & set(tags)
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in page.seen if tag == "th")
    assert tags.count("caption") == tags.count("table") == 2
    ids = [attrs["id"] for _, attrs in page.seen if "id" in attrs]
    assert len(set(ids)) == len(ids)
    assert all(attrs["aria-labelledby"] in ids for _, attrs in page.seen if "aria-labelledby" in attrs)
    assert "prefers-color-scheme:dark" in html
    assert "minus, blank, blank, minus" in page.text  # signs are not passed over


# ---------------------------------------------------------------------------------------------------------------------
# Procedures

FIGHT = """
ruleset = "fate"
title = "A fight"
seed = "1"
policy = "sensible"
[characters.mara]
sheet = "mara"
[characters.guards]
sheet = "guards"
[[steps]]
id = "fight"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 1 }
[[steps]]
id = "fight"
actor = "guards"
action = "overcome"
with = { skill = "fight", vs = 1 }
[[steps]]
id = "after"
actor = "mara"
action = "overcome"
with = { skill = "fight", vs = 1 }
"""


def test_turns_of_a_procedure_stand_under_one_heading() -> None:
    scene = scene_in(FIGHT)
    result = run_scene(scene)
    first, second, after = result.steps
    of = {"procedure": "conflict", "outcome": None}
    steps = [
        first | of | {"turn": 1, "details": {"exchange": 1}},
        second | of | {"turn": 2, "details": {"exchange": 1}},
        first | of | {"turn": 3, "details": {"exchange": 2}, "outcome": "succeed"},
        {"id": "dawn", "note": "The sun comes up."},
        {"id": "", "set": {"characters.mara.counters.fate-points": 1}},
        after,
    ]
    account = account_of(msgspec.structs.replace(result, steps=steps), scene.rules)
    assert [chapter.title for chapter in account.chapters] == ["Fight", "Dawn", "A change", "After"]
    assert [(turn.round, turn.actor) for turn in account.chapters[0].turns] == [
        (1, "Mara Quill"),
        (None, "Gate guards"),
        (2, "Mara Quill"),
    ]
    shown = plain_text(account_lines(account))
    assert shown.count("  Exchange 1\n") == shown.count("  Exchange 2\n") == 1
    assert "\n2. Dawn\n  The sun comes up.\n" in shown
    assert "\n3. A change\n    * Mara Quill, fate points: 1\n" in shown
    assert "\nR2 (Exchange)\n@(Mara Quill) " in as_lonelog(account)


def test_a_turn_says_whom_it_is_about_and_an_exchange_its_number() -> None:
    scene = scene_in(FIGHT)
    result = run_scene(scene)
    turn = {"event": "turn", "turn": 0, "by": "mara", "outcome": "succeed", "success": True, "margin": 1}
    chosen = {"event": "decision", "label": "target", "who": "mara", "answer": "guards", "text": "", "means": "orders"}
    steps = [
        result.steps[0]
        | {"events": [{"event": "turn", "turn": 0, "action": "begin"}, chosen, turn | {"turn": 1, "action": "attack"}]},
        result.steps[2] | {"events": [turn | {"action": "exchange 1"}, turn | {"turn": 1, "action": "exchange 2"}]},
    ]
    account = account_of(msgspec.structs.replace(result, steps=steps), scene.rules)
    fight, after = account.chapters
    assert [turn.sentence for turn in fight.turns][1:] == ["Mara Quill attacks Gate guards.", ""]
    assert fight.turns[1].lines[0] == Chosen("Target", "Mara Quill", "Gate guards", "by orders")
    assert [(turn.round, turn.counted) for turn in after.turns] == [
        (None, ""),
        (1, "Exchange"),
        (2, "Exchange"),
        (None, ""),
    ]


def test_each_turn_of_a_procedure_is_told_with_its_own_dice_and_changes() -> None:
    rules = battle_rules()
    prepared = prepare(rules, "battle", {"attackers": 4, "defenders": 3, "may-stop": True})
    result, after = run(prepared, streams=Streams("7"), choose={"go-on": ["on", "on", "on", "on", "on", "on"]})
    assert isinstance(result, Result)
    played = SceneResult(
        ruleset=rules.id,
        rules={},
        title="A battle",
        seed="7",
        switches={},
        steps=[{"id": "battle", **msgspec.to_builtins(result)}],
        ending="victory",
        ending_text="The gate is taken.",
        state=state_record(after),
    )
    account = account_of(played, rules)
    opening, *turns, closing = account.chapters[0].turns
    ends = [event for event in result.events if isinstance(event, TurnEvent)]
    assert (len(turns), opening.lines) == (len(ends), [])
    assert {turn.does for turn in turns} == {"Fight."}
    faces = [line.faces for turn in turns for line in turn.lines if isinstance(line, Rolled)]
    assert faces == [event.faces for event in result.events if isinstance(event, RollEvent)]
    for turn, end in zip(turns, ends, strict=True):
        assert sum(isinstance(line, Change) for line in turn.lines) == len(end.effects)
        assert [line.answer for line in turn.lines if isinstance(line, Chosen)] == ["on"]
    assert [type(line) for line in closing.lines if not isinstance(line, Remark)] == [Outcome, Meaning]
    assert account.ending == "Victory: The gate is taken."


# ---------------------------------------------------------------------------------------------------------------------
# What a seat sees

TAGS = """
ruleset = "fate"
title = "The house"
seed = "4"
policy = "sensible"
[characters.mara]
sheet = "mara"
[characters.guards]
sheet = "guards"
[tags.secret]
text = "SECRET"
kind = "aspect"
seen-by = ["gm"]
[tracks.alarm]
boxes = 4
marks = MARKS
seen-by = ["gm"]
[[steps]]
id = "look"
actor = "mara"
action = "overcome"
with = { skill = "notice", vs = 1 }
note = "Behind it: SECRET."
[[steps]]
id = "louder"
set = { "tracks.alarm.BOX" = "x" }
note = "Now it is loud: SECRET."
[[steps]]
note = "The lamps go out, one after the other, down to the end of the long corridor."
[[steps]]
id = "tidy"
actor = "guards"
action = "overcome"
with = { skill = "fight", vs = 0, removes = "SECRET" }
given = { roll = "++++" }
choose = { invoke = "no" }
"""
CARDS = """
ruleset = "saga"
title = "Two hands"
seed = "4"
policy = "sensible"
[characters.brannagh]
sheet = "brannagh"
[characters.ilse]
sheet = "ilse"
[[steps]]
begin = "scene"
given = { deal = ["Ag9", "Do7", "Ag6", "St4", "In7", SECRET] }
[[steps]]
id = "hold"
actor = "brannagh"
action = "act"
with = { ability = "strength", vs = "easy" }
given = { redraw = "Wi5" }
choose = { play = "Ag9" }
"""
STACKS = """
ruleset = "nodice"
title = "Stacks"
seed = "4"
policy = "planner"
[characters.orsa]
sheet = "orsa"
[characters.bram]
sheet = "bram"
[[steps]]
begin = "sequence"
[[steps]]
id = "first"
actor = "orsa"
action = "declare"
choose = { declare = ["SECRET", "attack/maul/head/str=5,agi=1"] }
note = "Orsa declares SECRET."
"""
HANDS = """
ruleset = "faith"
title = "A hand"
seed = "4"
policy = "steady"
[characters.sable]
sheet = "sable"
[characters.bero]
sheet = "bero"
[[steps]]
begin = "scene"
[[steps]]
id = "shot"
actor = "sable"
action = "confront"
with.skill = "ballistic"
with.attribute = "dexterity"
with.hand = "SECRET"
with.against = { name = "bero", skill = "technical", attribute = "dexterity", hand = "H10/D6/C2" }
choose = { play = ["H10", "H13", "pass", "pass"] }
"""

CONFLICT = """
ruleset = "fate"
title = "A brawl"
seed = "4"
policy = "sensible"
[characters.mara]
sheet = "mara"
[characters.guard]
sheet = "guard"
[tags.secret]
text = "SECRET"
kind = "aspect"
seen-by = ["gm"]
[[steps]]
id = "brawl"
actor = "mara"
procedure = "conflict"
with = { against = "guard" }
"""

HIDDEN = {
    "a tag and a track": (
        TAGS,
        "mara",
        "gm",
        (
            {"SECRET": "The Ledger Lies Here", "MARKS": "1", "BOX": "2"},
            {"SECRET": "Nobody Comes Home", "MARKS": "3", "BOX": "4"},
        ),
    ),
    "a tag, in a conflict": (
        CONFLICT,
        "mara",
        "gm",
        ({"SECRET": "A Trapdoor under the Straw"}, {"SECRET": "Somebody Listens"}),
    ),
    "a hand that was dealt": (
        CARDS,
        "brannagh",
        "ilse",
        (
            {"SECRET": '"Wi3", "Wi9", "St5", "Ag1", "St7", "Do5"'},
            {"SECRET": '"Wi2", "Wi7", "St6", "Ag2", "St8", "Do4"'},
        ),
    ),
    "a hand, for the game master": (
        CARDS,
        "gm",
        "ilse",
        (
            {"SECRET": '"Wi3", "Wi9", "St5", "Ag1", "St7", "Do5"'},
            {"SECRET": '"Wi2", "Wi7", "St6", "Ag2", "St8", "Do4"'},
        ),
    ),
    "a bid": (STACKS, "bram", "orsa", ({"SECRET": "pause/9/int"}, {"SECRET": "pause/9/str"})),
    "a hand that was typed": (
        HANDS,
        "bero",
        "sable",
        ({"SECRET": "H13,C4,D5"}, {"SECRET": "H13,C3,D2"}),
    ),
}


def outputs(text: str, seat: str) -> dict[str, str]:
    """Return everything that a seat can be handed of a scene, by format."""
    Path("hidden.toml").write_text(text, "utf-8")
    found = {}
    for option in ("", "--json", *(f"--{name}" for name in FORMATS)):
        wanted = [option, "-"] if option.lstrip("-") in FORMATS else [option] if option else []
        done = rpgres("scene", "run", "hidden.toml", "--as", seat, *wanted)
        assert (done.code, done.err) == (0, ""), done.err
        found[option] = done.out
    return found


@pytest.mark.slow
@pytest.mark.parametrize("what", HIDDEN)
def test_what_a_seat_cannot_see_changes_no_byte_of_its_account(what: str) -> None:
    text, seat, owner, worlds = HIDDEN[what]
    seen, known, public = [], [], []
    for world in worlds:
        scene = text
        for name, value in world.items():
            scene = scene.replace(name, value)
        seen.append(outputs(scene, seat))
        known.append(outputs(scene, owner))
        public.append(outputs(scene, "everybody"))
    assert seen[0] == seen[1]
    assert public[0] == public[1]
    for option in seen[0]:
        assert known[0][option] != known[1][option]  # whoever may see it does


@pytest.mark.parametrize("option", ["", "--json"])
@pytest.mark.parametrize(
    "change", ['"tags.sly-rat" = "aspect"', '"tags.nowhere.kind" = "aspect"', '"tags.wet-cat.uses.nobody" = 2']
)
def test_why_the_table_cannot_be_changed_is_for_the_game_master(option: str, change: str) -> None:
    seen, known = [], []
    for secret in ("Sly Rat", "Sly Rats"):
        text = (
            'ruleset = "fate"\nseed = "4"\n[characters.mara]\nsheet = "mara"\n[tags.cat]\ntext = "Wet Cat"\n'
            f'kind = "aspect"\n[tags.rat]\ntext = "{secret}"\nkind = "aspect"\nseen-by = ["gm"]\n'
            f"[[steps]]\nset = {{ {change} }}\n"
        )
        Path("hidden.toml").write_text(text, "utf-8")
        run = ["scene", "run", "hidden.toml", *filter(None, [option])]
        mara, gm = rpgres(*run, "--as", "mara"), rpgres(*run, "--as", "gm")
        assert (mara.code, gm.code) == (1, 1)
        seen.append((mara.out, mara.err))
        known.append((gm.out, gm.err))
    assert seen[0] == seen[1]
    assert "rat" not in "".join(seen[0]).lower()
    assert "hidden.toml:12: steps[0]: this change cannot be made; the game master can see why" in "".join(seen[0])
    assert "change cannot be made" not in "".join(known[0])


def test_a_seat_gets_no_seed_and_nothing_that_was_only_planned() -> None:
    Path("hidden.toml").write_text(
        TAGS.replace("SECRET", "The Ledger").replace("MARKS", "1").replace("BOX", "2"), "utf-8"
    )
    for seat in ("mara", "gm"):
        shown = json.loads(rpgres("scene", "run", "hidden.toml", "--as", seat, "--json").out)
        assert (shown["seed"], shown["seat"]) == (None, seat)
        assert {step.get("seed") for step in shown["steps"]} == {None}
        assert "seed: 4" not in rpgres("scene", "run", "hidden.toml", "--as", seat).out
    whole = json.loads(rpgres("scene", "run", "hidden.toml", "--json").out)
    assert (whole["seed"], whole["seat"]) == ("4", None)
    assert "seed: 4" in rpgres("scene", "run", "hidden.toml").out


def test_a_step_that_a_seat_does_not_hear_of_leaves_no_trace() -> None:
    text = TAGS.replace("SECRET", "The Ledger").replace("MARKS", "1").replace("BOX", "2")
    Path("hidden.toml").write_text(text, "utf-8")
    seen = rpgres("scene", "run", "hidden.toml", "--as", "mara").out
    assert [line for line in seen.splitlines() if re.match(r"\d", line)] == ["1. Look", "2. Step 2", "3. Tidy"]
    assert "The lamps go out" in seen
    assert "loud" not in seen.lower()
    assert "ledger" not in seen.lower()
    assert seen == plain_text(account_lines(told(scene_in(text), "mara")), PAGE)


def test_without_a_seat_it_is_the_game_masters_account_with_the_seed() -> None:
    whole, gm = (
        rpgres("scene", "run", "faith/infiltration").out,
        rpgres("scene", "run", "faith/infiltration", "--as", "gm").out,
    )
    assert whole.replace("seed: 7", "as seen by the game master") == gm
    assert "Deal (Sable Reyl): 8 cards" in whole


SECRETIVE = (("saga/toll-gate", "In6-"), ("faith/shoot-out", "C2"), ("nodice/ford", "maul"))


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "secret"), SECRETIVE)
def test_json_without_a_seat_is_the_game_masters_where_something_is_hidden(scene: str, secret: str) -> None:
    line = ("scene", "run", scene, "--seed", "7", "--auto", "--json")
    seen, whole = (json.loads(rpgres(*line, *more).out) for more in ((), ("--as", "host")))
    assert seen == json.loads(rpgres(*line, "--as", "gm").out)
    assert (seen["seat"], seen["seed"]) == ("gm", None)
    assert (whole["seat"], whole["seed"]) == (None, "7")
    assert json.dumps(whole).count(secret) > json.dumps(seen).count(secret)
    played = load_scene(scene, overrides=Overrides(auto=True))
    assert whole == json.loads(msgspec.json.encode(run_scene(played, seed="7")))
    assert seen == json.loads(msgspec.json.encode(run_scene(played, seed="7", seat="gm")))


@pytest.mark.parametrize("scene", ["fate/gate", "fate/bribe", "two-dice/the-moving-light"])
def test_json_without_a_seat_is_whole_where_nothing_is_hidden_but_who_passed(scene: str) -> None:
    line = ("scene", "run", scene, "--auto", "--json")
    whole = rpgres(*line).out
    assert whole == rpgres(*line, "--as", "host").out
    assert json.loads(whole)["seed"] is not None


@pytest.mark.slow
def test_files_name_the_seed_only_where_nothing_is_hidden() -> None:
    for scene, is_open in (("fate/bribe", True), ("saga/toll-gate", False)):
        line = ("scene", "run", scene, "--seed", "abracadabra", "--auto")
        for form in ("--markdown", "--html", "--lonelog"):
            assert ("abracadabra" in rpgres(*line, form, "-").out) == is_open
            assert "abracadabra" in rpgres(*line, form, "-", "--as", "host").out
        assert "seed: abracadabra" in rpgres(*line).out
    assert "Deal (Brannagh Quill): 5 cards" in rpgres(*line).out
    assert "Deal (Brannagh Quill): 5 cards" not in rpgres(*line, "--as", "host").out


def test_the_name_of_a_view_is_no_characters() -> None:
    for name in ("host", "everybody"):
        text = f'ruleset = "fate"\n[characters.{name}]\nskills = {{}}\n[[steps]]\nnote = "x"\n'
        assert f"-:2: characters.{name}: {name!r} is the name of a view" in rpgres("scene", "run", "-", stdin=text).err


BATTLE = ("scene", "run", "saga/battle", "--sheet", "brannagh", "--against", "toll-warden", "--seed", "7")


def test_what_comes_before_a_decision_is_told_as_the_game_master_may_know_it() -> None:
    told, whole = (rpgres(*BATTLE, *more) for more in ((), ("--as", "host")))
    assert (told.code, whole.code) == (3, 3)
    assert "Deal (Brannagh Quill): 5 cards" in told.out
    assert "Deal (Brannagh Quill): In6-, Do10+, Do2-, St6n, St5-" in whole.out
    assert " --as host" in whole.out  # in the line that goes on


def test_whose_decision_it_is_that_nobody_takes_is_told_without_its_options() -> None:
    own, gm, other = (rpgres(*BATTLE, "--as", seat).err for seat in ("brannagh", "gm", "everybody"))
    assert "Do10" in own
    assert "no answer to a decision of brannagh" in gm
    assert "no answer to a decision of another seat" in other
    assert "Do10" not in gm + other
    scene = 'ruleset = "saga"\nseed = "7"\n[characters.brannagh]\nsheet = "brannagh"\n[[steps]]\nactor = "brannagh"\n'
    scene += 'action = "act"\nwith = { ability = "strength", vs = "average" }\n'
    own, gm, other = (
        rpgres("scene", "run", "-", "--as", seat, stdin=scene).err for seat in ("brannagh", "gm", "everybody")
    )
    assert "play (brannagh chooses among " in own
    assert "steps[0] waits for a decision of brannagh; " in gm
    assert "steps[0] waits for a decision of another seat; " in other
    assert "among" not in gm + other


def test_seats_are_completed() -> None:
    assert completions("rpgres scene run fate/bribe --as ") == ["gm", "mara", "guards", "everybody", "host"]
    assert completions("rpgres scene run fate/bribe --as m") == ["mara"]
    assert completions("rpgres scene run no-such --as ") == ["gm", "everybody", "host"]


def test_a_seat_that_nobody_has_is_refused() -> None:
    done = rpgres("scene", "run", "fate/bribe", "--as", "bob")
    assert (done.code, done.out) == (2, "")
    assert "the scene has no seat 'bob'; it has: gm, mara" in done.err


@pytest.mark.parametrize("seat", [None, "gm", "mara", "everybody"])
def test_json_is_what_its_schema_says(seat: str | None) -> None:
    wanted = ["--as", seat] if seat else []
    ran = rpgres("scene", "run", "fate/ledger", "--json", *wanted).out
    assert list(Draft202012Validator(make_schema("scene-result")).iter_errors(json.loads(ran))) == []
    shown = rpgres("scene", "show", "-", "--json", stdin=ran).out
    assert list(Draft202012Validator(make_schema("account")).iter_errors(json.loads(shown))) == []


# ---------------------------------------------------------------------------------------------------------------------
# Files


@pytest.mark.slow
def test_files_are_written_beside_the_account_and_can_be_read_again() -> None:
    names = {name: f"out.{name}" for name in FORMATS}
    options = [word for name, file in names.items() for word in (f"--{name}", file)]
    first = rpgres("scene", "run", "fate/ledger", *options)
    assert (first.code, first.err) == (0, "")
    assert first.out == rpgres("scene", "run", "fate/ledger").out
    written = {name: Path(file).read_text("utf-8") for name, file in names.items()}
    for name, file in names.items():
        assert rpgres("scene", "run", "fate/ledger", f"--{name}", "-").out == written[name]
        Path(file).unlink()
    Path("run.json").write_text(rpgres("scene", "run", "fate/ledger", "--json").out, "utf-8")
    again = rpgres("scene", "show", "run.json", *options)
    assert again.out == first.out
    assert {name: Path(file).read_text("utf-8") for name, file in names.items()} == written
    account = rpgres("scene", "show", "run.json", "--json").out
    assert rpgres("scene", "show", "-", stdin=account).out == first.out


@pytest.mark.slow
def test_files_are_written_when_nobody_reads_on() -> None:
    line = [*PROGRAM, "scene", "run", "fate/ledger", "--html", "out.html"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"The harbour master's ledger\n"
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0
    assert Path("out.html").read_text("utf-8") == rpgres("scene", "run", "fate/ledger", "--html", "-").out


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_only_an_account_is_replaced(name: str) -> None:
    line = ["scene", "run", "fate/bribe", f"--{name}", "out"]
    assert rpgres(*line).code == 0
    first = Path("out").read_bytes()
    assert rpgres("scene", "run", "fate/ledger", f"--{name}", "out").code == 0
    assert Path("out").read_bytes() != first
    Path("out").write_text("my own notes\n", "utf-8")
    done = rpgres(*line)
    assert (done.code, done.out) == (1, "")
    assert "is not an account that rpgres wrote, so it is not replaced" in done.err
    assert Path("out").read_text("utf-8") == "my own notes\n"
    Path("out").write_text("", "utf-8")
    assert rpgres(*line).code == 0
    assert Path("out").read_bytes() == first
    assert [path.name for path in Path().iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--html", "no/x.html"], 1, "there is no folder no"),
        (["--html", "."], 1, ". is a folder"),
        (["--html", "x", "--markdown", "./x"], 2, "--markdown and --html both write to"),
        (["--html", "-", "--json"], 2, "--json and a file - both write to standard output"),
    ],
)
def test_places_that_cannot_be_written_are_told_before_anything_is_played(
    options: list[str], code: int, message: str
) -> None:
    done = rpgres("scene", "run", "fate/bribe", *options)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


@pytest.mark.parametrize(
    "text", ["{}", '{"format": "rpgres.scene/1"}', '{"format": "rpgres.account/1"}', "[]", "hello"]
)
def test_what_is_no_account_is_refused(text: str) -> None:
    done = rpgres("scene", "show", "-", stdin=text)
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    assert done.err.startswith("rpgres: ")


SPEAKING = """
ruleset = "fate"
seed = "7"
[characters.mara]
sheet = "mara"
[characters.warden]
name = "The Warden"
skills = { fight = 1 }
[characters.watch]
name = "Jackal Watchmen"
members = 3
[characters.thug]
name = "Hired Thug"
members = 2
[[steps]]
actor = "watch"
action = "attack"
with = { skill = 1, vs = "warden:fight" }
[[steps]]
actor = "thug"
action = "attack"
with = { skill = 1, vs = 0 }
[[steps]]
actor = "warden"
action = "concede"
"""


def test_one_and_several_are_spoken_of_as_people_do(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    scene.write_text(SPEAKING, "utf-8")
    told = " ".join(rpgres("scene", "run", str(scene), "--auto").out.split())
    assert "Jackal Watchmen attack the Warden with 1, against the fight of the Warden." in told
    assert "Hired Thug attacks with 1" in told  # a mob may be called by one of them
    assert "The Warden concedes." in told


MOB = """
ruleset = "fate"
seed = "3"
[characters.mara]
sheet = "mara"
[characters.thugs]
sheet = "thug"
members = 3
[characters.bruiser]
sheet = "bruiser"
[[steps]]
id = "hit"
actor = "mara"
action = "attack"
with = { skill = 5, vs = 0, target = "thugs" }
given = { roll = "---0" }
[[steps]]
actor = "bruiser"
action = "concede"
"""


def test_the_table_at_the_end_tells_who_went_out_also_where_they_are_back(tmp_path: Path) -> None:
    scene = tmp_path / "s.toml"
    scene.write_text(MOB, "utf-8")
    told = rpgres("scene", "run", str(scene), "--auto").out.partition("On the table\n")[2]
    assert "  Hired thug\n    taken out: 1 of them (1. Hit)\n    members 2, members out 1, " in told
    assert "  Bruiser\n    out\n" in told
    scene.write_text(f'{MOB}[[steps]]\nend = "conflict"\n', "utf-8")
    for form in ("--markdown", "--html", "--lonelog"):
        assert "conceded (2. Concede)" in rpgres("scene", "run", str(scene), "--auto", form, "-").out, form
    told = rpgres("scene", "run", str(scene), "--auto").out.partition("On the table\n")[2]
    assert "  Bruiser\n    conceded (2. Concede)\n    physical stress 0 of 2" in told
    assert "    taken out: 1 of them (1. Hit)\n    members 3, physical" in told
    assert "members 1" not in told


@pytest.mark.parametrize("rolls", [["++++"], ["---0", "++++"]], ids=["at once", "one after another"])
def test_a_mob_that_is_all_down_is_told_as_such(tmp_path: Path, rolls: list[str]) -> None:
    """Its last member takes a hit as a character does, and no count tells of it."""
    scene = tmp_path / "s.toml"
    head, _, step = MOB.partition("[[steps]]")
    hit = step.partition("[[steps]]")[0]
    hits = [
        f'{hit}choose = {{ absorb = "taken-out" }}\n'.replace("---0", roll).replace('id = "hit"', "") for roll in rolls
    ]
    group = "".join(f"[[steps.steps]]{one}" for one in hits)
    scene.write_text(f'{head}[[steps]]\nid = "fight"\n{group}[[steps]]\nend = "conflict"\n', "utf-8")
    told = rpgres("scene", "run", str(scene), "--auto").out.partition("On the table\n")[2]
    assert "taken out: all of them (" in told
    assert "members 3" in told


def test_a_guest_whose_sheet_is_a_file_is_called_by_name(tmp_path: Path) -> None:
    def against(name: str) -> str:
        sheet = tmp_path / name
        sheet.parent.mkdir(exist_ok=True)
        sheet.write_text('name = "Tolla Vane"\n[skills]\nfight = 2\n', "utf-8")
        line = ("scene", "run", "fate/conflict", "--sheet", "mara", "--against", str(sheet))
        return " ".join(rpgres(*line, "--auto", "--seed", "7").out.split())

    assert "Mara Quill enters a conflict against Tolla Vane." in against("tolla.toml")
    assert "against Tolla Vane." in against("other/tolla.toml")


@pytest.mark.parametrize(
    ("procedure", "said"),
    [
        ("saga/exchange --sheet brannagh --against toll-warden", "Brannagh Quill attacks Toll warden."),
        ("saga/exchange --sheet brannagh --against toll-warden", "Brannagh Quill answers Toll warden."),
        ("faith/rounds --sheet sable --against dock-guard --rounds 2", "Sable Reyl acts against Dock guard."),
        ("fate/conflict --sheet mara --against bruiser --exchanges 2", "Bruiser attacks Mara Quill."),
        ("fate/conflict --sheet mara --against bruiser --exchanges 2", "\n  Exchange 2\n"),
        ("nodice/sequence --sheet orsa --against bram", "Orsa Venn attacks Bram Okker with the boathook, at the chest"),
        ("faith/rounds --sheet sable --against dock-guard --rounds 2", "Everybody lays a card for the order of turns."),
    ],
)
def test_turns_of_procedures_are_whole_sentences(procedure: str, said: str) -> None:
    told = rpgres("scene", "run", *procedure.split(), "--auto", "--seed", "7").out
    assert said in told or said in " ".join(told.split())


@pytest.mark.parametrize(
    ("procedure", "names"),
    [
        ("faith/rounds --sheet sable --against dock-guard --rounds 2", ["sable", "dock-guard"]),
        ("nodice/sequence --sheet orsa --against bram", ["orsa", "bram"]),
        ("saga/exchange --sheet brannagh --against toll-warden", ["brannagh", "toll-warden"]),
    ],
)
def test_lines_of_rules_have_titles_in_place_of_short_names(procedure: str, names: list[str]) -> None:
    """A stack such as `orsa#1` keeps its name, and so does what was typed."""
    told = rpgres("scene", "run", *procedure.split(), "--auto", "--seed", "7").out
    assert not [name for name in names if re.search(rf"(?<![\w:]){name}(?![\w#/])", told)]


def test_a_turn_repeats_no_decision_that_its_sentence_tells_and_marks_those_of_orders(tmp_path: Path) -> None:
    line = (
        "scene",
        "run",
        "fate/conflict",
        "--sheet",
        "mara",
        "--against",
        "bruiser",
        "--exchanges",
        "1",
        "--seed",
        "7",
    )
    assert "Turn (" not in rpgres(*line, "--auto").out
    orders = tmp_path / "orders.toml"
    orders.write_text('policy = "sensible"\n[[orders]]\nask = "turn"\nchoose = "attack"\n', "utf-8")
    told = rpgres(*line, "--policy", f"mara={orders}", "--auto").out
    assert "Turn (Mara Quill, by orders): Attack somebody." in told
    assert "Turn (Bruiser" not in told


def test_a_picture_is_called_what_it_says_it_is_of() -> None:
    assert "\n  Hand of Sister Ash: " in rpgres("scene", "run", "nodice/closed-house").out


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (
            "fate/contest --sheet mara --skill 3 --vs 2 --under-fire thug --exchanges 2",
            "Hired thug attacks Mara Quill",
        ),
        ("coppermane/contest --sheet tamsin --attribute dexterity --vs 9 --exchanges 2", "The sides roll"),
        ("saga/battle --sheet brannagh --against toll-warden --exchanges 2", "Brannagh Quill attacks Toll warden"),
        ("faith/rounds --sheet sable --against dock-guard --rounds 2", "Everybody lays a card for the order of turns"),
    ],
)
def test_what_a_procedure_counts_is_a_heading_above_its_first_turn(line: str, first: str) -> None:
    told = rpgres("scene", "run", *line.split(), "--auto", "--seed", "1").out
    heads = re.findall(r"\n\n  (?:Exchange|Round) (\d)\n\n?  ([^\n]+)\.\n", told)
    assert heads == [("1", first), ("2", first)], told


def test_an_exchange_that_is_broken_off_has_its_heading() -> None:
    line = ("--sheet", "mara", "--skill", "fight", "--vs", "2", "--under-fire", "thug", "--auto", "--seed", "1")
    step = json.loads(rpgres("scene", "run", "fate/contest", *line, "--json").out)["steps"][0]
    rolls = [number for number, one in enumerate(step["events"]) if one.get("action") == "exchange 2"]
    step["events"] = step["events"][: rolls[0]]
    rules = load_scene("fate/vault").rules
    turns, _ = turns_of(step, words_of(rules, State()))
    assert [turn.round for turn in turns if turn.round is not None] == [1, 2]


def test_a_turn_without_a_roll_is_told_with_a_verb() -> None:
    line = ("fate/conflict", "--sheet", "mara", "--against", "thug", "--exchanges", "1", "--order", "mara")
    for did, words in (("full-defense", "gives up the action for a full defense"), ("pass", "does nothing")):
        told = rpgres("scene", "run", *line, "--auto", "--choose", f"mara:turn={did}").out
        assert f"  Mara Quill {words}.\n" in told
