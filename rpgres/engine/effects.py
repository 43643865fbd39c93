"""Effects of an outcome, applied to the state by the functions of their kinds."""

from __future__ import annotations

from collections.abc import Mapping

from rpgres.engine.outcomes import Outcome
from rpgres.errors import RuleError, code_failed, is_interrupt
from rpgres.model.state import State
from rpgres.rulesets import Effect, Rules, is_ours


def apply_effects(rules: Rules, state: State, outcome: Outcome) -> State:
    """Return the state after an outcome: effects applied by the functions of their kinds, roles replaced by names.

    Raises:
        RuleError: the ruleset registered no function for a kind of effect, the function failed, or the state is not
            plain, frozen data afterwards.
    """
    is_checked, roles = not is_ours(rules.ruleset), outcome.roles
    for effect in outcome.effects:
        before = state
        kind = effect["kind"]
        function = rules.effect_function(kind)
        if function is None:
            raise _unregistered(rules, kind)
        try:
            state = function(state, named(effect, roles) if roles else effect)
            if not isinstance(state, State):
                raise TypeError(f"it returned {type(state).__name__}, not the state")
        except BaseException as error:
            if is_interrupt(error):
                raise
            raise code_failed(f"the effect {kind} of the ruleset {rules.id} failed", error) from error
        if is_checked:
            _check_kept(rules, kind, before, state)
    return state


def _unregistered(rules: Rules, kind: str) -> RuleError:
    """Return the error of an effect that nothing applies, with the kind that may be meant."""
    from rpgres.toml.diagnostics import nearest

    near = nearest(kind, sorted({*rules.ruleset.effects, *rules.described_effects}))
    meant = f" (the nearest that has one is {near!r})" if near else ""
    return RuleError(
        f"the ruleset {rules.id} returned an effect of the kind {kind!r}, for which no function is registered{meant}"
    )


def _check_kept(rules: Rules, kind: str, before: State, after: State) -> None:
    """Check that the state after an effect can be serialized; unchanged fields, and what odds watch, are skipped."""
    is_plain = after.things is before.things and after.tracks is before.tracks and after.audiences is before.audiences
    if type(after) is not State or (is_plain and after.characters is before.characters and after.tags is before.tags):
        return
    from rpgres.model.serialization import fault_in, misnamed_in

    fault = ("" if is_plain else fault_in(after, before=before)) or misnamed_in(after)
    if fault:
        raise RuleError(f"the effect {kind} of the ruleset {rules.id} returned an invalid state: {fault}")


def named(effect: Effect, roles: Mapping[str, str]) -> Effect:
    """Return an effect with roles replaced by character names."""
    for key in ("to", "on", "by", "who"):
        value = effect.get(key)
        if isinstance(value, str) and value in roles:
            effect = effect.with_(key, roles[value])
    return effect
