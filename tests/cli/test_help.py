"""`rpgres help`: pages of the guide, the help of commands, rulesets and actions, and `-h` everywhere."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

from rpgres.cli.help import guide
from rpgres.cli.help import pager as rendering
from rpgres.cli.root import COMMANDS
from tests.support.command_line import completions, rpgres
from tests.support.terminal import Terminal


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(rendering).failed == 0


def test_it_lists_every_page_and_every_command() -> None:
    lines = rpgres("help").out.splitlines()
    for name in (*guide.TOPICS, *COMMANDS):
        assert [line for line in lines if line.startswith(f"  {name} ")], name
    assert all(len(line) <= 84 for line in lines)


def test_a_heading_of_several_words_is_typed_with_or_without_quotes_or_hyphens() -> None:
    told = rpgres("help", "standing", "orders")
    assert told.out.startswith("## Standing orders\n")
    assert rpgres("help", "standing orders") == rpgres("help", "standing-orders") == told
    assert rpgres("help", " ") == rpgres("help")


def test_every_page_of_the_folder_is_a_topic() -> None:
    assert {path.stem for path in guide.FOLDER.glob("*.md")} | set(guide.ELSEWHERE) == {*guide.TOPICS, "index"}
    assert not set(guide.TOPICS) & set(COMMANDS)


@pytest.mark.parametrize("topic", guide.TOPICS)
def test_a_page_in_a_pipe_is_its_markdown_without_links(topic: str) -> None:
    ran = rpgres("help", topic)
    assert (ran.code, ran.err) == (0, "")
    page = guide.page(topic)
    assert ran.out.startswith(f"# {page.title}\n\n")
    assert not re.search(r"\]\([\w./-]*\.md", ran.out)
    assert "<!--" not in ran.out
    assert 20 < len(page.summary) < 300
    assert rpgres("help", topic, "--plain").out == ran.out


@pytest.mark.parametrize("topic", guide.TOPICS)
def test_code_blocks_are_printed_as_they_stand(topic: str) -> None:
    page = guide.page(topic)
    blocks = re.findall(r"^```.*?^```$", page.text, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^```.*?^```$", page.shown, re.MULTILINE | re.DOTALL) == blocks


def test_a_heading_of_a_page_is_a_topic_too() -> None:
    whole, part = rpgres("help", "undo,", "notes"), rpgres("help", "real", "dice")
    assert whole.code == 2
    assert part.out.startswith("## Dice alone, and real dice\n")
    assert "## Decisions" not in part.out
    assert part.out in rpgres("help", "game-master").out


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["roll"], ["roll"]),
        (["table", "act"], ["table", "act"]),
        (["scene", "run"], ["scene", "run"]),
        (["fate"], ["roll", "fate"]),
        (["fate", "overcome"], ["roll", "fate", "overcome"]),
        (["odds", "fate", "overcome"], ["odds", "fate", "overcome"]),
        (["two-dice", "risk"], ["roll", "two-dice", "risk"]),
        (["4d6kh3"], ["roll", "4d6kh3"]),
        (["confront"], ["roll", "faith", "confront"]),  # an action of one ruleset alone
        (["help"], ["help"]),
    ],
)
def test_help_on_a_command_is_what_it_says_with_dash_h(words: list[str], same: list[str]) -> None:
    ran = rpgres("help", *words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: rpgres {' '.join(same)} ")
    assert ran.out == rpgres(*same, "-h").out == rpgres(*same, "--help").out


def test_dash_h_works_in_front_of_other_options_and_behind_them() -> None:
    assert rpgres("-h").out == rpgres("--help").out
    shown = rpgres("roll", "fate", "overcome", "--help").out
    assert rpgres("roll", "fate", "overcome", "--skill", "3", "-h").out == shown
    assert rpgres("roll", "fate", "overcome", "-h", "--seed", "7").out == shown
    assert rpgres("roll", "--seed", "7", "-h").out == rpgres("roll", "--help").out
    assert "-h, --help" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["game-mster"], "there is no help on 'game-mster'; did you mean `rpgres help game-master`?"),
        (["overcom"], "there is no help on 'overcom'; did you mean `rpgres help overcome`?"),
        (["fat"], "there is no help on 'fat'; did you mean `rpgres help fate`?"),
        (["decisons"], "there is no help on 'decisons'; did you mean `rpgres help decisions`?"),
        (["fraudulent"], "there is no help on 'fraudulent'; `rpgres help` lists all topics"),
        (["qwertz"], "there is no help on 'qwertz'; `rpgres help` lists all topics"),
        (["fate", "overcom"], "the ruleset fate has no action 'overcom'; did you mean 'overcome'?"),
        (
            ["roll", "odds"],
            "roll has nothing called 'odds'; these are two commands: `rpgres help roll` and `rpgres help odds`",
        ),
        (["table", "udno"], "rpgres table has no command 'udno'; did you mean 'undo'?"),
        (
            ["overcome"],
            "'overcome' is an action of several rulesets: "
            "`rpgres help fate overcome`, `rpgres help coppermane overcome`, `rpgres help aspects-and-stress overcome`",
        ),
    ],
)
def test_what_there_is_no_help_on_names_the_nearest(words: list[str], told: str) -> None:
    assert rpgres("help", *words) == (2, "", f"rpgres: {told}\n")


def test_a_word_of_the_guide_leads_to_the_sections_that_have_it() -> None:
    told = rpgres("help", "Lonelog")
    topics = re.findall(r"`rpgres help ([\w-]+)`", told.err)
    assert told.err.startswith("rpgres: there is no help on 'Lonelog'; it is mentioned in `rpgres help ")
    times = [rpgres("help", topic).out.lower().count("lonelog") for topic in topics]
    assert 1 <= len(times) <= 4
    assert times == sorted(times, reverse=True)
    assert times[-1] > 0


def test_an_alias_says_what_it_stands_for(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[aliases]\nhit = "roll fate attack --skill 3"\n', "utf-8")
    ran = rpgres("help", "hit", RPGRES_CONFIG=str(file))
    assert (ran.code, ran.out) == (0, "hit is an alias of yours for: roll fate attack --skill 3\n")


def test_a_shell_completes_topics() -> None:
    assert completions("rpgres help game") == ["game-master"]
    assert "table" in completions("rpgres help tab")
    assert "fate" in completions("rpgres help fa")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_draws_a_page_and_pages_it_where_it_is_longer() -> None:
    code, text = Terminal(["help", "decisions"], LINES="200", NO_COLOR="").end()
    assert code == 0
    assert text.startswith("\x1b[1;4mDecisions\x1b[0m\n")
    assert "```" not in text
    assert max(map(len, re.sub(r"\x1b\[[\d;]*m", "", text).splitlines())) <= 80
    assert "\x1b[3" not in Terminal(["help", "decisions"], LINES="200").end()[1]
    paged = Terminal(["help", "game-master"], LINES="24", PAGER="head -n 3").end()[1]
    assert paged.count("\n") == 3
    assert Terminal(["help", "decisions", "--plain"], LINES="200").end()[1].startswith("## Decisions\n")
