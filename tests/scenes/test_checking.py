"""What `scene check` tells of conditions and changes that can never be, and what its messages point to."""

from __future__ import annotations

import pytest

from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import check_scene, read_scene, scene_diagnostics
from rpgres.scenes.playing import with_value
from rpgres.toml.diagnostics import Diagnostic
from rpgres.toml.reading import Source

HEAD = """ruleset = "fate"
[characters.hana]
skills = { fight = 3, athletics = 2 }
[characters.thug]
skills = { fight = 2 }
[[steps]]
id = "jump"
actor = "hana"
action = "overcome"
with = { skill = "athletics", vs = 2 }
[[steps]]
id = "brawl"
actor = "hana"
procedure = "conflict"
with = { against = "thug" }
"""


def found(text: str, *, head: str = HEAD) -> list[Diagnostic]:
    return scene_diagnostics(Source(path="s.toml", text=head + text), find_ruleset=find_ruleset)


def told(text: str, *, head: str = HEAD) -> list[str]:
    return [one.message for one in found(text, head=head)]


@pytest.mark.parametrize(
    ("key", "outcome", "message"),
    [
        ("jump", "won", "overcome has no outcome 'won'; overcome gives: fail, tie, succeed, style"),
        ("jump", "vetoed", "overcome has no outcome 'vetoed'; overcome gives: fail, tie, succeed, style"),
        ("brawl", "partly", "conflict has no outcome 'partly'; conflict gives: won, lost, conceded, undecided"),
        ("brawl", "succeed", "conflict has no outcome 'succeed'; conflict gives: won, lost, conceded, undecided"),
    ],
)
def test_a_condition_names_an_outcome_that_its_step_can_come_to(key: str, outcome: str, message: str) -> None:
    when = f'when = {{ {key} = "{outcome}" }}\n'
    assert told(f'[[steps]]\nnote = "x"\n{when}') == [message]
    assert told(f"[ends.yes]\n{when}") == [message]
    until = f'[[steps]]\nsteps = [{{ note = "x" }}]\nrepeat = {{ until = {{ {key} = ["{outcome}"] }} }}\n'
    assert told(until) == [message]
    step = HEAD.replace(f'id = "{key}"\n', f'id = "{key}"\nexpect = {{ outcome = "{outcome}" }}\n')
    assert told("", head=step) == [message]


def test_outcomes_that_can_come_are_accepted() -> None:
    for key, outcomes in {"jump": '["fail", "style"]', "brawl": '["won", "lost", "conceded", "undecided"]'}.items():
        assert told(f"[ends.yes]\nwhen = {{ {key} = {outcomes} }}\n") == []


def test_a_misspelt_kind_of_tag_is_refused() -> None:
    assert told('[tags.ice]\ntext = "Ice"\nkind = "aspect"\n') == []
    assert told('[tags.ice]\ntext = "Ice"\nkind = "omen"\n') == []  # which a ruleset's code may have
    (one,) = found('[tags.ice]\ntext = "Ice"\nkind = "aspekt"\n')
    assert (one.key, one.hint) == ("tags.ice.kind", "aspect")


@pytest.mark.parametrize("path", ["tags.mud", "tags.ice.kind"])
def test_a_misspelt_kind_of_tag_cannot_be_set(path: str) -> None:
    laid = HEAD + '[[steps]]\nset = { "tags.ice" = "aspect" }\n'
    (one,) = found(f'[[steps]]\nset = {{ "{path}" = "bosst" }}\n', head=laid)
    assert (one.key, one.hint) == (f'steps[3].set."{path}"', "boost")
    assert told(f'[[steps]]\nset = {{ "{path}" = "boost" }}\n', head=laid) == []


def test_an_ability_by_the_name_of_its_field_on_sheets_is_told_its_path() -> None:
    for key in ("set", "when"):
        step = f'[[steps]]\nnote = "x"\n{key} = {{ "characters.hana.skills.fight" = 3 }}\n'
        assert told(step) == ["characters.hana.skills.fight is written `characters.hana.abilities.fight`"]
    orders = '[orders]\nbold = [{ when = { "self.skills.fight" = 3 }, choose = "no" }]\n'
    assert told(orders) == ["self.skills.fight is written `self.abilities.fight`"]


def test_a_number_in_quotes_is_told_to_stand_without() -> None:
    assert told('[orders]\nbold = [{ when = { "facts.margin" = "-1" }, choose = "no" }]\n') == [
        "margin is a number: write -1 without quotes"
    ]
    path = "characters.hana.counters.fate-points"
    assert told(f'[[steps]]\nnote = "x"\nwhen = {{ "{path}" = "2" }}\n') == [
        f"{path} is a number: write 2 without quotes"
    ]


def test_who_is_out_is_set_as_conditions_spell_it() -> None:
    text = HEAD + '[[steps]]\nset = { "characters.hana.is-out" = true }\n'
    scene = read_scene(Source("s.toml", text), find_ruleset=find_ruleset)
    assert check_scene(scene) == found("", head=text) == []
    assert with_value(scene.rules, scene.state, "characters.hana.is-out", True).characters["hana"].is_out


@pytest.mark.parametrize("value", ['"-1"', "2"])
def test_a_new_counter_of_the_table_is_told_where_it_begins(value: str) -> None:
    assert told(f'[[steps]]\nset = {{ "counters.noise" = {value} }}\n') == [
        "counters.noise: the table has no counter 'noise'; begin one with `noise = 1` under `[counters]`"
    ]


def test_a_procedure_as_an_action_is_told_the_other_key() -> None:
    assert told('[[steps]]\naction = "conflict"\n') == ['conflict is no action of fate; write procedure = "conflict"']
    message = 'overcome is no procedure of fate; write action = "overcome"'
    assert told('[[steps]]\nprocedure = "overcome"\n') == [message]


def warned(text: str, *, head: str = HEAD) -> list[tuple[str, str]]:
    assert all(one.severity == "warning" for one in found(text, head=head))
    return [(one.key, one.message) for one in found(text, head=head)]


def test_a_step_without_an_actor_among_several_characters_is_a_warning() -> None:
    step = '[[steps]]\naction = "overcome"\nwith = { skill = 3, vs = 2 }\n'
    message = "no actor: name one of the scene's characters as `actor`: hana, thug"
    assert warned(step) == [("steps[2].action", message)]
    assert warned(step + "fresh = true\n") == []
    assert warned(step + 'actor = "hana"\n') == []
    assert warned(step, head='ruleset = "fate"\n[characters.hana]\n') == []


def test_the_end_of_what_no_step_begins_is_a_warning() -> None:
    head = 'ruleset = "fate"\n[characters.hana]\n'
    conflict, exchange = ('[[steps]]\nend = "conflict"\n', '[[steps]]\nend = "exchange"\n')
    assert warned(conflict, head=head) == [
        ("steps[0].end", "no earlier step begins this conflict; what its end does is done all the same")
    ]
    assert warned(conflict) == []  # a conflict is implied where something is played
    assert warned(exchange) == [
        ("steps[2].end", "no earlier step begins this exchange; it can end only if an action began it")
    ]
    assert warned('[[steps]]\nbegin = "exchange"\n' + exchange) == []
    assert warned('[[steps]]\nend = "scene"\n', head=head) == []
