"""`rpgres completions`: the scripts that let a shell complete. What they offer comes from the commands themselves.

`python -m rpgres.cli.commands.completions completions/` writes the files of the `completions` folder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rpgres.cli.output import say_text
from rpgres.errors import UsageError

# The file each shell looks for.
FILES = {"bash": "rpgres.bash", "zsh": "_rpgres", "fish": "rpgres.fish", "powershell": "rpgres.ps1"}


# Typer's own takes the words as bash splits them, at = and : too, which are everywhere in what rpgres takes. This one
# puts them together again and answers with the part behind the last = or :, which is what bash replaces.
_BASH = """\
_rpgres_completion() {
    local IFS=$' \\t\\n' rest=$COMP_LINE word current="" breaks prefix="" i
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i == 0 || $rest == [[:space:]]* ]]; then
            words+=("$word")
        else
            words[${#words[@]} - 1]+=$word
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
    done
    current=${words[${#words[@]} - 1]}
    [[ $current == --*=* ]] && current=${current#*=}
    breaks=${COMP_WORDBREAKS//[^=:]/}
    if [[ -n $breaks && $current == *["$breaks"]* ]]; then
        prefix=${current%"${current##*["$breaks"]}"}
    fi
    IFS=$'\\n'
    COMPREPLY=( $( env COMP_WORDS="${words[*]}" \\
                   COMP_CWORD=$(( ${#words[@]} - 1 )) \\
                   _RPGRES_COMPLETE=complete_bash $1 ) )
    COMPREPLY=( "${COMPREPLY[@]#"$prefix"}" )
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}

complete -o default -F _rpgres_completion rpgres
"""


def completion_script(shell: str) -> str:
    """Return the script that teaches a shell to complete `rpgres`.

    Args:
        shell: one of `FILES`.

    Raises:
        UsageError: it is none of them.
    """
    if shell not in FILES:
        from rpgres.rulesets import unknown

        raise UsageError(unknown("completion script", shell, FILES, of="rpgres"))
    if shell == "bash":
        return _BASH
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it comes from a module of its own

    return get_completion_script(prog_name="rpgres", complete_var="_RPGRES_COMPLETE", shell=shell) + "\n"


def command(
    shell: Annotated[
        str,
        typer.Argument(metavar="|".join(FILES), help="The shell.", autocompletion=lambda: [*FILES]),
    ],
) -> None:
    """Print the completion script of a shell.

    \b
    bash:        rpgres completions bash > ~/.local/share/bash-completion/completions/rpgres
    zsh:         rpgres completions zsh > ~/.zfunc/_rpgres   (a folder of $fpath)
    fish:        rpgres completions fish > ~/.config/fish/completions/rpgres.fish
    powershell:  rpgres completions powershell >> $PROFILE
    """
    say_text(completion_script(shell))


def _main(args: Sequence[str]) -> int:
    if len(args) != 1 or not Path(args[0]).is_dir():
        sys.stderr.write("usage: python -m rpgres.cli.commands.completions FOLDER\n")
        return 2
    for shell, name in FILES.items():
        path = Path(args[0], name)
        path.write_text(completion_script(shell), encoding="utf-8", newline="\n")
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
