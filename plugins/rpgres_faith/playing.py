"""Card by card: whose turn it is, what a card does, jokers, drawing back, passing.

A confrontation is a chain of `step`s from one `Play` to the next; a `Play` is frozen and can be hashed.
Lines of the text (`rulesets/faith/SOURCES.md`) as `S:n`, rows of the restatement as `R:n`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from rpgres import GM, NO, Option, Question, Table
from rpgres import Card as PlayingCard
from rpgres_faith.hands import card_options, deal_first, draw, is_joker, piles_of, renew, worth
from rpgres_faith.sides import DECK, HAND, LUCK, Card, Side, changed, find, has_court_last, title_of
from rpgres_faith.switches import Switches

PASS, TOP = (
    Option("pass", "no more cards for now", brief="pass"),
    Option("deck", "the top card of the deck", brief="deck"),
)
DONE = Option("done", "no more cards, whatever is played", brief="done")
PASSES = (PASS.name, DONE.name)
REPLACE = Option("replace", "the card turned over in place of the one before")


class Play(msgspec.Struct, frozen=True, gc=False):
    """Where a confrontation stands between two cards.

    Attributes:
        sides: who takes part, the one whose action it is first.
        pairs: who is up against whom.
    """

    sides: tuple[Side, ...]
    pairs: tuple[tuple[str, str], ...]

    def opponents(self, name: str) -> list[Side]:
        """Return whom a side is up against."""
        return [find(self.sides, other) for pair in self.pairs if name in pair for other in pair if other != name]

    def lead(self, name: str) -> int:
        """Return how far a side is ahead of the best of its opponents, as it counts against each."""
        side = find(self.sides, name)
        return min((side.against(one.name) - one.against(name) for one in self.opponents(name)), default=0)

    def with_side(self, side: Side) -> Play:
        """Return where it stands with a side changed."""
        return msgspec.structs.replace(self, sides=changed(self.sides, side))


def play_out(table: Table, play: Play) -> Play:
    """Return where a confrontation stands when all cannot or do not want to play more cards (S:91)."""
    for who in _holders(play):
        deal_first(table, who)
    tell(table, play)
    last: Play = table.chain(step, play, key=_essence, holds=("outcome", "margin"))
    return last


def step(table: Table, play: Play) -> Play | None:
    """Return where it stands after the next turn; None when no side plays any more (S:90-91)."""
    if table.rules.switches(Switches).joker_timing == "any_time":
        hit = _joker_at_once(table, play)
        if hit is not None:
            return hit
    asked = _asked(table, play)
    if not asked:
        return None
    lowest = min(side.value for side in asked)
    tied = [side for side in asked if side.value == lowest]
    players = [side for side in tied if side.is_player]
    if len(players) > 1:
        return _together(table, play, players)
    side = players[0] if players else _hers(table, tied)
    answer = _by_top(table, play, side) if side.plays == DECK else _by_hand(table, play, side)
    if isinstance(answer, str):
        return _passing(play, {side.name: answer})
    return _laid(table, play, [(side.name, answer)])


def _able(table: Table, play: Play) -> list[Side]:
    """Return the sides that may still play a card at some time."""
    forced = table.rules.switches(Switches).pass_mode == "lowest_must_play"
    return [side for side in play.sides if can_play(table, side) and (forced or not side.is_done)]


def _asked(table: Table, play: Play) -> list[Side]:
    """Return the sides that may still be asked for a card."""
    return [side for side in _able(table, play) if not side.rests or _must(table, play, side)]


def can_play(table: Table, side: Side) -> bool:
    """Tell whether a side may play a card and has one."""
    if not side.left:
        return False
    if side.plays != DECK:
        return not side.is_spent and bool(table.count(piles_of(side.who)[0]))
    hand, *rest = piles_of(GM)
    return any(table.count(pile) for pile in (rest if side.is_spent else (hand, *rest)))


# ---------------------------------------------------------------------------------------------------------------------
# Choosing a card


def _together(table: Table, play: Play, sides: Sequence[Side]) -> Play:
    """Return where it stands after players on the same value chose cards face down and together (S:90)."""
    questions = [_question(table, play, side) for side in sides]
    answers = table.ask_together(questions)
    said = list(zip(sides, answers, strict=True))
    chosen = [(side.name, _card(table, side, answer)) for side, answer in said if answer not in PASSES]
    play = _passing(play, {side.name: answer for side, answer in said if answer in PASSES})
    return _laid(table, play, chosen) if chosen else play


def _by_hand(table: Table, play: Play, side: Side) -> PlayingCard | str:
    """Return the card a side plays from its hand, or that it passes."""
    question = _question(table, play, side)
    answer = table.ask(
        question.label,
        question.who,
        question.options,
        text=question.text,
        dominant=question.dominant,
        of=question.of,
        aside=question.aside,
        pile=question.pile,
        card_key=question.card_key,
        words=question.words,
        **question.facts,
    )
    return answer if answer in PASSES else _card(table, side, answer)


def _question(table: Table, play: Play, side: Side) -> Question:
    hand = piles_of(side.who)[0]
    options = card_options(table.possible(hand), draws=side.suits)
    if not _must(table, play, side):
        options.append(PASS)
    return Question(
        "play",
        side.who,
        tuple(options),
        text="Which card?",
        facts=facts_of(table, play, side),
        words=words_of(table, play, side),
        of=title_of(side) if side.plays == LUCK and side.name != GM else "",
        aside=_ending(table, play, side),
        dominant=_best_last(table, play, side, options),
        pile=hand,
        card_key=_alike_last(table, play, side),
    )


def _ending(table: Table, play: Play, side: Side) -> tuple[Option, ...]:
    """Return the option with which a side is not asked again; none where `pass` means that."""
    return () if table.rules.switches(Switches).pass_mode == "final" or _must(table, play, side) else (DONE,)


def facts_of(table: Table, play: Play, side: Side) -> dict[str, Any]:
    """Return the public facts of a decision."""
    foes = play.opponents(side.name)
    is_final = table.rules.switches(Switches).pass_mode == "final"
    able = [one for one in _able(table, play) if one.name != side.name]
    return {
        "lead": play.lead(side.name),
        "easiest": max((side.against(foe.name) - foe.against(side.name) for foe in foes), default=0),
        "left": side.left,
        "foes_left": max((one.left for one in able if one in foes and not (is_final and one.passed)), default=0),
        "ends": all(one.rests for one in able),  # whether the play ends if this side passes
        "last": next((foe.cards[-1].value for foe in foes if foe.cards), -1),
        "draws_to": side.low,
        "aim": 0 if side.plays == LUCK else 1,  # what stops an action is enough for bad luck
        "least": 0 if any(foe.plays != LUCK for foe in foes) else 1,  # a tie stops what others do
    }


def words_of(table: Table, play: Play, side: Side) -> str:
    """Return the same for people: the values of those it concerns, and how many cards may still come."""
    if not table.is_read:
        return ""
    values = [f"{title_of(one)} {one.value}" for one in (side, *play.opponents(side.name))]
    cards = "1 card" if side.left == 1 else f"{side.left} cards"
    return f"{', '.join(values)}; {cards} left"


def _best_last(table: Table, play: Play, side: Side, options: Sequence[Option]) -> str:
    """Return a card that can never be worse than others: the highest, when no other card will be played after it.

    There is none against several, as what is better against one is not always so against all; nor where a joker may
    set the level of success, or where the highest would hide the court card by which an action is critical already.
    """
    others = [one for one in _able(table, play) if one.name != side.name]
    if side.left != 1 or others or side.pending or not side.is_player or len(play.opponents(side.name)) > 1:
        return ""
    highest = max(options, key=lambda option: option.facts.get("value", 0))
    settings = table.rules.file.settings
    is_court = highest.facts.get("value", 0) >= settings["court-from"]
    if any(option.facts.get("suit") == "" for option in options) or (not is_court and _is_critical(table, play, side)):
        return ""
    return highest.name


def _is_critical(table: Table, play: Play, side: Side) -> bool:
    """Tell whether a side would win critically against any opponent as it stands."""
    lead = table.rules.file.settings["critical-lead"]
    return any(
        side.against(foe.name) - foe.against(side.name) >= lead and has_court_last(table.rules, side, foe.name)
        for foe in play.opponents(side.name)
    )


def _alike_last(table: Table, play: Play, side: Side) -> Callable[[PlayingCard], Hashable] | None:
    """Return which cards make no difference as the last of a side: those of one value, whatever they would draw.

    As the last of all, those that come to the same. Every card makes a difference where another side plays from the
    same hand.
    """
    if side.left != 1 or any(one.left for one in _sharing(play, side) if one.name != side.name):
        return None
    foes = play.opponents(side.name)
    is_end = len(foes) == 1 and not side.pending and not any(can_play(table, one) for one in foes)
    settings = table.rules.file.settings
    lead, court = play.lead(side.name), settings["court-from"]
    bounds = [bound for band in table.rules.file.bands.values() for bound in (band.from_, band.to) if bound is not None]
    edge = 1 + max(settings["critical-lead"], *map(abs, bounds))  # beyond it a lead is as good as any

    def key(card: PlayingCard) -> Hashable:
        if not is_end or is_joker(card):
            return card.value, is_joker(card)
        after = lead + worth(card)
        return min(max(after, -edge), edge), after >= 0 and worth(card) >= court

    return key


def _must(table: Table, play: Play, side: Side) -> bool:
    """Tell whether a side has to play: only if it is behind, where that is the rule."""
    return table.rules.switches(Switches).pass_mode == "lowest_must_play" and play.lead(side.name) <= 0


def _card(table: Table, side: Side, name: str, *, label: str = "play") -> PlayingCard:
    """Put a card of a side's hand face up on the discard pile, and return it (R:1.9)."""
    hand, _, discard = piles_of(side.who if side.plays != DECK else GM)
    card = next(card for card in table.cards(hand) if card.short == name)
    table.move([card], source=hand, to=discard, by=side.who if side.plays != DECK else GM, label=label)
    return card


