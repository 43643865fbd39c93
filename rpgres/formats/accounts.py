"""The account of a scene as a record: who takes part, what happens step by step, the table at the end.

Everything that reads like a scene (a terminal, Markdown, HTML, Lonelog) is made from this record and from nothing else,
so that they all say the same. Every text is one line and in words: nothing of a ruleset is needed to show it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from rpgres.model.printed import Printed

Named = Annotated[str, msgspec.Meta(min_length=1)]
ItemKind = Literal["character", "tag", "track", "thing", "pile", "counter"]


class _Line(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    pass


class _TextLine(_Line, frozen=True):
    """A line of text.

    Attributes:
        text: the line, or the sentence.
    """

    text: Named


class Rolled(_Line, frozen=True, tag="roll"):
    """Dice that were rolled.

    Attributes:
        label: what the roll is called.
        who: who rolled; empty where that does not matter.
        dice: what was rolled, in notation.
        faces: the dice as they lie; empty where there were none.
        value: what they came to, as it is written.
        words: what was rolled in words, where the value of the dice is not what counts.
    """

    label: Named
    who: str
    dice: Named
    faces: str
    value: Named
    words: str = ""


class Dealt(_Line, frozen=True, tag="cards"):
    """Cards that were drawn or played.

    Attributes:
        label: what it is called.
        who: whose cards they are; empty where that does not matter.
        cards: the cards in words; those that are face down are counted.
    """

    label: Named
    who: str
    cards: Named


class Chosen(_Line, frozen=True, tag="decision"):
    """Something that was decided.

    Attributes:
        label: what the decision is called.
        who: who decided.
        answer: what was decided, in words.
        how: who answered: chosen (by the scene), asked (at a terminal), by policy, by orders, by the host.
        of: whose decision it was, where another player answered it.
    """

    label: Named
    who: Named
    answer: Named
    how: str = ""
    of: str = ""


class RuleLine(_TextLine, frozen=True, tag="line"):
    """A line that the rule prints of how it goes."""


class Outcome(_Line, frozen=True, tag="outcome"):
    """The outcome of an action, and the numbers behind it.

    Attributes:
        outcome: what the outcome is called.
        success: whether it is one; null where it is neither.
        total: what the acting side came to, in words; empty where nothing was compared.
        against: what it was up against, in words.
        margin: total less opposition; null where nothing opposed.
    """

    outcome: Named
    success: bool | None = None
    total: str = ""
    against: str = ""
    margin: int | None = None


class Meaning(_TextLine, frozen=True, tag="meaning"):
    """What the outcome means, from the outcome table."""


class Change(_TextLine, frozen=True, tag="effect"):
    """What changes on the table, in words."""


class Note(_TextLine, frozen=True, tag="note"):
    """What the scene's author wrote beside a step."""


class Remark(_TextLine, frozen=True, tag="remark"):
    """A warning for the person who runs the scene, such as an answer that no question took."""


LineRecord = Rolled | Dealt | Chosen | RuleLine | Outcome | Meaning | Change | Note | Remark


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action of a character, and its result.

    Attributes:
        does: what is done: a sentence, after the name of the actor; empty where there is nothing but lines.
        actor: who does it; empty where the sentence is whole without.
        round: the number of the exchange or round, on its first turn.
        counted: what is counted so, such as an exchange.
        lines: how it goes, in order.
    """

    does: str = ""
    actor: str = ""
    round: int | None = None
    counted: str = ""
    lines: list[LineRecord] = []

    @property
    def sentence(self) -> str:
        """Who does what."""
        return f"{self.actor} {self.does}" if self.actor else self.does


class Chapter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step of a scene, or a whole procedure.

    Attributes:
        title: what it is called.
        skipped: whether it was not played.
        turns: what happens in it.
    """

    title: Named
    skipped: bool = False
    turns: list[Turn] = []


class Participant(msgspec.Struct, frozen=True):
    """A character who takes part.

    Attributes:
        name: the short name, as in the scene's file.
        title: the name as people say it.
        seat: who plays it.
    """

    name: Named
    title: Named
    seat: Named


class TableItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that stands on the table at the end.

    Attributes:
        name: what it is called.
        of: what it is: a character, a tag, a track, a thing, a pile of cards, a counter.
        details: how it stands, line by line.
    """

    name: Named
    of: ItemKind
    details: list[Named] = []


class Account(Printed, frozen=True, kw_only=True, tag="rpgres.account/1"):
    """The account of a scene, as `rpgres scene show --json` prints it.

    Attributes:
        title: the scene's title.
        summary: what it is about.
        ruleset: what the ruleset is called.
        house_rules: the house rules in force, in words.
        seat: the seat of the reader.
        seed: where the dice came from; null where the reader may not know it.
        people: who takes part.
        chapters: what happens, step by step.
        ending: the name of how the scene ended; empty where it has none.
        table: what stands on the table at the end.
    """

    title: Named
    summary: str = ""
    ruleset: str = ""
    house_rules: str = ""
    seat: str = "gm"
    seed: str | None = None
    people: list[Participant] = []
    chapters: list[Chapter] = []
    ending: str = ""
    table: list[TableItem] = []
