"""The kind `character`: a character at the table, or a sheet that joins it."""

from __future__ import annotations

from rpgres.errors import UsageError, enumerated
from rpgres.parameters.context import ACTOR, InputContext, sheet_offers
from rpgres.parameters.kinds import Kind
from rpgres.parameters.plain import name_metavar
from rpgres.toml.diagnostics import nearest


def character_at(context: InputContext, name: str, *, option: str, is_other: bool = False) -> str:
    """Return the name of a character at the table, or of a sheet, which joins it; with `is_other` not the actor's."""
    from rpgres.rulesets.sheets import MissingSheet

    try:
        found = context.name_at_table(name)
    except MissingSheet:
        meant = context.state.meant(name)  # a title
        if meant is None:
            raise _nobody(context, name, option) from None
        found = meant
    if is_other and found == context.actor:
        raise UsageError(f"{option}: {found!r} is the actor; name another character", reason="range")
    return found


def _nobody(context: InputContext, name: str, option: str) -> UsageError:
    from rpgres.rulesets.sheets import sheet_names

    known = [known for known in context.state.characters if known != ACTOR]
    who = f"at the table: {enumerated(known, name)}" if known else "no other characters are at the table"
    near = nearest(name, [*known, *sheet_names(context.rules)])
    hint = f"; did you mean {near!r}?" if near else ""
    return UsageError(
        f"{option}: {name!r} is neither a character at the table nor a sheet ({who}){hint}", reason="unknown"
    )


CHARACTER = Kind(
    read=lambda slot, it: character_at(slot.context, str(it), option=slot.option, is_other=slot.described.others),
    metavar=name_metavar,
    schema=lambda _: {"type": "string"},
    offers=lambda typed: sheet_offers(typed.rules),
    is_known=lambda _rules, state, described, value, _who: not described.said_by and value in state.characters,
)
