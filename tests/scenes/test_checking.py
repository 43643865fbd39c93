"""What `scene check` tells of conditions and changes that can never be, and what its messages point to."""

from __future__ import annotations

import pytest

from rpgres.plugins.discovery import find_ruleset
from rpgres.scenes import scene_diagnostics
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
