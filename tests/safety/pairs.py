"""Pairs of tables that differ only in secrets: the commands that begin them, who must not notice, and what those try.

A pair leaves out what makes its secret public by the rules: playing a hidden card, turning up a stack, drawing from a
deck whose cards differ, going on with an action to a right answer that was given in advance, revealing the seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Pair(NamedTuple):
    """Two tables.

    Attributes:
        begin: the command lines, each with the seat before a colon; `{0}`, `{1}`, ... are the secrets.
        secrets: the secrets of each of the two tables.
        owner: a seat that sees the secrets.
        tries: for each seat that must not see them, command lines besides LOOKS, players first. A line may be several,
            with semicolons between; one with another seat before a colon is done by that seat, and not compared.
        shows: command lines after which the last one, of the owner, shows a secret.
    """

    begin: Sequence[str]
    secrets: tuple[Sequence[str], Sequence[str]]
    owner: str
    tries: Mapping[str, Sequence[str]]
    shows: Sequence[str] = ("show",)


def tries(text: str) -> list[str]:
    """Return what is tried, one after another in a text with `|` or a new line between."""
    return [line.strip() for line in text.replace("\n", "|").split("|") if line.strip()]


# What every seat tries at every table. {other} is the owner of the secrets, {me} the seat, {n} a number of an entry,
# {actor} the option that names the player's character, for another seat; the rest are MACROS.
LOOKS = tries("""
show | show | show {other} | show smoke | show plan | log | log | log --last 2 | verify | view --out -
view --out all/view.json --force | export --out all --force | orders | orders --for {other} | note Hello.
note Hello. --to {other} | note Hello. --to smoke | join smoke | begin scene | end | undo | undo {n}; log | undo; redo
pass | pass smoke | pass --until always | answer no | answer smoke | answer --auto | answer --choose smoke=no
answer --choose {other}:play=no | open --choose play=no --salt {salt} | set tags.smok=absent | set tags.smoke=absent
set things.plan=absent | set piles.deck=absent | set things.plan=3 | set tags.Smoke=aspect | set tracks.alarm=4
seal --choose smoke=no --out all/seal | whatif t.db#{n} | whatif t.db#{n} --choose smoke=no | whatif t.db#{n} --auto
act smoke | act act --bad 1
""")


def same(acts: Sequence[str], *seats: str) -> dict[str, Sequence[str]]:
    """Return the same tries for several seats."""
    return dict.fromkeys(seats, acts)


# Fate dice: hidden aspects with uses, tracks, things, notes, passes and orders

OF_GM = (
    *("host: set tags.{0}=aspect --to gm", "host: set tags.{0}.uses.gm={1}", "host: set tags.{2}=boost --to gm"),
    *("host: set tracks.alarm=4 --to gm", "host: set tracks.alarm.{1}=x", 'host: set things.plan="{2}" --to gm'),
    *("gm: note {0} --to edda", "host: orders set own/{3}.toml --for gm"),
)
OF_PLAYER = (
    *("host: set tags.{0}=aspect --to edda", "host: set tags.{0}.uses.edda={1}", "host: set tags.{2}=boost --to edda"),
    *("host: set tracks.alarm=4 --to edda", "host: set tracks.alarm.{1}=x", 'host: set things.plan="{2}" --to edda'),
    *("edda: note {0} --to edda", "edda: orders set own/{3}.toml", "edda: pass {4} --until always"),
)
TAGS = (("Smoke", "1", "Gap", "never", "compel"), ("Stairs", "2", "Ledge", "always", "aspect-name"))
ORDERS = {
    name: f'[[orders]]\nask = "{ask}"\nchoose = "no"\nnote = "{name} said so"\n'
    for name, ask in (("never", "invoke"), ("always", "aspect-name"))
}
FATE_ACTS = tries("""
act overcome --skill 1 {roll}; answer --choose invoke=no; gm: answer --choose invoke-against=no; show
act overcome --skill 1 {roll} --choose invoke=no; gm: answer --choose invoke-against=no; answer --choose price=fail
act overcome --skill 5 {roll} --choose invoke=no; gm: answer --choose invoke-against=no; whatif t.db#{n}
act overcome --skill 5 --removes Smoke {roll} --choose invoke=no; gm: answer --choose invoke-against=no; show
act create-advantage --skill 4 --name Smoke {roll} --choose invoke=no; gm: answer --choose invoke-against=no
act create-advantage --skill 4 --aspect Smoke {roll}; answer --choose invoke=smoke; answer no; answer no
act overcome --skill 3 --vs edda:fight {actor} --given roll=0000 --given opposition=0000; {answers}; log; show
act attack --skill 3 --vs edda:fight {actor} --given roll=+++0 --given opposition=0000; {answers}; {hit}; log
act overcome --skill 1 --choose invoke=smoke {roll}; act overcome --skil 1 {roll}; act compel --name Smoke
act conflict --against edda {actor}; answer --choose turn=pass; edda: answer --choose turn=pass; show
answer --choose invoke=smoke | answer --choose invoke=no | answer --choose invoke-against=smoke; answer no
odds overcome --skill 1 --vs 1 {actor} | gm: undo; log | odds overcome --skill 1 --vs 1 {actor} --choose invoke=smoke
whatif t.db#{n} --choose invoke=smoke | whatif t.db#{n} --given roll=++++ | whatif t.db#{n} --given roll=----
host: begin scene; show | host: end; show | host: set mara.fate-points=0; show | host: undo; log
""")


def coppermane(lines: Sequence[str]) -> list[str]:
    """Return the same lines for another ruleset and its characters."""
    text, other = (
        "|".join(lines),
        "--skill --attribute fate coppermane fight strength edda orrin mara tamsin venn warden",
    )
    for old, new in zip(other.split()[::2], other.split()[1::2], strict=True):
        text = text.replace(old, new)
    return tries(text)


FATE = ("host: new fate --sheet mara --sheet edda --sheet venn --seed 7 --trust players",)

# Cards: hands, decks, answers in advance, seals

# Cards are swapped between two hands, so that the deck is the same.
SAGA = (
    "host: new saga --sheet ilse --sheet brannagh --sheet own/odo.toml --seed 7 --trust players --no-deal",
    "host: begin scene --given deal=Wi7n,In6-,Ag4-,Wi2-,Do5-,{0},{1},In8-,St2+,Ag6n,Wi9n,Ag9n,In4n,St5n,Ag4+,Wi6-",
    "ilse: act act --ability agility --vs easy --choose play=Wi7",
)
SWAPPED = ("Do6+", "Ag5n", "Do6", "Ag5"), ("Ag5n", "Do6+", "Ag5", "Do6")
SAGA_ACTS = tries("""
act act --ability agility --vs easy {actor}; answer --choose play=Ag4; show | answer --choose play=St5; log
act act --ability strength --vs daunting {actor} --choose play=St5; show | answer --choose trump=draw
act act --ability agility --vs easy {actor} --choose play=Ag5 | act act --actor ilse --ability agility --vs 4
answer --choose play=Do6 | answer --choose play=stop | act aura {actor} | answer --choose pay=all
whatif t.db#2 --choose play=zz | whatif t.db#2 --choose play=Do6 | whatif t.db#2 --choose play#1=Ag5 | show hand:ilse
set piles.hand:ilse=absent | act damage --amount 3 {actor}; answer --choose pay=Ag9; show
act damage --actor ilse --amount 3; log
act versus --ability agility --vs 4 --against ilse:agility {actor}; answer no; log
ilse: act act --ability strength --vs easy; show; ilse: answer --choose play=In6; log | ilse: undo; log
gm: undo; log | host: undo 2; log; show | host: begin exchange; show | host: end; show
odds act --ability agility --vs easy --leaves 9 --seconds 99 {actor}
odds act --ability 5 --vs easy --leaves 9 --seconds 99 --auto {actor}
odds act --ability agility --vs easy --hand St5 --leaves 9 --seconds 99 {actor} | whatif t.db#{n} --choose play=St5
""")
FAITH = (
    "host: new faith --sheet bero --sheet sable --sheet dock-guard --seed 7 --trust players --no-deal",
    "host: begin scene --given deal=S2,D11,H13,S3,H12,S6,{0},S4,D12,C2,S10,H9,D3,D1,D7,C1,S12,D3,D13,D8,Jk,H1",
)
MACROS = {
    "salt": "0" * 64,
    "roll": "--vs 1 {actor} --given roll=0000",
    "confront": "act confront --skill initiative --attribute mind --target",
    "answers": "{player}: answer no; {other}: answer --choose invoke-against=no",
    "hit": "{player}: answer --choose hit=full; {other}: answer --choose absorb=box-4",
}
CONFRONT = MACROS["confront"]
FAITH_ACTS = tries("""
{confront} bero {actor}; gm: answer --choose join=no; log
{confront} dock-guard {actor}; gm: answer --choose join=no; gm: answer --choose counter=no; answer level=success
{confront} bero {actor} --choose play=S4; gm: answer --choose join=no; show
{confront} dock-guard {actor}; gm: answer join=no; gm: answer counter=skill=physical,attribute=1; answer no
answer --choose play=S4; show | answer --choose play=H10 | answer --choose join=no | answer --choose counter=no
gm: answer --choose join=no; log | sable: answer --choose counter=needle-pistol; show | answer npc=deck; log
answer --choose activate=no | answer --choose counter=needle-pistol | gm: answer --choose ruling=no; show
bero: {confront} sable; answer join=no; sable: answer --choose counter=needle-pistol; answer ruling=no; log
set piles.hand:bero=absent | act damage --amount 1 {actor}; show | sable: undo; log | bero: undo; log | show hand:bero
act hold {actor} | act unopposed --skill 2 {actor}; answer level=success | host: undo; show
odds confront --skill 4 --attribute 2 --leaves 9 --seconds 99 {actor} | answer --choose ruling=no
answer npc=H1; show | odds confront --skill 4 --attribute 2 --leaves 9 --seconds 99 --auto {actor}
host: begin round; show | host: end; show
""")

# Stacks and secret bids

NODICE = (
    "host: new nodice --sheet orsa --sheet bram --sheet sister-ash --seed 7",
    "host: begin sequence",
    "host: act declare --actor orsa",
)
STACKS = ("attack:sister-ash/maul/leg/str=4,agi=1",), ("attack:orsa/maul/leg/str=4,agi=1",)  # on the same phase
NODICE_ACTS = tries("""
act declare --who {me} {actor}; answer --choose declare=nothing; log | act resolve {actor}; answer no; show
act declare --who orsa {actor}; answer --choose declare=dodge/agi=1; show | answer --choose react=wait; log
act declare {actor}; answer --choose declare=pause/9/int; gm: answer --choose declare=nothing; show | undo; show
whatif t.db#3 --choose declare=nothing | whatif t.db#{n} --choose declare#1=nothing | odds declare {actor}
whatif t.db#3 --choose bram:declare=nothing | show bram#1 | set things.bram#1=absent | gm: undo; log
act abort {actor} | act abort --actor bram --stack 1 | odds resolve {actor} --auto | host: undo; show
act observe --int 4 --phases 2 --target attack:agi=1 {actor} | seal --choose declare=nothing --out all/seal
odds declare {actor} --auto | odds declare {actor} --choose declare=dodge/agi=1 | bram: undo; show; log
""")

PAIRS = {
    "fate: secrets of the game master": Pair(
        (*FATE, *OF_GM), TAGS, "gm", same(FATE_ACTS, "mara", "everybody"), shows=("show",)
    ),
    "fate: secrets of a player": Pair((*FATE, *OF_PLAYER), TAGS, "edda", same(FATE_ACTS, "mara", "gm", "everybody")),
    "coppermane: secrets of the game master": Pair(
        coppermane((*FATE, *OF_GM)), TAGS, "gm", same(coppermane(FATE_ACTS), "tamsin", "everybody")
    ),
    "coppermane: secrets of a player": Pair(
        coppermane((*FATE, *OF_PLAYER)), TAGS, "orrin", same(coppermane(FATE_ACTS), "tamsin", "gm")
    ),
    "saga: hands": Pair(SAGA, SWAPPED, "ilse", same(SAGA_ACTS, "odo", "gm", "everybody")),
    "saga: a sealed card, right answers in advance": Pair(
        (*SAGA, "ilse: act act --ability agility --vs easy", "ilse: seal --choose play={2} --out own/seal.json"),
        *(SWAPPED, "ilse", same([line for line in SAGA_ACTS if "ilse: answer" not in line], "odo", "gm", "everybody")),
    ),
    "saga: wrong answers in advance": Pair(
        (
            *(SAGA[0].replace("players", "gm"), SAGA[1]),
            "ilse: act act --ability strength=8 --vs average --choose play={3}",
        ),
        *(
            SWAPPED,
            "ilse",
            same(["answer --choose claim=confirm", *SAGA_ACTS, "gm: answer claim=confirm"], "odo", "gm"),
        ),
    ),
    "faith: hands and decks": Pair(FAITH, (("H10",), ("C9",)), "bero", same(FAITH_ACTS, "sable", "gm", "everybody")),
    "faith: wrong answers in advance": Pair(
        (
            *(*FAITH, f"bero: {CONFRONT} sable --choose play={{1}}", "gm: answer --choose join=no"),
            *("sable: answer --choose counter=needle-pistol", "gm: answer --choose ruling=no"),
        ),
        *((("H10", "C9"), ("C9", "zzz")), "bero"),
        same(["answer --choose activate=no", "sable: answer --choose activate=no; log", *FAITH_ACTS], "sable", "gm"),
    ),
    "faith: right and wrong answers in advance": Pair(
        (*FAITH, f"bero: {CONFRONT} sable --choose play={{1}}", "gm: answer --choose join=no"),
        *((("H10", "S2"), ("H10", "zzz")), "bero"),
        same([line for line in FAITH_ACTS if "answer" not in line], "sable", "gm", "everybody"),
        (
            "sable: answer --choose counter=needle-pistol",
            *("gm: answer --choose ruling=no", "sable: answer --choose activate=no", "log"),
        ),
    ),
    "nodice: stacks": Pair(
        (
            *(*NODICE, "bram: answer --choose declare={0}", "orsa: answer --choose declare=nothing"),
            "gm: answer --choose declare=nothing",
        ),
        *(STACKS, "bram", same(NODICE_ACTS, "orsa", "gm", "everybody")),
    ),
    "nodice: secret bids of a decision under way, sealed and not": Pair(
        (*NODICE, "bram: seal --choose declare={0} --out own/seal.json", "gm: answer --choose declare={1}"),
        *(((*STACKS[0], "spell:orsa/ember/wil=4"), (*STACKS[1], "dodge/agi=1")), "gm"),
        same([line for line in NODICE_ACTS if "declare=" not in line], "orsa", "everybody"),
        ("log",),
    ),
}
