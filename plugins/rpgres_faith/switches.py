"""The house rules that the code of Faith reads; `rulesets/faith/ruleset.toml` says what each decides."""

from __future__ import annotations

from typing import Literal

import msgspec


class Switches(msgspec.Struct, frozen=True, gc=False):
    """The choice of each switch."""

    gm_advantages: int
    inferiority_min_cards: int
    inferiority_applies_to: Literal["attribute", "remaining"]
    inferiority_scope: Literal["pairwise", "global_minimum"]
    surplus_advantage: Literal["everybody", "giver"]
    confronters_compare: bool
    countermeasure_words: Literal["optional", "required"]
    skill0_from_damage: bool
    gm_round_budget: Literal["per_character", "none"]
    gm_may_confront_counteractions: bool
    draw_on_suit: Literal["both", "ambience", "affinity", "off"]
    draw_on_low: Literal["2x_attribute", "off"]
    draws_stack: bool
    draw_timing: Literal["immediate", "after"]
    reshuffle: Literal["last_drawn", "last_played"]
    hand_size: int
    empty_hand_draw: bool
    pass_mode: Literal["soft", "final", "lowest_must_play"]
    joker_timing: Literal["on_turn", "any_time"]
    joker_rule: Literal["nullify", "shift_level"]
    nullified_keeps_court: bool
    critical_card: Literal["last_counted", "last_played"]
    gm_tie_blocks_all: bool
    critical_multiplier: int
    unconfronted_level: Literal["choice", "success"]
    turn_order: Literal["enforced", "told"]
    initiative_card_counts: bool
    reaction_costs_action: bool