def _hers(table: Table, sides: Sequence[Side]) -> Side:
    """Return which of the sides that the game master plays goes first (R:6.3)."""
    options = [Option(side.name) for side in sides]
    name = table.ask("turn", GM, options, text="Which of yours plays?")
    return find(sides, name)


def _by_top(table: Table, play: Play, side: Side) -> PlayingCard | str:
    """Return the card of a character the game master plays: the top of her deck, or one of her hand (R:1.18)."""
    hand, deck, discard = piles_of(GM)
    options = [TOP] if table.count(deck) or table.count(discard) else []
    options += card_options(table.possible(hand) if not side.is_spent else (), draws=side.suits)
    if not _must(table, play, side):
        options.append(PASS)
    answer = table.ask(
        "npc",
        GM,
        options,
        text="Which card?",
        of=side.name,
        aside=_ending(table, play, side),
        pile=hand,
        card_key=_alike_last(table, play, side),
        words=words_of(table, play, side),
        **facts_of(table, play, side),
    )
    if answer in PASSES:
        return answer
    if answer != TOP.name:
        return _card(table, side, answer, label="npc")
    turned = _turn_over(table, side)
    while turned is not None and turned.suit and turned.suit in side.suits:
        again = _turn_over(table, side)  # in place of drawing a card (R:1.19)
        if again is None:
            break
        told: dict[str, Any] = {"value": worth(turned), "new": worth(again)}
        if table.ask("replace", GM, (REPLACE,), text="Take the card just turned over?", optional=True, **told) == NO:
            break
        turned = again
    return turned if turned is not None else PASS.name


