"""The house rules that the code of Saga reads; `rulesets/saga/ruleset.toml` says what each decides."""

from __future__ import annotations

from typing import Literal

import msgspec


class Switches(msgspec.Struct, frozen=True, gc=False):
    """The choice of each switch."""

    edge: bool
    edge_order: Literal["seed", "any"]
    edge_on_draws: bool
    trump_on: Literal["each", "last"]
    trump_timing: Literal["immediate", "after_all_plays"]
    auto_trump: bool
    trump_offsuit_counts: bool
    desperate_attack: bool
    doom_bank: bool
    doom_worth_zero: bool
    bank_trump_doom: bool
    bank_gm_doom: bool
    bank_damage_doom: bool
    bank_push_doom: bool
    doom_available: Literal["next_action", "immediate"]
    doom_max_per_action: Literal["any", "one"]
    doom_timing: Literal["any", "before_play"]
    doom_reopens_play: bool
    doom_hidden: bool
    doom_removed: bool
    gm_card: Literal["exchange", "action", "none"]
    gm_card_opposed_only: bool
    gm_card_trumps: bool
    push_timing: Literal["before", "after_total"]
    push_can_trump: bool
    push_max: Literal["1", "any"]
    push_recovery: Literal["heal", "scene", "exchange"]
    push_free: bool
    reshuffle: Literal["on_empty", "each_scene", "never"]
    aura_return: Literal["discard", "deck"]
    aura_neutral: Literal["gm", "redraw", "yes", "no"]
    tie: Literal["succeed", "fail"]
    empty_hand_flip: bool
    skill_snap: bool
    skills_stack: bool
    hero_vs_hero_difficulty: Literal["add", "subtract", "none"]
    active_must_succeed: bool
    gm_card_in_pvp: bool
    redraw_between: bool
    rounds_decide: Literal["last", "most"]
    skill_in_pvp: Literal["reach", "score"]
    mishap_on: Literal["none", "fail", "any"]
    damage_mode: Literal["value", "count"]
    damage_defense: Literal["subtract", "ignore"]
    damage_trump_suit: Literal["none", "strength", "agility", "intellect", "willpower"]
    battle_harm: Literal["results", "at_once"]
    battle_first: Literal["heroes", "foes"]
