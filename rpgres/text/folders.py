"""Where the files of a user lie: the folder of settings and own rulesets, by platform."""

from __future__ import annotations

import os
import sys
from pathlib import Path

NAME = "rpgres"


def settings_folder() -> str:
    """Return the folder with the user's settings and rulesets.

    It is `rpgres` in `XDG_CONFIG_HOME` where that is set; else in `~/.config` on Linux, in `%APPDATA%` on Windows, and
    in `~/Library/Application Support` on macOS, unless `~/.config/rpgres` is already there.
    """
    root = os.environ.get("XDG_CONFIG_HOME")
    if root:
        return os.path.join(root, NAME)
    if sys.platform == "win32":
        return os.path.join(os.environ.get("APPDATA") or os.path.expanduser("~/AppData/Roaming"), NAME)
    common = os.path.join(os.path.expanduser("~/.config"), NAME)
    if sys.platform == "darwin" and not os.path.isdir(common):
        return os.path.join(os.path.expanduser("~/Library/Application Support"), NAME)
    return common


def state_folder() -> Path:
    """Return the folder for what rpgres keeps between commands: `rpgres` in `$XDG_STATE_HOME` or `~/.local/state`.

    Raises:
        RuntimeError: there is no home folder.
    """
    folder = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.local/state"
    return Path(folder).expanduser() / NAME