def _turn_over(table: Table, side: Side) -> PlayingCard | None:
    card = table.draw("gm-deck", to="gm-discard", label="npc-card", by=side.name)
    if card is not None:
        renew(table, GM)
    return card


def _joker_at_once(table: Table, play: Play) -> Play | None:
    """Return where it stands when the game master plays a joker out of turn, where she may (R:4.7)."""
    for side in play.sides:
        if side.plays == LUCK and can_play(table, side) and any(foe.cards for foe in play.opponents(side.name)):
            hand = piles_of(GM)[0]
            jokers = [card for card in table.possible(hand) if is_joker(card)]
            facts, words = facts_of(table, play, side), words_of(table, play, side)
            answer = table.ask(
                "joker",
                GM,
                card_options(jokers),
                text="A joker now?",
                optional=True,
                pile=hand,
                hidden=True,  # it would tell that she has one
                words=words,
                **facts,
            )
            if answer != NO:
                return _laid(table, play, [(side.name, _card(table, side, answer, label="joker"))])
    return None


# ---------------------------------------------------------------------------------------------------------------------
# What a card does


def _passing(play: Play, said: Mapping[str, str]) -> Play:
    """Return where it stands after sides passed, for now or for good, by their names."""
    for name, answer in said.items():
        side = find(play.sides, name)
        play = play.with_side(msgspec.structs.replace(side, passed=True, is_done=side.is_done or answer == DONE.name))
    return play


