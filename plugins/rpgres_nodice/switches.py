"""The house rules that the code of NoDice reads; `rulesets/nodice/ruleset.toml` says what each decides."""

from __future__ import annotations

from typing import Literal

import msgspec


class Switches(msgspec.Struct, frozen=True, gc=False):
    """The choice of each switch."""

    split_remainder: Literal["waste", "first_listed", "reject"]
    split_phases: bool
    resplit_on_missing: bool
    zero_reveals: int
    require_int: bool
    min_delay: int
    qic_offsets_extra_phases: bool
    ante_counts_as_offset: bool
    ante_counts_as_defence: bool
    ante_refresh: Literal["spent", "immediate"]
    same_phase_observes: bool
    shared_reveal: bool
    pause_pool_is_second_card: bool
    pause_pool_chosen_at: Literal["declare", "resolve"]
    pause_after_own_actions: bool
    observed_abort: Literal["spent", "forbidden"]
    observed_abort_returned_by: Literal["pool_pause", "any_pause"]
    concurrent_actions: bool
    ready: Literal["all", "stacks", "any"]
    pace: Literal["ready", "free"]
    dodge_tie: Literal["dodged", "hit"]
    defence_lasts: Literal["phase", "sequence"]
    harm_on_stacks: Literal["stop", "weaken"]
