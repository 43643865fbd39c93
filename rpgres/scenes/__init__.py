"""Scenes: a TOML script of actions at one table, read, played, proved against its `expect`s, and checked."""

from __future__ import annotations

from rpgres.scenes.checking import check_scene, require_sound
from rpgres.scenes.playing import PlayedStep, SceneResult, play_scene, run_scene, seed_of
from rpgres.scenes.proving import Mismatch, prove_scene
from rpgres.scenes.reading import find_scene, read_scene
from rpgres.scenes.records import Expect, Scene, SceneFile, SceneTag, Step

__all__ = [
    "Expect",
    "Mismatch",
    "PlayedStep",
    "Scene",
    "SceneFile",
    "SceneResult",
    "SceneTag",
    "Step",
    "check_scene",
    "find_scene",
    "play_scene",
    "prove_scene",
    "read_scene",
    "require_sound",
    "run_scene",
    "seed_of",
]
