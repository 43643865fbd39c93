"""The code of a ruleset as its plugin registers it: rules, effects, policies. What they mean in play is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from rpgres.errors import RuleError, code_failed, is_interrupt
from rpgres.model.state import Map
from rpgres.rulesets.switches import Record

if TYPE_CHECKING:
    from rpgres.model.state import Character, State

API = 1
"""The version of what is stable here."""
QUESTIONS = frozenset(("outcome", "margin", "total", "effects"))
"""What odds may be asked, and a merge holds for: `outcome`, `margin`, `total`, `effects`, which are all of a result."""
STATE = "state"  # what odds of a scene ask of a turn: where it leaves the table; no total, no account
OUTCOME_ONLY = ("outcome",)  # what a merge holds for when its rule does not say more

Rule = Callable[..., Any]
"""Type: `(table, actor, **parameters) -> Outcome`."""
Costs = Callable[["State", "Character", Mapping[str, Any]], "Sequence[Effect]"]
"""Type: `(state, actor, parameters) -> effects` of doing an action at all."""
TakeTurn = Callable[[Any, Any], Any]  # (table, place) -> Turn or Outcome
StopEarly = Callable[[Any, Any], Any]  # (table, place) -> Outcome
ApplyEffect = Callable[["State", "Effect"], "State"]
"""Type: a function of an effect, `(state, effect) -> state`."""
Prepare = Callable[[Any, "Character"], "Character"]  # (rules, character) -> character
Lump = Callable[..., Hashable]
"""Type: `(rules, card, *, state, **parameters) -> key`; cards of one key are equivalent to an action."""
Canon = Callable[[Any], Any]  # a field of the state -> what stands for all that are alike to the rules
Idle = Callable[[Any, Any], Collection[str]]  # (rules, policies) -> kinds of tags, and counters
Passage = Callable[[Any], "Iterable[Effect] | None"]
"""Type: `(table) -> effects`; what happens when a period begins or ends."""
Policy = Callable[[Any, Any], Any]  # (view, question) -> a choice, or weights over choices
PlayWindow = Callable[[Any, Any], "Iterable[Effect]"]  # (table, roll) -> effects
Complete = Callable[[Any, Any, Mapping[str, Any]], Any]  # (table, outcome, what was typed) -> outcome
Picture = Callable[["State", bool], Mapping[str, Sequence[str]]]
"""Type: `(state, is_drawn) -> lines by name`; how things and tracks on the table are shown."""
Effect = Map[str, Any]
"""Type: what a finished action changes, a `Map` with a `kind`."""
K = TypeVar("K")
F = TypeVar("F", bound=Callable[..., Any])


class Window(msgspec.Struct, frozen=True):
    """What people may do once the dice of a described action lie: the code of a `[windows.NAME]`.

    Attributes:
        play: `(table, roll)` asks, changes the roll, and returns what that cost.
        opens: `(table, roll)` tells whether anybody could do anything; it reads sides and state, not the dice.
        means: `(table, roll)` returns all of the table that what is played depends on (hashable).
    """

    play: Callable[[Any, Any], Iterable[Effect]]
    opens: Callable[[Any, Any], bool]
    means: Callable[[Any, Any], Hashable]


def effect(kind: str, **fields: Any) -> Effect:
    """Return an effect: what a finished action changes, as data that the ruleset's function for its kind applies."""
    return Map({"kind": kind, **fields})


class Origin(msgspec.Struct, frozen=True):
    """What brought a ruleset's code: a distribution with its version; `builtin` is what ships with rpgres."""

    distribution: str
    version: str = ""
    builtin: bool = False

    @property
    def name(self) -> str:
        """The distribution with its version, as far as that is known."""
        return f"{self.distribution} {self.version}".rstrip()


