"""Which option is meant by one that is unknown: by the words that people use for it."""

from __future__ import annotations

from collections.abc import Collection

# Options as people call them, by the option that does it; the first that a command has is meant.
_OPTIONS = {
    "--vs": "difficulty dc target target-number tn against opposition versus number dv ob",
    "--under": "target skill",
    "--repeat": "times count n rolls number",
    "--runs": "times count n number repeat",
    "--bonus": "modifier mod plus add",
    "--skill": "stat attribute approach trait rating ability action",
    "--ability": "stat attribute trait rating skill",
    "--sheet": "character char who actor pc file",
    "--actor": "character char who as",
    "--as": "seat player viewer",
    "--given": "dice real faces result",
    "--choose": "choice decision answer option",
    "--switch": "house-rule option variant",
    "--json": "machine raw",
    "--plain": "no-color no-colour text",
    "--rulesets": "folder path dir",
    "--markdown": "md",
    "--simulate": "sim monte-carlo sample",
}
_DICE = ("adv", "advantage", "dis", "disadvantage", "keep", "drop", "explode", "reroll")


def option_for(typed: str, known: Collection[str]) -> str:
    """Return what an unknown option means, as a phrase; empty where that is unknown, too."""
    name = typed.lstrip("-")
    if name in _DICE and "--vs" in known and "--skill" not in known:
        return "modifiers follow the dice: `d20 adv`, `4d6 drop lowest`, `3d6!`"
    found = [option for option, names in _OPTIONS.items() if name in names.split() and option in known]
    longer = [option for option in known if option.startswith(typed)]
    meant = next(iter(found or (longer if len(longer) == 1 else ())), "")
    return f"did you mean {meant!r}?" if meant else ""
