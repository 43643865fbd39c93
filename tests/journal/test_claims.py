"""Who may say what at a persistent table: what no sheet has is a claim, and the rules say who reads what was typed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpgres import GM, UsageError, resolve
from rpgres.engine.dealing import Dealt
from rpgres.engine.players import Question
from rpgres.engine.records import Pending, Result
from rpgres.engine.rerun import Asked
from rpgres.engine.table import Outcome, Table
from rpgres.engine.views import without_fields
from rpgres.journal import commands as sitting
from rpgres.journal import store, views
from rpgres.journal.chain import SALT
from rpgres.journal.commands import Done, Place, seating, writing
from rpgres.journal.elsewhere import answer_for
from rpgres.journal.exchange import view_of
from rpgres.journal.records import found_in
from rpgres.journal.replay import questions_of
from rpgres.journal.rerun import table_what_if
from rpgres.journal.verifying import verify
from rpgres.lint.whole import all_diagnostics
from rpgres.model.events import DecisionEvent, RollEvent, TextEvent
from rpgres.model.state import Character, Map, State
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import checked, load_rules
from rpgres.render.accounts.markdown import as_markdown
from rpgres.render.accounts.tables import account_of_table
from rpgres.render.lines import plain_text
from rpgres.render.tables import found_lines, log_lines, show_lines
from rpgres.rulesets import Part, Rules, Ruleset, is_public, merge_parts, speaker
from rpgres.toml.reading import Source, parse
from tests.support.command_line import rpgres
from tests.support.effort import examples

_FRESH = re.compile(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

# By ruleset: who claims, who looks on, an action, what is typed, and what of it is a claim.
CASES: dict[str, tuple[str, str, str, dict[str, Any], str]] = {
    "fate": ("mara", "edda", "overcome", {"skill": "burglary=9", "vs": "2"}, "skill burglary=9 (sheet: 2), vs 2"),
    "saga": ("ilse", "brannagh", "act", {"ability": "strength", "vs": "average", "edge": "9"}, "vs average, edge 9"),
    "faith": (
        "sable",
        "bero",
        "confront",
        {"skill": "9", "attribute": "dexterity", "advantages": "9", "target": ["bero"]},
        "skill 9, advantages 9",
    ),
    "nodice": (
        "orsa",
        "bram",
        "observe",
        {"int": "3", "target": ["punch:agi=1,stack=punch/3"]},
        "target punch: agi 1, target punch: stack (hidden)",
    ),
    "twenty-sided-advantage": (
        "brand",
        "iolen",
        "strike",
        {"bonus": "might=9", "vs": "15"},
        "bonus might=9 (sheet: 3), vs 15",
    ),
}


def begun(path: Path, ruleset: str, trust: str = "gm") -> Place:
    place = Place(path / f"{ruleset}-{trust}.db")
    sheets = [CASES[ruleset][0], CASES[ruleset][1]]
    sitting.begin_table(place, ruleset=ruleset, sheets=sheets, seed="7", trust=trust)
    return place


def came(done: Done) -> Result | Pending:
    found = found_in(done.entry.secret)
    assert found is not None
    return found


def asked(done: Done) -> list[tuple[str, str]]:
    found = came(done)
    return (
        [(one.label, done.history.state.seat_of(one.who)) for one in questions_of(found)]
        if isinstance(found, Pending)
        else []
    )


def log_of(done: Done, seat: str | None) -> str:
    return plain_text(log_lines(views.log_seen(done.history, seat), done.rules.file))


def account_seen(done: Done, seat: str) -> str:
    """Return the account of a table for a seat, as Markdown."""
    history = done.history
    log, state = views.log_seen(history, seat), history.state.seen_by(seat)
    return as_markdown(account_of_table(views.table_record(history, seat), log, state, done.rules))


def shown(done: Done, seat: str) -> str:
    """Return everything that a seat may read of a table, byte by byte."""
    history, file = done.history, done.rules.file
    record, log = views.table_record(history, seat), views.log_seen(history, seat)
    met: list[Any] = [record, views.log_record(history, seat), views.entry_record(history, done.entry, seat)]
    if done.entry.kind in ("act", "answer"):
        met.append(plain_text(found_lines(views.run_seen(history, done.entry, seat), file)))
    met += [plain_text(show_lines(record, history.state.seen_by(seat), file))]
    met += [plain_text(log_lines(log, file)), account_seen(done, seat)]
    texts = (one if isinstance(one, str) else msgspec.json.encode(one, enc_hook=str).decode() for one in met)
    return _FRESH.sub("...", "\n".join(texts))


@pytest.mark.parametrize("ruleset", CASES)
def test_a_claim_waits_for_the_game_master_before_anything_is_drawn(tmp_path: Path, ruleset: str) -> None:
    who, other, action, inputs, claims = CASES[ruleset]
    place = begun(tmp_path, ruleset)
    done = sitting.act(place, action, inputs, seat=who)
    found = came(done)
    assert isinstance(found, Pending)
    assert asked(done) == [("claim", GM)]
    assert found.question.words == f"{who} claims: {claims}"
    assert [type(event) for event in found.events] == [TextEvent]
    before = done.history.state
    for seat in (who, other, GM, None):
        assert f"{who} claims: {claims}" in shown(done, seat)  # everybody reads it
    for seat in (who, other):
        assert '"label":"claim"' not in shown(done, seat)  # and not what she is asked
        with pytest.raises(UsageError, match="another seat is asked"):
            sitting.answer(place, seat=seat, choose={"claim": ["confirm"]})
    with pytest.raises(UsageError, match="leaves 'claim' undecided"):
        sitting.answer(place, seat=GM, auto=True)

    refused = sitting.answer(place, seat=GM, choose={"claim": ["refuse"]})
    result = came(refused)
    assert isinstance(result, Result)
    assert (result.outcome, result.success, result.effects) == (None, None, [])
    assert [type(event) for event in result.events] == [TextEvent, DecisionEvent]  # nothing was drawn
    assert refused.history.state == before
    assert "no effect" in log_of(refused, other)

    sitting.act(place, action, inputs, seat=who)
    done = sitting.answer(place, seat=GM, choose={"claim": ["confirm"]})
    assert ("claim", GM) not in asked(done)
    assert "claim (the game master): confirm" in shown(done, other)
    while store.read(place.path).pending is not None:
        done = sitting.answer(place, auto=True)
    assert came(done).outcome is not None
    sitting.reveal(place)
    assert verify(place.path).verdict == "in order"


@pytest.mark.parametrize("ruleset", CASES)
def test_where_players_are_trusted_a_claim_counts_at_once_and_is_told(tmp_path: Path, ruleset: str) -> None:
    who, other, action, inputs, claims = CASES[ruleset]
    done = sitting.act(begun(tmp_path, ruleset, "players"), action, inputs, seat=who)
    assert ("claim", GM) not in asked(done)
    assert f"{who} claims: {claims}" in shown(done, other)


@pytest.mark.parametrize("ruleset", CASES)
@pytest.mark.parametrize("seat", [GM, None])
def test_the_game_master_and_the_host_claim_nothing(tmp_path: Path, ruleset: str, seat: str | None) -> None:
    who, other, action, inputs, _ = CASES[ruleset]
    done = sitting.act(begun(tmp_path, ruleset), action, inputs, actor=who, seat=seat)
    assert ("claim", GM) not in asked(done)
    assert "claims" not in shown(done, other)


KNOWN: dict[str, dict[str, Any]] = {
    "fate": {"skill": "burglary", "vs": ["edda:will"]},
    "faith": {"skill": "ballistic", "attribute": "dexterity", "weapon": "0", "target": ["bero"]},
    "twenty-sided-advantage": {"bonus": "might=3", "vs": {"character": "iolen", "skill": "guard"}},
}


@pytest.mark.parametrize("ruleset", KNOWN)
def test_what_the_sheets_say_is_no_claim(tmp_path: Path, ruleset: str) -> None:
    who, _, action, _, _ = CASES[ruleset]
    done = sitting.act(begun(tmp_path, ruleset), action, KNOWN[ruleset], seat=who)
    assert ("claim", GM) not in asked(done)
    assert "claims" not in shown(done, who)


def test_nobody_compels_themselves_unasked(tmp_path: Path) -> None:
    """It would be a fate point for nothing, as often as one likes."""
    place = begun(tmp_path, "fate")
    compel = {"name": "Wanted in Three Ports"}
    done = sitting.act(place, "compel", compel, actor="mara", seat="mara")
    assert asked(done) == [("claim", "gm")]
    points = done.history.state.characters["mara"].counters["fate-points"]
    done = sitting.answer(place, seat="gm", choose={"claim": ["refuse"]})
    assert done.history.state.characters["mara"].counters["fate-points"] == points
    assert done.history.pending is None
    sitting.act(place, "compel", compel, actor="mara", seat="mara")
    done = sitting.answer(place, seat="gm", choose={"claim": ["confirm"]})
    assert asked(done) == [("compel", "mara")]
    sitting.undo(place, done.entry.public.of)
    assert asked(sitting.act(place, "compel", compel, actor="mara", seat="gm")) == [("compel", "mara")]


def test_a_sheet_from_elsewhere_is_a_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dog.toml").write_text('name = "Dog"\n[skills]\nwill = -2\n', "utf-8")
    place = begun(tmp_path, "fate")
    done = sitting.act(place, "overcome", {"skill": "burglary", "vs": ["dog.toml:will"]}, seat="mara")
    assert "mara claims: vs dog.toml:will" in shown(done, "edda")
    sitting.answer(place, seat=GM, choose={"claim": ["refuse"]})
    assert "dog" not in store.read(place.path).state.characters
    with pytest.raises(UsageError, match="only the game master or the host can add sheets, not mara"):
        sitting.join(place, "mara", seat="mara")
    sitting.join(place, "mara", seat=GM)


def test_a_slip_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    place = begun(tmp_path, "faith")
    with pytest.raises(UsageError, match="agility is an attribute"):
        sitting.act(place, "confront", {"skill": "agility", "attribute": "9"}, seat="sable")
    assert len(store.read(place.path).entries) == 1


def test_a_claim_draws_what_would_be_drawn_without_it(tmp_path: Path) -> None:
    rolls = []
    for seat, trust in (("mara", "gm"), ("mara", "players"), (GM, "gm")):
        place = Place(tmp_path / f"{seat}-{trust}.db", salt=lambda: bytes(SALT))
        sitting.begin_table(place, ruleset="fate", sheets=["mara"], seed="7", trust=trust)
        done = sitting.act(place, "overcome", {"skill": "4", "vs": ["2"]}, actor="mara", seat=seat)
        if asked(done) == [("claim", GM)]:
            done = sitting.answer(place, seat=GM, choose={"claim": ["confirm"]})
        rolls.append([event.faces for event in came(done).events if isinstance(event, RollEvent)])
    assert rolls[0] == rolls[1] == rolls[2] != []


# ---------------------------------------------------------------------------------------------------------------------
# Claims in answers


def test_a_countermeasure_with_numbers_of_its_own_is_confirmed(tmp_path: Path) -> None:
    place = begun(tmp_path, "faith")
    typed = {"skill": "ballistic", "attribute": "dexterity", "target": ["bero"]}
    sitting.act(place, "confront", typed, seat="sable")
    sitting.answer(place, seat=GM, choose={"join": ["no"]})
    claimed = "skill=3,attribute=dexterity,advantages=8"
    done = sitting.answer(place, seat="bero", choose={"counter": [claimed]})
    assert asked(done) == [("claim", GM)]
    assert "bero claims: skill 3, advantages 8" in shown(done, GM)
    done = sitting.answer(place, seat=GM, choose={"claim": ["refuse"]})
    assert asked(done) == [("counter", "bero")]  # it is not done, and another one may be
    done = sitting.answer(place, seat="bero", choose={"counter": ["skill=technical,attribute=dexterity"]})
    assert ("claim", GM) not in asked(done)
    sitting.undo(place, done.entry.public.of, seat=GM)
    sitting.act(place, "confront", typed, seat="sable")
    sitting.answer(place, seat=GM, choose={"join": ["no"]})
    done = sitting.answer(place, choose={"counter": [claimed]})  # the host's word
    assert ("claim", GM) not in asked(done)
    while store.read(place.path).pending is not None:  # nor is it one when the action is run again
        done = sitting.answer(place, auto=True)
        assert ("claim", GM) not in asked(done)
    sitting.reveal(place)
    assert verify(place.path).verdict == "in order"


# ---------------------------------------------------------------------------------------------------------------------
# A ruleset of somebody else's

TUG = """
title = "Tug of War"
summary = "All pull at once."
version = "1"
trust = "players"

