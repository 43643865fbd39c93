"""From a final roll to the outcome: facts and roles for the tables, names of aspects, absorbed harm.

Nothing here rolls, or names an outcome or an option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from rpgres.engine.table import Outcome, Table
from rpgres.errors import UsageError, enumerated, named
from rpgres.kits import aspects, harm
from rpgres.kits.fate_family.rolls import FinalRoll, Foe, Help
from rpgres.model.state import EMPTY, GM, Character, Map, State
from rpgres.parameters.values import Opposition

OPPONENT = "opponent"  # `--on opponent`: the opponent, with a sheet or without


@cache
def fact_map(*facts: tuple[str, str]) -> Map[str, str]:
    """Return facts for conditions, from pairs of name and value."""
    return Map(facts)


_UNOPPOSED, _PASSIVE, _ACTIVE = (fact_map(("opposition", kind)) for kind in ("none", "passive", "active"))


def facts_of(foes: Sequence[Foe], *more: tuple[str, str]) -> Map[str, str]:
    """Return facts for conditions of outcome tables: the kind of opposition, and others."""
    kind = _PASSIVE if foes else _UNOPPOSED
    for foe in foes:
        if foe.dice is not None:
            kind = _ACTIVE
            break
    return fact_map(*kind.items(), *more) if more else kind


def opponent_of(foes: Sequence[Foe]) -> str:
    """Return the opponent: the first with a name, else the game master."""
    for foe in foes:
        if foe.who:
            return foe.who
    return GM


@cache
def roles_of(actor: str, opponent: str) -> Map[str, str]:
    """Return the names behind the roles of outcome tables."""
    return Map({"actor": actor, OPPONENT: opponent, "gm": GM})


@cache
def _details(opponent: str) -> Map[str, str]:
    return Map({OPPONENT: opponent})


class EffectFields(msgspec.Struct, frozen=True, gc=False):
    """What an action says of the effects of its outcome, beside the outcome table.

    Attributes:
        defaults: fields of effects that the table leaves out, by kind.
        becomes: the new name of an altered aspect, or where none is, of the one that a cost brings.
        spelled: names that replace roles in effects, for roles that the JSON does not explain.
        consequence: the name of a consequence that is taken.
    """

    defaults: Mapping[str, Mapping[str, Any]] = EMPTY
    becomes: str = ""
    spelled: Mapping[str, str] = EMPTY
    consequence: str = ""


NO_FIELDS = EffectFields()


def with_boost(fields: EffectFields, given: Help) -> EffectFields:
    """Return fields of effects with the name of a boost that is gained, where it was given."""
    name = given.get("boost")
    return msgspec.structs.replace(fields, defaults={**fields.defaults, "boost": {"name": name}}) if name else fields


def settle(
    table: Table,
    name: str,
    final: FinalRoll,
    roles: Map[str, str],
    facts: Map[str, str],
    fields: EffectFields = NO_FIELDS,
) -> Outcome:
    """Return the outcome of a roll by an outcome table, with the effects of the roll before and absorbed harm after it.

    Args:
        roles, facts: as of `Table.settle`.
        fields: of effects, beside those of the table.
    """
    margin, own, defaults, spelled = final.margin, final.effects, fields.defaults, fields.spelled
    if margin is not None and facts.get("opposition") == "none":
        facts = facts.with_("opposition", "passive")  # an invocation made the difficulty
    outcome = table.settle(name, margin, final.total, final.opposition, roles, facts, defaults, final.counts)
    effects, state = outcome.effects, table.run.state
    if any(one["kind"] == "aspect" for one in effects):
        own_name = defaults.get("aspect", EMPTY).get("name", "")
        effects = aspects.named_by_maker(table, effects, roles["actor"], own_name, fields.becomes)
        outcome = msgspec.structs.replace(outcome, effects=effects)
    characters = state.characters
    is_alone = len(characters) == 1 and not characters[roles["actor"]].tracks
    has_tags = state.glance(aspects.has_any)
    if is_alone and not (has_tags or defaults or spelled or own):
        return outcome  # the table has nothing that the outcome could touch
    if has_tags or "aspect" in defaults:
        effects = aspects.with_names(state, effects, becomes=fields.becomes)
    if spelled:
        effects = tuple(one.with_("to", spelled[one["to"]]) if one.get("to") in spelled else one for one in effects)
    details: Mapping[str, str] = EMPTY
    if not is_alone:
        effects += harm.absorbed(table, effects, roles, track="physical", consequence=fields.consequence)
        if roles[OPPONENT] in characters:
            details = _details(roles[OPPONENT])
    if own:
        effects = (*own, *effects)
    if effects is outcome.effects and not details:
        return outcome
    return msgspec.structs.replace(outcome, effects=effects, details=details)


def known_name(state: State, actor: Character, name: str) -> str:
    """Return the name of an aspect as on the table, where the actor knows of it, else as typed."""
    tag = aspects.seen_tag(state, actor.name, name)
    if tag is not None:
        return tag.name
    aspects.check_spelling(state, actor.name, name)
    return name


def new_name(state: State, name: str | None) -> str:
    """Return the name of a new aspect.

    Raises:
        UsageError: a public aspect has that name already; only a boost can become an aspect.
    """
    if name is None:
        return aspects.distinct_name(state, aspects.UNNAMED)
    tag = state.tag(name)
    if tag is not None and tag.audience is None and tag.kind != aspects.BOOST:
        raise UsageError(f"{tag.name!r} already exists; take advantage of it instead (see {named('variant')})")
    return name


def old_name(state: State, actor: Character, name: str | None) -> str:
    """Return the name of an aspect in play.

    Raises:
        UsageError: it is a boost.
    """
    if name is None:
        return aspects.UNNAMED
    tag = aspects.seen_tag(state, actor.name, name)
    if tag is not None and tag.kind == aspects.BOOST:
        raise UsageError(f"{tag.name!r} is a boost; make an aspect of it instead ({named('variant')} new)")
    return known_name(state, actor, name)


def hidden_name(state: State, actor: Character, on: str | None) -> str | None:
    """Return the default of what an actor finds: the first aspect that is hidden from it."""
    tag = aspects.hidden_tag(state, actor.name, on=on or "")
    return tag.name if tag is not None else None


def carrier_of(state: State, vs: Sequence[Opposition], on: str | None) -> str | None:
    """Return the carrier of the aspect of an advantage, where it was typed.

    Raises:
        UsageError: no character of that name is at the table.
    """
    if on == OPPONENT:
        return next((one.character for one in vs if one.character), OPPONENT)
    if on and on not in state.characters:
        known = enumerated(state.characters)
        raise UsageError(
            f"{named('on')} {on}: no character of that name is at the table ({known}); `opponent` is an "
            "opponent without a name"
        )
    return on
