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
        tries: for each seat that must not see them, command lines besides LOOKS. A line with another seat before a
            colon is done by that seat, and not compared.
    """

    begin: Sequence[str]
    secrets: tuple[Sequence[str], Sequence[str]]
    owner: str
    tries: Mapping[str, Sequence[str]]


# What every seat tries at every table; {other} is the owner of the secrets, {n} a number of an entry.
LOOKS = (
    *("show", "show {other}", "show smoke", "show plan", "show alarm", "show nobody", "log", "log --last 2", "verify"),
    *("view --out -", "view --out all/view.json --force", "export --out all --force", "orders", "orders --for {other}"),
    *("note Hello.", "note Hello. --to {other}", "note Hello. --to smoke", "end", "end scene", "join smoke"),
    *("undo", "undo {n}", "redo", "pass", "pass smoke", "pass --until always", "answer no", "answer smoke"),
    *("answer --auto", "answer --choose smoke=no", "answer --choose {other}:play=no", "open --choose play=no --salt 00"),
    *("set tags.smok=absent", "set tags.smoke=absent", "set things.plan=absent", "set piles.deck=absent"),
    *("set counters.tide=absent", "set characters.{other}.counters.luck=1", "seal --choose smoke=no --out all/seal"),
    *("whatif t.db#{n}", "whatif t.db#{n} --choose smoke=no", "whatif t.db#{n} --auto", "act smoke", "act act --bad 1"),
)

HIDDEN = (  # on each table: a tag with uses, a track, a thing, notes, orders, a seal; one table's are not the other's
    *("host: set tags.{0}=aspect --to gm", "host: set tags.{0}.uses.gm={1}", "host: set tags.{2}=boost --to {3}"),
    *("host: set tracks.alarm=4 --to gm", "host: set tracks.alarm.{1}=x", 'host: set things.plan="{2}" --to {3}'),
    *("gm: note {0} --to {3}", "{3}: note {2} --to gm", "{3}: pass {4} --until always"),
    *("{3}: orders set own/{5}.toml",),
)
TAGS = ("Smoke", "1", "Gap", "{3}", "compel", "never"), ("Stairs", "2", "Ledge", "{3}", "aspect-name", "always")


def tags(owner: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the secrets of HIDDEN, most of them of one owner."""
    one, other = ([owner if part == "{3}" else part for part in parts] for parts in TAGS)
    return one, other


ORDERS = {
    name: f'[[orders]]\nask = "{ask}"\nchoose = "no"\nnote = "{name} said so"\n'
    for name, ask in (("never", "invoke"), ("always", "aspect-name"))
}