class Ruleset:
    """The code of one ruleset: rules by action, functions by kind of effect, policies by name.

    A plugin module makes one, fills it with the decorators below, and yields it from its `rpgres_rulesets` hook.
    Everything a game designer would change is in the data folder, read only when the ruleset is used.

    Args:
        id: the name on the command line; also the entry point's name and the data folder's.
        data: the folder that holds `ruleset.toml`; None for a ruleset that ships with rpgres.
        api: the version of this contract that the code was written for.

    Attributes:
        origin: what brought it, so that its faults are told as its own; None when nothing installed did.
    """

    def __init__(self, id: str, *, data: Path | None = None, api: int = API) -> None:  # noqa: A002  # the field's word
        self.id = id
        self.data = data
        self.api = api
        self.actions: dict[str, Rule] = {}
        self.costs: dict[str, Costs] = {}
        self.procedures: dict[str, TakeTurn] = {}
        self.stops: dict[str, StopEarly] = {}
        self.effects: dict[str, ApplyEffect] = {}
        self.policies: dict[str, Policy] = {}
        self.switch_records: list[type] = []
        self.preparations: list[Prepare] = []
        self.canons: dict[str, Canon] = {}
        self.idles: dict[str, Idle] = {}
        self.lumps: dict[str, Lump] = {}
        self.lumps_hold: dict[str, Collection[str]] = {}
        self.periods: dict[tuple[str, str], Passage] = {}
        self.pictures: list[Picture] = []
        self.origin: Origin | None = None
        self.kits: dict[str, tuple[Any, Any]] = {}
        self.windows: dict[str, Window] = {}
        self.completions: list[Complete] = []

    def switches(self, record: type[Record]) -> type[Record]:
        """Register the decorated class as what the code reads of the switches: `table.rules.switches(RECORD).NAME`.

        A frozen class whose fields are named as switches: `bool` where the choices are yes and no, or on and off,
        `int` where all are numbers, else `Literal` with every choice. A field with a default may be no switch. What
        they mean stands in `ruleset.toml`; a record that does not fit the data is a fault of the ruleset.
        """
        self.switch_records.append(record)
        return record

    def action(self, name: str, *, costs: Costs | None = None) -> Callable[[Rule], Rule]:
        """Register the decorated function as the rule of an action: `rule(table, actor, **parameters) -> Outcome`.

        Args:
            name: the action's name.
            costs: `(state, actor, parameters) -> effects` of doing it at all, whatever comes of it; it raises
                `UsageError` where it cannot be done.
        """
        if costs is not None:
            self.costs[name] = costs
        return _into(self.actions, name)

    def procedure(self, name: str, *, turn: TakeTurn, stop: StopEarly | None = None) -> Callable[[Rule], Rule]:
        """Register the decorated function as the beginning of a procedure, and how its turns are taken.

        `rule(table, actor, **parameters)` returns the first place, frozen data; `turn(table, place)` returns
        `rpgres.Turn` with the next place, or the outcome. The effects of a turn are applied before the next one.

        Args:
            name: the procedure's name, that of its action in `ruleset.toml`.
            turn: a module-level function; it reads only the table and the place.
            stop: `(table, place) -> Outcome` of a procedure that the game master ends before it is over: `place` is
                that of the turn under way, which has no effect. It asks no decision. Without it the effects of the
                finished turns stay, and nothing else happens.
        """
        if stop is not None:
            self.stops[name] = stop
        self.procedures[name] = turn
        return _into(self.actions, name)

    def effect(self, kind: str) -> Callable[[ApplyEffect], ApplyEffect]:
        """Register the decorated pure function `(state, effect) -> state` for a kind of effect."""
        return _into(self.effects, kind)

    def policy(self, name: str) -> Callable[[Policy], Policy]:
        """Register the decorated function `(view, question) -> option name or weights`; the first one is `--auto`'s."""
        return _into(self.policies, name)

    def lump(self, action: str, *, holds: Collection[str] = OUTCOME_ONLY) -> Callable[[Lump], Lump]:
        """Register the decorated `(rules, card, *, state, **parameters) -> key`: cards of one key are equivalent.

        Odds then walk the keys in place of the cards. It is a promise: the rule, its outcome tables and its policies
        treat cards of one key alike. `state` is the table as it is before the action.

        Args:
            action: the action's name.
            holds: the questions for which that is so; see `Table.merge`.
        """
        if not QUESTIONS.issuperset(holds):
            raise ValueError(
                f"lump({action!r}): unknown question holds={holds!r}; known: {', '.join(sorted(QUESTIONS))}"
            )
        self.lumps_hold[action] = holds
        return _into(self.lumps, action)

    def canon(self, field: str) -> Callable[[Canon], Canon]:
        """Register the decorated function `(value) -> representative` for a field of the state, such as `tags`.

        It is a promise: rules, outcome tables, views and policies of the ruleset come to the same with either. Odds of
        scenes then go on once for all values with the same representative, such as tags in another order.
        """
        return _into(self.canons, field)

    def idle(self, procedure: str) -> Callable[[Idle], Idle]:
        """Register the decorated function `(rules, policies) -> kinds of tags` that make no difference to a procedure.

        Counters that make none are in the same collection, a counter `points-later` as `counters.points-later`. It is a
        promise: where these policies decide all that the procedure asks, it comes to the same result without the tags
        of these kinds and these counters, but for tags and counters themselves. Its odds then forget them, unless tags
        or counters are asked for, or sheets list the counter, so that formulas of house rules may name it. `rpgres
        plugin check` plays the example of the procedure with and without them.
        """
        return _into(self.idles, procedure)

    def use(self, kit: Any, settings: Any = None) -> None:
        """Register what a kit brings: its `KIT`, such as `rpgres.kits.harm.KIT`.

        Args:
            kit: the kit.
            settings: how its effects and counters are called, where that differs from what it has.
        """
        self.kits[kit.name] = kit, settings if settings is not None else kit.settings()
        kit.register(self, self.kits[kit.name][1])

    def window(
        self, name: str, *, opens: Callable[[Any, Any], bool], means: Callable[[Any, Any], Hashable]
    ) -> Callable[[PlayWindow], PlayWindow]:
        """Register the decorated function as what is played in a window of described actions; see `Window`.

        Args:
            name: the window's name, of `[windows.NAME]`.
            opens: tells whether anybody could do anything in it.
            means: returns all of the table that it depends on.
        """

        def register(play: PlayWindow) -> PlayWindow:
            self.windows[name] = Window(play, opens, means)
            return play

        return register

    def completes(self, complete: Complete) -> Complete:
        """Register the decorated function `(table, outcome, given) -> outcome`, called with those of described actions.

        `given` has what was typed, by the name of its parameter.
        """
        self.completions.append(complete)
        return complete

    def begins(self, period: str) -> Callable[[Passage], Passage]:
        """Register the decorated function `(table) -> effects` for the beginning of a scene, an exchange and the like.

        It may move cards and ask, as a rule does; what it returns is applied when it is over.
        """
        return _into(self.periods, (period, "begin"))

    def ends(self, period: str) -> Callable[[Passage], Passage]:
        """Register the decorated function `(table) -> effects` for the end of a period; see `begins`."""
        return _into(self.periods, (period, "end"))

    def picture(self, draw: Picture) -> Picture:
        """Register the decorated function `(state, is_drawn) -> lines by name`: how things and tracks are shown.

        It gets the state as a seat sees it, and whether there is a terminal to draw on; else, or for a screen reader,
        it returns plain sentences. What it names is shown by its lines, none of them hiding it; the rest as usual.
        """
        self.pictures.append(draw)
        return draw

    def prepare(self, change: Prepare) -> Prepare:
        """Register the decorated function `(rules, character) -> character`, called when a sheet is read."""
        self.preparations.append(change)
        return change


