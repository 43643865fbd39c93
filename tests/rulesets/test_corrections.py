"""What `table set` puts at a place of a table, beside what stands in a box and as a tag of its owner."""

from __future__ import annotations

import pytest

from rpgres.errors import UsageError
from rpgres.model.state import Box, Character, Map, State, Tag
from rpgres.model.typed_paths import typed_path
from rpgres.plugins.discovery import find_ruleset
from rpgres.plugins.loading import load_rules
from rpgres.rulesets.corrections import changed

RULES = load_rules(find_ruleset("fate"))
PLACE = "characters.mara.tracks.consequences.mild"
ANKLE, WANTED = Tag("Twisted Ankle", "consequence", "mara", Map({"gm": 1})), Tag("Wanted", "aspect", "mara")


def table(*tags: Tag, mild: str = "") -> State:
    tracks = Map({"physical": (Box("1", 1, "x"),), "consequences": (Box("mild", 2, mild),)})
    return State(characters=Map({"mara": Character("mara", tracks=tracks)}), tags=tags)


HURT = table(ANKLE, WANTED, mild=ANKLE.name)


def put_at(before: State, path: str, text: str) -> State:
    return changed(RULES, before, typed_path(path), text)


@pytest.mark.parametrize(
    ("path", "text", "mild", "tags"),
    [
        ("tags.twisted-ankle", "absent", "", [WANTED]),
        (PLACE, "absent", "", [WANTED]),
        ("tags.twisted-ankle.name", "Bandaged Ankle", "Bandaged Ankle", ["Bandaged Ankle", WANTED]),
        (PLACE, "Bandaged Ankle", "Bandaged Ankle", [WANTED, "Bandaged Ankle"]),
        (f"{PLACE}.mark", "Bandaged Ankle", "Bandaged Ankle", [WANTED, "Bandaged Ankle"]),
        (PLACE, "x", "x", [WANTED]),
        (f"{PLACE}.size", "4", "Twisted Ankle", [ANKLE, WANTED]),
        ("tags.wanted", "absent", "Twisted Ankle", [ANKLE]),
        ("characters.mara.tracks.physical.1", "absent", "Twisted Ankle", [ANKLE, WANTED]),
    ],
)
def test_a_consequence_is_changed_in_its_place_and_among_the_tags(
    path: str, text: str, mild: str, tags: list[Tag | str]
) -> None:
    after = put_at(HURT, path, text)
    (box,) = after.characters["mara"].tracks["consequences"]
    assert box.mark == mild
    named = (Tag(one, ANKLE.kind, "mara", ANKLE.uses) if isinstance(one, str) else one for one in tags)
    assert after.tags == tuple(named)


def test_what_is_written_into_a_free_place_is_a_tag() -> None:
    assert put_at(table(WANTED), PLACE, "Bruised").tags == (WANTED, Tag("Bruised", "consequence", "mara"))


@pytest.mark.parametrize("path", ["tags.x", "tags.x.name"])
def test_a_box_that_is_checked_has_no_text_of_a_tag(path: str) -> None:
    before = table(Tag("x", "aspect", "mara"))
    assert put_at(before, path, "absent" if path == "tags.x" else "Bold").characters == before.characters


def test_a_text_is_there_only_once() -> None:
    with pytest.raises(UsageError, match="'Wanted' is on the table already"):
        put_at(HURT, PLACE, "Wanted")


def test_a_box_of_somebody_else_with_the_same_words_stays() -> None:
    edda = Character("edda", tracks=Map({"consequences": (Box("mild", 2, ANKLE.name),)}))
    after = put_at(HURT.with_character(edda), "tags.twisted-ankle", "absent")
    assert after.characters["edda"] == edda
