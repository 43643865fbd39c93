"""The hook of ruleset plugins, its marker, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rpgres.rulesets import Ruleset

PROJECT = "rpgres"  # pluggy's name for whose hooks these are
MARK = "rpgres_hook"  # the attribute of a plugin's function that implements a hook

F = TypeVar("F", bound=Callable[..., Any])


def rpgres_rulesets() -> Iterable[Ruleset]:
    """Yield the rulesets of a plugin, or return them as a list. Since API 1.

    The hook takes no argument. The module that implements it is named by an entry point in the group `rpgres`, whose
    name is the ruleset's id; a module that yields several rulesets is named by one entry point for each. It is imported
    only when one of its rulesets is used, or when plugins are listed.

    What goes wrong (an import that fails, an argument too many, an exception while yielding, data that do not fit the
    code) is reported with the distribution and the stage, and leaves every other ruleset as it is. `rpgres plugin check
    ID` tells.

    A whole plugin is three files.

    `pyproject.toml`::

        [project]
        name = "rpgres-coin"
        version = "1.0"
        dependencies = ["rpgres"]

        [project.entry-points.rpgres]
        coin = "rpgres_coin"

        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"

    `rpgres_coin/__init__.py`::

        from pathlib import Path

        from rpgres import Character, Effect, Outcome, Ruleset, State, Table, hookimpl, put

        coin = Ruleset("coin", data=Path(__file__).parent)

        @coin.action("toss")
        def toss(table: Table, actor: Character, needs: int) -> Outcome:
            total = table.roll(table.rules.dice, by=actor.name)
            return table.settle("toss", total - needs, total=total, opposition=needs, roles={"actor": actor.name})

        @coin.effect("luck")
        def luck(state: State, effect: Effect) -> State:
            counters = state.characters[effect["to"]].counters
            more = counters.with_("luck", counters.get("luck", 0) + effect["change"])
            return put(state, ("characters", effect["to"], "counters"), more)

        @hookimpl
        def rpgres_rulesets():
            yield coin

    `rpgres_coin/ruleset.toml`::

        title = "Coin"
        summary = "One coin, and luck for the winner."
        version = "1"
        dice = "1d2"

        [bands]
        lose = { title = "Lose", to = -1, success = false }
        win = { title = "Win", from = 0, success = true }

        [actions.toss]
        summary = "Toss the coin."
        parameters = ["needs"]
        labels = ["roll"]
        tables = ["toss"]

        [parameters.needs]
        kind = "integer"
        default = 2
        help = "what the coin has to show, 2 being heads"

        [labels.roll]
        kind = "chance"
        help = "the coin, 1 or 2"

        [effects.luck]
        help = "a character's luck changes"

        [outcomes.toss.lose]
        text = "Tails."

        [outcomes.toss.win]
        text = "Heads."
        effects = [{ kind = "luck", to = "actor", change = 1 }]

    With this installed, `rpgres roll coin toss` works.
    """
    raise NotImplementedError("a hook is implemented by plugins")


def hookimpl(function: F) -> F:
    """Return the function, marked as a plugin's implementation of the hook of that name. Used as a decorator."""
    setattr(function, MARK, True)
    return function


def register(plugin: object, *, name: str) -> Callable[[], Iterator[object]]:
    """Return what calls the hook of one plugin and yields its records, unchecked.

    Every plugin has a manager of its own, so that a faulty one cannot come between rpgres and another.

    Args:
        plugin: the module, or whatever object carries the marked function.
        name: the plugin's name for messages.

    Raises:
        pluggy.PluginValidationError: the hook has an argument, or a marked function is no hook of rpgres.
        LookupError: the plugin has no marked function at all.
    """
    import pluggy

    class Manager(pluggy.PluginManager):
        """A manager that knows the functions which `hookimpl` marked: it leaves importing pluggy to us."""

        def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
            found = getattr(plugin, name, None)
            function = getattr(found, "__func__", found)  # a method cannot be marked, what it calls can
            if getattr(function, MARK, False) is True:
                pluggy.HookimplMarker(PROJECT)(function)
            return super().parse_hookimpl_opts(plugin, name)

    manager = Manager(PROJECT)
    pluggy.HookspecMarker(PROJECT)(rpgres_rulesets)
    manager.add_hookspecs(_Specification)
    manager.register(plugin, name)
    manager.check_pending()
    hook = manager.hook.rpgres_rulesets
    if not hook.get_hookimpls():
        raise LookupError("it has no function `rpgres_rulesets` marked with `@rpgres.hookimpl`")

    def records() -> Iterator[object]:
        for yielded in hook():
            if not isinstance(yielded, Iterable):
                raise TypeError(f"rpgres_rulesets() has to yield Ruleset records, and returned {yielded!r}")
            yield from yielded

    return records


class _Specification:
    rpgres_rulesets = staticmethod(rpgres_rulesets)