def _laid(table: Table, play: Play, chosen: Sequence[tuple[str, PlayingCard]]) -> Play:
    """Return the state after cards are played: values first, then jokers, then drawing back."""
    switches = table.rules.switches(Switches)
    for name, card in chosen:
        side = find(play.sides, name)
        play = play.with_side(_with_card(table, side, card))
    for name, card in chosen:
        if is_joker(card) and switches.joker_rule == "nullify":
            play = _nullify(table, play, find(play.sides, name))
    for name, card in chosen:
        play = _drawn_back(table, play, find(play.sides, name), card)
    if switches.pass_mode != "final":
        play = msgspec.structs.replace(
            play, sides=tuple(msgspec.structs.replace(side, passed=False) for side in play.sides)
        )
    tell(table, play)
    return play


def _with_card(table: Table, side: Side, card: PlayingCard) -> Side:
    """Return a side with a card played; a joker that waited makes it 0 (S:50)."""
    court = worth(card) >= table.rules.file.settings["court-from"]
    laid = Card(card.code, worth(card), court, is_joker(card))
    if side.pending:
        return msgspec.structs.replace(side, cards=(*side.cards, _zeroed(table, laid)), pending=side.pending - 1)
    return msgspec.structs.replace(side, cards=(*side.cards, laid))


def _zeroed(table: Table, card: Card) -> Card:
    keeps = table.rules.switches(Switches).nullified_keeps_court
    return msgspec.structs.replace(card, value=0, is_court=card.is_court and keeps)


def _nullify(table: Table, play: Play, side: Side) -> Play:
    """Return where it stands when a joker hit the last card of whom it is played against, or waits for the next."""
    foes = play.opponents(side.name)
    name = foes[0].name
    if len(foes) > 1:
        name = table.ask("target", GM, [Option(foe.name) for foe in foes], text="Whom does the joker hit?")
    foe = find(play.sides, name)
    if table.is_read:
        hit = f"{foe.cards[-1].code} counts" if foe.cards else "next card will count"
        table.tell(f"by the joker of {title_of(side)}, {title_of(foe)}'s {hit} nothing")
    if foe.cards:
        return play.with_side(msgspec.structs.replace(foe, cards=(*foe.cards[:-1], _zeroed(table, foe.cards[-1]))))
    return play.with_side(msgspec.structs.replace(foe, pending=foe.pending + 1))


def _drawn_back(table: Table, play: Play, side: Side, card: PlayingCard) -> Play:
    """Return where it stands after drawing for a card of the right suit, or a low one, and for a hand that ran out.

    For non-player characters the game master reveals another card in place of drawing (R:1.10, R:1.14-1.19).
    """
    rules, holder = table.rules, _holder(side)
    switches = rules.switches(Switches)
    earned = 0
    if not is_joker(card) and side.plays != DECK:
        by_suit, by_value = card.suit in side.suits, worth(card) <= side.low
        earned = by_suit + by_value if switches.draws_stack else int(by_suit or by_value)
    sharing = _sharing(play, side)
    nothing = None if any(one.left for one in sharing) else lambda _card: 0  # what comes now is for later
    if switches.draw_timing == "after":
        play = play.with_side(msgspec.structs.replace(side, owed=side.owed + earned))
    else:
        for _ in range(earned):
            draw(table, holder, card_key=nothing)
    has_run_out = not table.count(piles_of(holder)[0]) and not any(one.is_spent for one in sharing)
    if has_run_out and switches.empty_hand_draw:
        nothing = None if any(one.left and one.plays == DECK for one in sharing) else lambda _card: 0
        draw(table, holder, card_key=nothing)
        for one in sharing:
            play = play.with_side(msgspec.structs.replace(find(play.sides, one.name), is_spent=True))
    if switches.reshuffle == "last_played":
        _renew_when_played_out(table, holder)
    return play


