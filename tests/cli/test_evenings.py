"""Evenings at a terminal of 80 columns and 24 rows, typed as a person would, counted in lines."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import rpgres
from tests.support.screen import WIDTH, Screen
from tests.support.terminal import END, Terminal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals"),
]


ENOUGH = {"play": "stop", "trump": "stop"}  # one card is enough


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(*args: str) -> dict[str, Any]:
    done = rpgres("table", *args, "--json")
    assert done.code in (0, 20), done
    return dict(json.loads(done.out))


def asked() -> str:
    """Return the label of the question that is put; empty where none is."""
    pending = table("show").get("pending")
    return str(pending["question"]["label"]) if pending else ""


def enter(screen: Screen, line: str, **answers: str) -> None:
    """Type a line, and then answers by the label of the question; Enter for one that is not named."""
    screen.enter(line)
    for _ in range(6):
        if label := asked():
            screen.enter(answers.pop(label, ENOUGH.get(label, "")))
    assert not asked(), screen.text


@pytest.mark.parametrize("plain", [False, True], ids=["drawn", "plain"])
def test_two_heroes_against_a_mob_with_real_dice_and_an_undo(*, plain: bool) -> None:
    table("new", "--ruleset", "fate", "--sheet", "mara", "--sheet", "edda", "--sheet", "guards", "--seed", "7")
    with Screen(["play", "--dice", "real", *(["--plain"] if plain else [])]) as screen:
        screen.enter('mara create-advantage "Spilled Lamp Oil" with stealth 2')
        screen.until("Mara, 4dF + Stealth?", where="row")
        enter(screen, "++0+")
        assert "Spilled Lamp Oil" in [tag["name"] for tag in table("show")["state"]["tags"]]
        screen.enter("mara attack guards with fight")
        screen.enter("++0-")
        enter(screen, "0000", invoke="Spilled Lamp Oil")
        assert table("show")["state"]["characters"]["guards"]["is_out"]
        screen.enter("undo")
        assert "undid: mara attack: succeed (entr" in screen.text
        enter(screen, "edda attack guards with fight roll 0+0+ opposition 000-", hit="full")
        shown = screen.text
        screen.type("quit\r")
        assert screen.end() == 0
    assert screen.typed <= 12
    assert ("fate points · " in shown) is not plain  # no status line is drawn for people who listen
    assert not plain or "[+]" not in shown
    assert "\n  mara attack --skill fight --vs guards:fight\n" in shown
    assert max(map(len, shown.splitlines())) <= WIDTH
    state = table("show")["state"]
    assert state["characters"]["guards"]["is_out"]
    acts = [entry for entry in table("log")["entries"] if entry["kind"] == "act" and not entry.get("undone")]
    assert [(entry["actor"], entry["action"]) for entry in acts] == [("mara", "create-advantage"), ("edda", "attack")]
    table("reveal")
    assert table("verify")["verdict"] == "in order"


def test_a_card_player_is_asked_which_card_and_the_deck_is_kept() -> None:
    table("new", "--ruleset", "saga", "--sheet", "ilse", "--seed", "7")
    with Screen(["play"]) as screen:
        screen.enter("act strength vs average")
        screen.until("Which card?")
        screen.until("waits for ilse: play")
        enter(screen, "1")
        left = table("show")["state"]["piles"]
        screen.type("quit\r")
        assert screen.end() == 0
    assert len(left["hand:ilse"]["cards"]) == 6
    assert len(left["deck"]["cards"]) + len(left["deck"].get("top", ())) < 96 - 6
    with Screen(["play"]) as again:
        again.enter("act agility easy")
        again.settle()
        assert "deal" not in again.text  # the hand is the one of the evening before
        enter(again, "2")
        again.type("quit\r")
        assert again.end() == 0
    then = table("show")["state"]["piles"]
    assert len(then["deck"]["cards"]) < len(left["deck"]["cards"])
    assert screen.typed + again.typed <= 8


def test_a_declaration_by_mail_takes_three_commands_and_a_file_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody has a computer of their own: a folder; what goes between them is a file there and a line back."""
    typed, mails = Counter[str](), list[str]()
    for who in ("host", "orsa", "bram"):
        (tmp_path / who).mkdir()

    def types(who: str, *line: str) -> Terminal:
        monkeypatch.chdir(tmp_path / who)
        typed[who] += 1
        return Terminal(["table", *line])

    types("host", "new", "--ruleset", "nodice", "--sheet", "orsa", "--sheet", "bram", "--seed", "7").end()
    typed.clear()
    act = types("host", "act", "declare")
    act.until("> ")
    act.type(END)
    assert act.end()[0] == 3
    assert types("host", "view", "--all", "--out", "mail").end()[0] == 0
    for seat, choice in (("orsa", "declare=punch:bram/str=2"), ("bram", "declare=dodge/agi=1")):
        (tmp_path / "host" / "mail" / f"{seat}.view.json").rename(tmp_path / seat / "view.json")
        shown = " ".join(types(seat, "show", "--view", "view.json").end()[1].split())
        assert "Answer it with: rpgres table answer --view view.json --choose declare=" in shown
        code, shown = types(seat, "answer", "--view", "view.json", "--choose", choice).end()
        assert (code, "Send this line to the host of the table:" in shown) == (0, True)
        mails.append(next(line for line in shown.splitlines() if line.startswith("rpgres-answer: ")))
        assert [path.name for path in (tmp_path / seat).iterdir()] == ["view.json"]
    host = types("host", "answer", "--from", "-")
    host.until("press Enter and Ctrl-D:\n")
    host.type(f"> {mails[0]}\nand\n> {mails[1]}\n{END}")
    for seat in ("orsa", "bram"):
        assert f"{seat} (authenticated): declare=" in host.until("Accept it? [y/N] ")
        host.type("y\n")
    code, shown = host.end()
    assert (code, "orsa declares orsa#1 on phase 2" in shown) == (0, True)
    assert typed == {"host": 3, "orsa": 2, "bram": 2}


def test_a_designer_sees_a_grid_with_and_without_a_house_rule_and_exports_it_in_one_command() -> None:
    Path("rule.toml").write_text("[bands.tie]\nsuccess = true\n", "utf-8")
    line = ["odds", "fate", "overcome", "--vary", "skill=0..4", "--vary", "vs=0..6", "--compare", "rule.toml"]
    code, shown = Terminal(line).end()
    assert (code, "in points: rule.toml against base" in shown) == (0, True)
    assert max(map(len, shown.splitlines())) <= WIDTH
    code, shown = Terminal([*line, "--format", "markdown", "--out", "grid.md", "--svg", "grid.svg"]).end()
    assert (code, shown.splitlines()[-2:]) == (0, ["grid.md: written", "grid.svg: written"])