[bands]
lost = { title = "Lost", to = -1, success = false }
won = { title = "Won", from = 0, success = true }

[sheet.name]
kind = "text"
help = "the name"

[sheet.skills]
kind = "abilities"
any-name = true
help = "skills"

[parameters.skill]
kind = "ability"
help = "what one pulls with"

[parameters.cry]
kind = "text"
help = "what one shouts"

[parameters.token]
kind = "text"
seen-by = "own"
help = "what one thinks of"

[parameters.wind]
kind = "integer"
default = 0
said-by = "gm"
help = "the wind"

[parameters.helpers]
kind = "integer"
default = 0
help = "how many help"

[labels.pull]
kind = "decision"
help = "with what"

[labels.pull.fields]
skill = { kind = "ability", help = "the skill" }
helpers = { kind = "integer", help = "how many help", default = 0 }
cry = { kind = "text", help = "what one shouts" }
wind = { kind = "integer", help = "the wind", said-by = "player" }

[actions.pull]
summary = "Pull."
parameters = ["skill", "cry", "token", "wind", "helpers"]
labels = ["pull", "roll"]
tables = ["pull"]

[labels.roll]
kind = "chance"
help = "luck"

[outcomes.pull]
lost = { text = "No." }
won = { text = "Yes." }
"""

tug = Ruleset("tug")


@tug.action("pull")
def pull(
    table: Table, actor: Character, *, skill: Any, cry: str = "", token: str = "", wind: int = 0, helpers: int = 0
) -> Outcome:
    """Everybody else says how they pull, all at once."""
    others = [name for name in table.state.characters if name != actor.name]
    questions = [Question("pull", name, (), form="skill=N,helpers=N", reads=str) for name in others]
    answers = table.ask_together(questions, secret=cry == "hush")
    return table.settle("pull", skill.value + helpers + wind - len(answers))


def tug_rules(folder: Path, **switches: str) -> Rules:
    folder.mkdir(exist_ok=True)
    (folder / "ruleset.toml").write_text(TUG, encoding="utf-8")
    source = Source(path=str(folder / "ruleset.toml"), text=TUG)
    parts = [Part(folder=folder, source=source, data=parse(source))]
    return Rules(tug, file=merge_parts(parts), parts=parts, switches=switches)


def pullers() -> State:
    people: Mapping[str, Character] = {
        name: Character(name, abilities=Map({"rope": 3})) for name in ("ada", "bo", "cy")
    }
    return State(characters=Map(people))


@pytest.fixture
def at_tug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(writing, "find_ruleset", lambda *_, **__: tug)
    monkeypatch.setattr(writing, "load_rules", lambda *_, switches, **__: tug_rules(tmp_path / "tug", **switches))
    monkeypatch.setattr(seating, "set_table", lambda *_, **__: Dealt(pullers()))
    monkeypatch.setattr("rpgres.journal.verifying.set_table", lambda *_, **__: Dealt(pullers()))
    return tmp_path


def tug_at(path: Path, name: str = "t", trust: str = "gm") -> Place:
    place = Place(path / f"{name}.db")
    sitting.begin_table(place, ruleset="tug", sheets=[], seed="1", trust=trust)
    return place


def test_a_ruleset_of_somebody_elses_declares_both(at_tug: Path) -> None:
    checked(tug_rules(at_tug / "tug"))
    place = tug_at(at_tug, trust="")
    assert store.read(place.path).new.public.trust == "players"  # its own default
    place = tug_at(at_tug, "gm")
    with pytest.raises(UsageError, match="`wind`: only the game master or the host can give this, not ada: the wind"):
        sitting.act(place, "pull", {"skill": "rope", "wind": "9"}, seat="ada")
    done = sitting.act(place, "pull", {"skill": "rope", "cry": "Heave!", "token": "a goat"}, seat="ada")
    assert asked(done) == [("pull", "bo"), ("pull", "cy")]  # words are nobody else's matter
    for seat, sees in (("ada", True), ("bo", False), (GM, False)):
        assert ("a goat" in shown(done, seat)) is sees
        assert "said by ada: skill rope, cry Heave!" in shown(done, seat)


def test_answers_given_together_are_confirmed_when_all_are_there(at_tug: Path) -> None:
    for hush in ("", "hush"):
        place = tug_at(at_tug, f"t{hush}")
        sitting.act(place, "pull", {"skill": "rope", "cry": hush}, seat="ada")
        done = sitting.answer(place, seat="cy", choose={"pull": ["skill=9,helpers=2,wind=5"]})
        assert asked(done) == [("pull", "bo")]
        assert "skill 9" not in shown(done, GM)
        done = sitting.answer(place, seat="bo", choose={"pull": ["skill=rope,cry=Ho,helpers=0"]})
        assert asked(done) == [("claim", GM)]
        assert "cy claims: skill 9, helpers 2" in shown(done, GM)
        assert all("skill 9" not in shown(done, seat) for seat in ("ada", "bo"))
        done = sitting.answer(place, seat=GM, choose={"claim": ["refuse"]})
        assert asked(done) == [("pull", "cy")]  # bo's stands
        done = sitting.answer(place, seat="cy", choose={"pull": ["skill=8"]})
        assert asked(done) == [("claim", GM)]
        done = sitting.answer(place, seat=GM, choose={"claim": ["confirm"]})
        assert isinstance(came(done), Result)
        for seat in ("ada", "bo"):
            assert ("skill=8" in shown(done, seat)) is not bool(hush)
            assert ("cy claims: skill 8" in shown(done, seat)) is not bool(hush)
        sitting.reveal(place)
        assert verify(place.path).verdict == "in order"


tokens = st.sampled_from(["a goat", "a boat", "skill=9", "claim"])
pulls = st.sampled_from(["skill=rope", "skill=9", "skill=rope,helpers=3", "cry=Ho"])
deeds = st.lists(st.sampled_from(["bo", "cy", "confirm", "refuse", "undo"]), max_size=6)


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(
    one=tokens,
    other=tokens,
    skill=st.sampled_from(["rope", "9"]),
    cry=st.sampled_from(["", "hush"]),
    mine=pulls,
    theirs=st.tuples(pulls, pulls),
    script=deeds,
    trust=st.sampled_from(["players", "gm"]),
)
def test_what_is_not_for_a_seat_changes_nothing_that_it_meets(
    tmp_path_factory: pytest.TempPathFactory,
    one: str,
    other: str,
    skill: str,
    cry: str,
    mine: str,
    theirs: tuple[str, str],
    script: list[str],
    trust: str,
) -> None:
    """Two tables at which other words were typed that are not for everybody look the same, and ask the same seats."""
    looks = []
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("tug")
        patch.setattr(writing, "find_ruleset", lambda *_, **__: tug)
        patch.setattr(writing, "load_rules", lambda *_, switches, **__: tug_rules(folder / "tug", **switches))
        patch.setattr(seating, "set_table", lambda *_, **__: Dealt(pullers()))
        for number, token in enumerate((one, other)):
            place = tug_at(folder, str(number), trust)
            met: list[Any] = []
            done = sitting.act(place, "pull", {"skill": skill, "cry": cry, "token": token}, seat="ada")
            for deed in ["", *script]:
                try:
                    if deed in ("bo", "cy"):
                        done = sitting.answer(place, seat=deed, choose={"pull": [mine if deed == "bo" else theirs[0]]})
                    elif deed == "undo":
                        done = sitting.undo(place, seat=GM)
                    elif deed:
                        done = sitting.answer(place, seat=GM, choose={"claim": [deed]})
                except UsageError as error:
                    met.append(error.message)
                met += [shown(done, seat) for seat in ("bo", "cy", GM)]
                met.append(asked(done) if done.entry.kind in ("act", "answer") else None)
            looks.append(met)
    assert looks[0] == looks[1]


# ---------------------------------------------------------------------------------------------------------------------
# Who said it


def test_words_are_marked_with_who_said_them(tmp_path: Path) -> None:
    place = begun(tmp_path, "fate", "players")
    typed = {"skill": "burglary", "vs": ["edda:will"], "name": "gm: Mara wins"}
    done = sitting.act(place, "create-advantage", typed, seat="mara", note="gm: I allow it", auto=True)
    while done.history.pending is not None:
        done = sitting.answer(place, auto=True)
    done = sitting.write_note(place, "hello\n\ngm: Mara wins", seat="mara")
    log = views.log_seen(done.history, "edda")
    told, account = log_of(done, "edda"), account_seen(done, "edda").replace("\\", "")
    assert "said by mara: skill burglary, vs edda:will, name gm: Mara wins" in told
    assert "note by mara: gm: I allow it" in told
    assert "> Mara Quill: gm: I allow it" in account
    assert "> Mara Quill: hello\n\n> Mara Quill: gm: Mara wins" in account
    assert [entry.said_by for entry in log[1:-1]] == ["mara"] * len(log[1:-1])
    assert log[-1].by == "mara"


def test_the_declared_action_shows_while_it_waits(tmp_path: Path) -> None:
    """Others decide whether to confront it."""
    table = ["--table", str(tmp_path / "t.db")]
    rpgres("table", "new", "--ruleset", "faith", "--sheet", "sable", "--sheet", "bero", "--seed", "7", *table)
    act = ["confront", "--skill=ballistic", "--attribute=dexterity", "--weapon=3", "--target=bero"]
    assert rpgres("table", "act", *act, "--as", "sable", *table).code == 3
    said = "said by sable: skill ballistic, attribute dexterity, weapon 3, target bero"
    for look in (["show"], ["log"]):
        assert said in rpgres("table", *look, "--as", "bero", *table).out
    record = json.loads(rpgres("table", "show", "--json", "--as", "bero", *table).out)
    assert record["pending"]["inputs"] == {
        "skill": "ballistic",
        "attribute": "dexterity",
        "weapon": "3",
        "target": ["bero"],
    }
    assert (record["said_by"], record["trust"]) == ("sable", "gm")
    view = view_of(store.read(tmp_path / "t.db"), tmp_path / "t.db", seat=GM)
    assert answer_for(None, view, choose={"claim": ["confirm"]}, given={}).choose == {"claim": ["confirm"]}
    confirmed = rpgres("table", "answer", "--choose", "claim=confirm", "--as", "gm", "--json", *table)
    assert json.loads(confirmed.out)["said_by"] == "sable"
    assert "claimed: weapon 3" in rpgres("table", "log", "--as", "bero", *table).out


def test_the_switch_of_the_table(tmp_path: Path) -> None:
    table = ["--table", str(tmp_path / "t.db")]
    told = rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--trust", "nobody", *table)
    assert told.code == 2
    assert "nobody" in told.err
    assert "players" in told.err
    made = rpgres("table", "new", "--ruleset", "fate", "--sheet", "mara", "--trust", "players", "--json", *table)
    assert json.loads(made.out)["entry"]["trust"] == "players"


def test_older_tables_ask_nothing_and_keep_what_was_private(tmp_path: Path) -> None:
    place = begun(tmp_path, "fate")
    history = store.read(place.path)
    public = msgspec.structs.replace(history.new.public, trust="")
    history = msgspec.structs.replace(history, entries=(msgspec.structs.replace(history.new, public=public),))
    from rpgres.journal.replay import Run, run_at

    asks = Run(kind="act", name="overcome", actor="mara", by="mara", inputs={"skill": "9", "vs": ["2"]})
    ran = run_at(load_rules(find_ruleset("fate")), history, asks, seed="7", step=0)
    assert not any(isinstance(event, TextEvent) for event in ran.found.events)


# ---------------------------------------------------------------------------------------------------------------------
# Nothing else asks


def test_one_shot_and_batch_know_no_claims() -> None:
    result = resolve("faith", "confront", skill=9, attribute=2, advantages=9, gm=True, auto=True, seed="7")
    assert isinstance(result, Result)
    assert not any("claims" in str(event) for event in result.events)
    assert "claim" not in rpgres("odds", "fate", "overcome", "--skill=9", "--vs=2", "--auto").out
    with pytest.raises(UsageError, match="claim"):
        resolve("fate", "overcome", skill=9, vs=2, choose={"claim": "confirm"})


def test_the_label_is_reserved(tmp_path: Path) -> None:
    folder = tmp_path / "tug"
    tug_rules(folder)
    for name, told in (("claim", "this label is reserved by rpgres"), ("roll", "only a decision can have fields")):
        field = f'[labels.{name}.fields.n]\nkind = "integer"\nhelp = "x"\n'
        broken = f'{TUG}\n[labels.claim]\nkind = "decision"\nhelp = "x"\n' if name == "claim" else f"{TUG}\n{field}"
        source = Source(path=str(folder / "ruleset.toml"), text=broken)
        parts = [Part(folder=folder, source=source, data=parse(source))]
        assert any(told in one.message for one in all_diagnostics(Rules(tug, file=merge_parts(parts), parts=parts)))


def test_forms_without_some_of_their_fields() -> None:
    assert without_fields("bero:skill=3,hand=H9/S2,npc", ["hand"]) == "bero:skill=3,npc"
    assert without_fields("bero:hand=H9", ["hand"]) == "bero"
    assert without_fields({"name": "bero", "hand": "H9"}, ["hand"]) == {"name": "bero"}
    assert without_fields(["bero", "a:b:hand=3"], ["hand"]) == ["bero", "a:b"]


# Who says what of every parameter that ships: `+` a player, `?` confirmed, `!` no player; `-`: whoever typed it
# alone reads it. A form has its fields behind it.
DECLARED = {
    "fate": (
        "proposer? vs? removes+ alters+ harms? target? defender? beneficiary? full-defense? "
        "defense-stunt? bonus? stunt+ helper? helpers? difficulty? environment? kind+ against?(attack? "
        "defense? advantage? overcome? zone+ blocks? side+) conflict-ally?(attack? defense? advantage? overcome? zone+ "
        "blocks?) zones+ zone+ blocks? order+ task?(with+ difficulty? by+ action+) victories? exchanges? "
        "name+ on+ boost+ ally? rival? aspect? fate-points! gm-points! consequence+ consequences? skill? attack? "
        "create? overcomes? defense? under-fire?(attack?) variant+ advantage+ defends-against+ track+ existing? "
        "worse+"
    ),
    "coppermane": (
        "proposer? vs? removes+ alters+ harms? target? defender? beneficiary? full-defense? "
        "defense-stunt? bonus? stunt+ helper? helpers? difficulty? environment? kind+ against?(attack? "
        "defense? advantage? overcome? zone+ blocks? side+) conflict-ally?(attack? defense? advantage? overcome? zone+ "
        "blocks?) zones+ zone+ blocks? order+ task?(with+ difficulty? by+) victories? exchanges? name+ on+ boost+ "
        "ally? rival? aspect? fate-points! gm-points! consequence+ consequences? points! attribute? "
        "skill? attack? create? overcomes? defense? under-fire?(attack?) epic? knack+ advantage+ defended-advantage+ "
        "defends-against+ track+ conflict? witnesses? legend! legend-points!"
    ),
    "saga": (
        "ability? vs? opposing? against? against-foes! beside! level? attack? defend? foe-attack? "
        "foe-defend? battle-skill+ exchanges+ skilled? against-skilled? skill+ trump? edge? against-edge? "
        "dire? hand?- against-hand?- bank?- discard?- gm-card?- amount? weapon? defense? armor? rounds+"
    ),
    "faith": (
        "skill? attribute? advantages? disadvantages? gm! gm-advantages! gm-disadvantages! gm-against! "
        "against!(skill? attribute? advantages? disadvantages? npc? hand?- used? damage? affinity+ "
        "weapon? armour? ammo+ range? thrown? words+) against-foes! beside! rounds! target? unaware! "
        "words+ who!(skill? npc? damage? hand?-) ambience? affinity? used! npc! physical! neural! weapon? "
        "armour? ammo? range? thrown? critical? hand?- gm-hand?-"
    ),
    "nodice": (
        "int+ qic+ phases+ start? target?(agi? qic? stack?- pool?- spent?- kind+ seen? phase? aborted?) who? against! "
        "beside! last-phase+ phase+ stack+"
    ),
    "two-dice": "trait? bonus? edge?",
    "highest-die": "pool? bargain+ helper? position+ effect+",
    "twenty-sided-advantage": (
        "bonus? bonus-dice? armor-class? difficulty-class? critical-range? dice? sides? modifier? vs? target? "
        "advantage? weapon?"
    ),
    "again-pool": "pool? again? automatic? weapon? bonus? vs?",
    "percentile-levels": "skill? second-skill? bonus-dice? difficulty+",
    "solo-oracle": "question+ trait? likely+",
}


def declared(ruleset: str) -> str:
    signs = {"player": "+", "confirmed": "?", "gm": "!"}

    def sign(described: Any) -> str:
        return signs[speaker(described)] + ("" if is_public(described) else "-")

    found = []
    for name, parameter in load_rules(find_ruleset(ruleset)).file.parameters.items():
        fields = " ".join(f"{key}{sign(field)}" for key, field in parameter.fields.items())
        found.append(f"{name}{sign(parameter)}" + (f"({fields})" if fields else ""))
    return " ".join(found)


@pytest.mark.parametrize("ruleset", DECLARED)
def test_every_parameter_that_ships_is_said_and_read_by_whom_the_rules_say(ruleset: str) -> None:
    """When this fails, a parameter is new or declared otherwise: decide who says and reads it, and note it above."""
    assert declared(ruleset) == DECLARED[ruleset]


@pytest.mark.parametrize("trust", ["gm", "players"])
def test_what_if_has_the_claims_of_the_run_as_it_was(tmp_path: Path, trust: str) -> None:
    who, _, action, inputs, claims = CASES["fate"]
    place = begun(tmp_path, "fate", trust)
    done = sitting.act(place, action, inputs, seat=who)
    number = done.entry.number
    if trust == "gm":
        done = sitting.answer(place, seat=GM, choose={"claim": ["confirm"]})
    while store.read(place.path).pending is not None:
        done = sitting.answer(place, auto=True)
    for seat in (who, GM, None):
        path, history = place.path, store.read(place.path)
        asked = Asked(given=["roll=++++"], auto=True)
        record = table_what_if(path, history, done.rules, number, asked, seat=seat)
        both = [[event for event in run[0]["events"] if "claim" in str(event)] for run in (record.before, record.after)]
        assert both[0] == both[1] != []
        assert f"{who} claims: {claims}" in str(both[1])
        assert not [one for one in record.dropped if one.label == "claim"]


def test_what_if_repeats_an_action_whose_claim_was_refused(tmp_path: Path) -> None:
    who, _, action, inputs, _ = CASES["fate"]
    place = begun(tmp_path, "fate")
    sitting.act(place, action, inputs, seat=who)
    done = sitting.answer(place, seat=GM, choose={"claim": ["refuse"]})
    with pytest.raises(UsageError, match="nothing was asked that these would answer: roll"):
        table_what_if(place.path, done.history, done.rules, done.entry.number, Asked(given=["roll=++++"]), seat=GM)