# Cards are swapped between two hands, so that the deck is the same.
SAGA = (
    "host: new saga --sheet ilse --sheet brannagh --sheet own/odo.toml --seed 7 --trust players --no-deal",
    "host: begin scene --given deal=Wi7n,In6-,Ag4-,Wi2-,Do5-,{0},{1},In8-,St2+,Ag6n,Wi9n,Ag9n,In4n,St5n,Ag4+,Wi6-",
    "ilse: act act --ability agility --vs easy --choose play=Wi7",
)
SWAPPED = ("Do6+", "Ag5n", "Do6", "Ag5"), ("Ag5n", "Do6+", "Ag5", "Do6")
SAGA_ACTS = (
    *("act act --ability agility --vs easy", "act act --ability strength --vs hard --choose play=St5"),
    *("act act --ability agility --vs easy --choose play=Ag5", "act act --actor ilse --ability agility --vs easy"),
    *("answer --choose play=Ag4", "answer --choose play=Do6", "answer --choose play=stop", "act aura"),
    *("whatif t.db#2 --choose play=zz", "whatif t.db#2 --choose play=Do6", "whatif t.db#2 --choose play#1=Ag5"),
    *("show hand:ilse", "set piles.hand:ilse=absent", "act damage --amount 3", "act damage --actor ilse --amount 3"),
    *("ilse: act act --ability strength --vs easy", "ilse: answer --choose play=In6", "ilse: undo", "gm: undo"),
    *("odds act --ability agility --vs easy --hand St5 --leaves 20", "odds act --ability agility --vs easy --leaves 20"),
)
FAITH = (
    "host: new faith --sheet bero --sheet sable --sheet dock-guard --seed 7 --trust players --no-deal",
    "host: begin scene --given deal=S2,D11,H13,S3,H12,S6,{0},S4,D12,C2,S10,H9,D3,D1,D7,C1,S12,D3,D13,D8,Jk,H1",
)
CONFRONT = "act confront --skill initiative --attribute mind --target"
FAITH_ACTS = (
    *(f"{CONFRONT} bero", f"{CONFRONT} dock-guard", f"{CONFRONT} bero --choose play=S4", "act hold", "show hand:bero"),
    *("answer --choose play=S4", "answer --choose play=H10", "answer --choose join=no", "answer --choose counter=no"),
    *("gm: answer --choose join=no", "sable: answer --choose counter=needle-pistol", "sable: answer --choose level=no"),
    *("answer --choose activate=no", "answer --choose counter=needle-pistol", "gm: answer --choose fitting=no"),
    *(f"bero: {CONFRONT} sable", "set piles.hand:bero=absent", "act damage --amount 1", "sable: undo", "bero: undo"),
    *("odds confront --skill 4 --attribute 2 --vs 5 --leaves 20", "answer --choose fitting=no", "answer --choose npc=H1"),
)
NODICE = (
    "host: new nodice --sheet orsa --sheet bram --sheet sister-ash --seed 7",
    "host: begin sequence",
    "host: act declare --actor orsa",
)
STACKS = ("attack:sister-ash/maul/leg/str=4,agi=1",), ("attack:orsa/maul/leg/str=4,agi=1",)  # on the same phase
NODICE_ACTS = (
    *("act declare", "act declare --who {me}", "answer --choose declare=nothing", "act resolve", "act abort"),
    *("answer --choose declare=dodge/agi=1", "answer --choose declare=pause/9/int", "answer --choose react=wait"),
    *("answer --choose declare=observe/bram#1/int=1", "whatif t.db#3 --choose declare=nothing", "odds declare"),
    *("whatif t.db#{n} --choose bram:declare=nothing", "show bram#1", "set things.bram#1=absent", "gm: undo"),
    *("act abort --actor bram --stack 1", "odds resolve --auto", "seal --choose declare=nothing --out all/seal"),
)
ROLL = "--given roll=0000 --given opposition=0000"
FATE_ACTS = (
    *(f"act overcome --skill 1 --vs 1 {ROLL}", f"act overcome --skill 2 --vs 1 --removes Smoke {ROLL}"),
    *(f"act create-advantage --skill 4 --vs 1 --name Smoke {ROLL}", "act overcome --skill 1 --vs edda:fight"),
    *(f"act overcome --skill 1 --vs 1 --choose invoke=smoke {ROLL}", "act overcome --skil 1", "act compel --name Smoke"),
    *("answer --choose invoke=no", "answer --choose invoke=smoke", "answer --choose price=fail", "whatif t.db#{n}"),
    *("host: answer --choose invoke=no", "gm: answer --choose invoke-against=no", "gm: undo", "host: begin scene"),
    *("odds overcome --skill 1 --vs 1", "odds overcome --skill 1 --vs 1 --best", "odds overcome --vs edda:fight"),
    *("whatif t.db#{n} --choose invoke=smoke", "whatif t.db#{n} --given roll=++++", "act attack --target edda"),
)
COPPERMANE_ACTS = [
    line.replace("--skill", "--attribute").replace("edda:fight", "orrin:strength").replace("edda", "orrin")
    for line in FATE_ACTS
]


def same(acts: Sequence[str], *seats: str) -> dict[str, Sequence[str]]:
    """Return the same tries for several seats."""
    return dict.fromkeys(seats, acts)


PAIRS = {
    "fate: hidden aspects, track, thing, notes, orders": Pair(
        ("host: new fate --sheet mara --sheet edda --sheet venn --seed 7", *HIDDEN),
        *(tags("edda"), "edda", same(FATE_ACTS, "mara", "everybody")),
    ),
    "coppermane: hidden aspects, track, thing, notes, orders": Pair(
        ("host: new coppermane --sheet tamsin --sheet orrin --sheet warden --seed 7 --trust players", *HIDDEN),
        *(tags("orrin"), "orrin", same(COPPERMANE_ACTS, "tamsin", "everybody")),
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
        *(SWAPPED, "ilse", {"gm": ["answer --choose claim=confirm", *SAGA_ACTS], "odo": SAGA_ACTS}),
    ),
    "faith: hands and decks": Pair(FAITH, (("H10",), ("C9",)), "bero", same(FAITH_ACTS, "sable", "gm", "everybody")),
    "faith: wrong answers in advance": Pair(
        (
            *(*FAITH, f"bero: {CONFRONT} sable --choose play={{1}}", "gm: answer --choose join=no"),
            *("sable: answer --choose counter=needle-pistol", "gm: answer --choose fitting=no"),
        ),
        *((("H10", "C9"), ("C9", "zzz")), "bero"),
        same(["answer --choose activate=no", "sable: answer --choose activate=no", *FAITH_ACTS], "sable", "gm"),
    ),
    "faith: right and wrong answers in advance": Pair(
        (*FAITH, f"bero: {CONFRONT} sable --choose play={{1}}", "gm: answer --choose join=no"),
        *((("H10", "S2"), ("H10", "zzz")), "bero"),
        same([line for line in FAITH_ACTS if "no" not in line], "sable", "gm", "everybody"),
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
        *(((*STACKS[0], "spell:orsa/ember/wil=4"), (*STACKS[1], "dodge/agi=1")), "bram"),
        same([line for line in NODICE_ACTS if "declare=" not in line], "orsa", "everybody"),
    ),
}