def _sharing(play: Play, side: Side) -> list[Side]:
    """Return the sides that play from the same hand, that one included."""
    return [one for one in play.sides if _holder(one) == _holder(side)]


def _holder(side: Side) -> str:
    """Return whose hand a side plays from."""
    return side.who if side.plays == HAND else GM


def _renew_when_played_out(table: Table, who: str) -> None:
    hand, deck, discard = piles_of(who)
    if not table.count(deck) and not table.count(hand) and table.count(discard):
        table.move(table.cards(discard), source=discard, to=deck)
        table.shuffle(deck)


def draw_owed(table: Table, play: Play) -> None:
    """Draw what cards earned, where that is done afterwards."""
    for side in play.sides:
        for _ in range(side.owed):
            draw(table, side.who)


# ---------------------------------------------------------------------------------------------------------------------
# What is public


def tell(table: Table, play: Play) -> None:
    """Tell the values and how many cards each may still play (S:96), and who plays next."""
    if not table.is_read:
        return
    shown = [
        f"{title_of(side)} {side.value} ({', '.join([*_elsewhere(play, side), _left(side)])})" for side in play.sides
    ]
    asked = _asked(table, play)
    lowest = min((side.value for side in asked), default=0)
    tied = [side for side in asked if side.value == lowest]
    names = [title_of(side) for side in tied if side.is_player] or [title_of(side) for side in tied]
    then = f"; {' and '.join(names)} to play" if names else "; all have played"
    table.tell(", ".join(shown) + then)


def _elsewhere(play: Play, side: Side) -> list[str]:
    """Return what a side's value is to those against whom its last card does not count."""
    values = [(side.against(foe.name), title_of(foe)) for foe in play.opponents(side.name)]
    lower = {value: [name for its, name in values if its == value] for value, _ in values if value != side.value}
    return [f"{value} to {' and '.join(names)}" for value, names in lower.items()]


def _left(side: Side) -> str:
    return f"{side.left} left" if side.left and not side.is_spent and not side.is_done else "done"


def _holders(play: Play) -> list[str]:
    """Return whose hands are in play."""
    holders = [side.who for side in play.sides if side.plays != DECK]
    if any(side.plays == DECK for side in play.sides):
        holders.append(GM)
    return list(dict.fromkeys(holders))


def _essence(table: Table, play: Play) -> Hashable:
    """Return everything that matters from here on: the values, and the cards of sides that may still play."""
    base = play.sides[0].value  # only differences matter
    jokers = any(side.left for side in play.sides if side.plays != HAND)
    shifting = table.rules.switches(Switches).joker_rule != "nullify"
    sides = tuple(
        (
            side.value - base,
            tuple(
                (side.against(other) - base, _last_court(side, other), max(0, limit - len(side.cards)))
                for other, limit in side.limits.items()
            ),
            side.left,
            bool(side.cards) and side.cards[-1].is_court,
            (side.cards[-1].value if side.cards else -1) if jokers else bool(side.cards),
            shifting and any(card.is_joker for card in side.cards),
            side.pending,
            side.passed,
            side.is_done,
            side.is_spent,
        )
        for side in play.sides
    )
    known = []
    for who in _holders(play):
        hand, deck, discard = piles_of(who)
        users = [side for side in play.sides if _holder(side) == who and side.left]
        if users:  # every card may draw two, and a hand that runs out one more
            low = table.count(deck) <= sum(2 * side.left + 1 for side in users)
            is_open = low or any(side.plays == DECK for side in users)  # revealed cards have left the deck
            known.append((table.knowledge(hand), table.count(deck), table.knowledge(discard) if is_open else None))
    return "play", sides, tuple(known)


def _last_court(side: Side, other: str) -> bool:
    cards = side.counted(other)
    return bool(cards) and cards[-1].is_court