def _into(functions: dict[K, F], key: K) -> Callable[[F], F]:
    """Return a decorator that registers a function under a key."""

    def register(function: F) -> F:
        functions[key] = function
        return function

    return register


def pictured(ruleset: Ruleset, state: State, *, is_drawn: bool) -> dict[str, list[str]]:
    """Return the things and tracks of a state that a ruleset shows in its own way, as lines by name.

    Args:
        ruleset: whose functions draw.
        state: the table as the reader may see it.
        is_drawn: whether there is a terminal to draw on.

    Raises:
        RuleError: a function failed, or returned no lines.
    """
    found: dict[str, list[str]] = {}
    for draw in ruleset.pictures:
        try:
            drawn = {str(name): [str(one) for one in lines] for name, lines in draw(state, is_drawn).items()}
        except BaseException as error:
            if is_interrupt(error):
                raise
            what = f"what the ruleset {ruleset.id} shows of the table failed"
            raise blamed(code_failed(what, error), ruleset) from error
        found |= drawn
    return found


def is_ours(ruleset: Ruleset) -> bool:
    """Tell whether a ruleset ships with rpgres: its code is held to the contract by our own tests, once and for all."""
    return ruleset.origin is not None and ruleset.origin.builtin


def brought_by(ruleset: Ruleset) -> str:
    """Return the distribution of another's ruleset, with its version; empty for one of ours or of a folder."""
    origin = ruleset.origin
    return "" if origin is None or origin.builtin else origin.name


def edited_at(distribution: str) -> str:
    """Return the folder that a distribution was installed from so that changes count at once; else nothing."""
    import json
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        said = json.loads(metadata.distribution(distribution).read_text("direct_url.json") or "{}")
        is_edited = said["dir_info"]["editable"] is True
        return url2pathname(urlsplit(said["url"]).path) if is_edited else ""
    except Exception:  # noqa: BLE001  # most have no such file, and a damaged one says nothing
        return ""


def blamed(error: RuleError, ruleset: Ruleset, overlays: Sequence[str] = ()) -> RuleError:
    """Return the error of a ruleset's code, which from now on names the distribution that brought it and what to do.

    Args:
        error: what went wrong.
        ruleset: whose code it was.
        overlays: the folders of its overlays, which may be the cause.
    """
    origin = ruleset.origin
    if origin is None or "distribution" in error.details:
        return error
    if overlays:
        error.add(f". The cause may be the overlay {' and '.join(overlays)}: try without it first")
    if origin.builtin:
        advice = f"The ruleset {ruleset.id} ships with rpgres ({origin.name}): please report this as a bug"
    else:
        newer, off = f"pip install --upgrade {origin.distribution}", f"RPGRES_DISABLE={origin.distribution}"
        is_edited = edited_at(origin.distribution)  # no folder is named here: a bot shows this to its users
        to_do = "correct its code, as it is an editable installation" if is_edited else f"try a newer one ({newer})"
        to_do += "" if is_edited else ", tell its authors"
        advice = f"The ruleset {ruleset.id} comes from {origin.name}: {to_do}, or do without it ({off})"
    error.add(f". {advice}")
    error.details |= {"ruleset": ruleset.id, "distribution": origin.distribution, "version": origin.version}
    return error
