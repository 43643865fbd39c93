"""Cards in a run: looked at, dealt, drawn, moved, placed as typed. These are the methods of `Table` for cards.

In odds, the cards of a hand stay in the pile they come from: undealt until somebody looks (`UndealtPile`), or unseen,
where its owner plays by an order of preference (`beliefs`). Before that pile gets known cards, such hands are dealt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial

import msgspec

from rpgres.engine import piles
from rpgres.engine.beliefs import Shown, Unseen, dealt, drawn, grown, next_in_order, preferred, with_known
from rpgres.engine.dealers import Due, fitting_cards, require_card, unpromised
from rpgres.engine.events import Drawn, Moved
from rpgres.engine.players import NO, Question, named_option, promises_of, refusal
from rpgres.engine.running import PLACE, Run
from rpgres.engine.stops import Broken
from rpgres.errors import GivenError
from rpgres.model.cards import Stack, classes, firsts_of, groups
from rpgres.model.state import FACE_DOWN, GM, Card, Map, Pile, code_of, undealt_in, with_undealt
from rpgres.rulesets import STATE


def pile_of(run: Run, name: str) -> Pile:
    """Return a pile by name.

    Raises:
        Broken: there is none.
    """
    try:
        return run.state.piles[name]
    except KeyError:
        known = ", ".join(run.state.piles) or "none"
        raise Broken(f"it used the pile {name!r}, which is not on the table; there are: {known}") from None


def seen_in(run: Run, pile: str) -> tuple[Card, ...]:
    """Return the cards that lie face up or in a hand; see `Table.cards`."""
    found = _dealt(run, pile)
    if found.audience == ():
        raise Broken(f"it looked at the cards of {pile!r}, which are face down")
    return tuple([run.rules.cards.card(card) for card in found.cards])


def count_of(run: Run, pile: str) -> int:
    """Return how many cards lie in a pile."""
    found = len(pile_of(run, pile))
    for hand, unseen in run.unseen.items():
        found += unseen.size if hand == pile else -unseen.size if unseen.source == pile else 0
    return found


# -- hands that were left undealt, see `engine.hidden`

HIDDEN = "hidden"  # the label of what they are dealt by


def _leave_undealt(run: Run, source: str, *, to: str, count: int) -> None:
    """Add cards to a hand that stay in the pile they come from until somebody looks; less than 0 takes them off."""
    changed = {one: pile_of(run, one) for one in (source, to)}
    signs = {source: -count, to: count}
    _put(run, {one: with_undealt(pile, undealt_in(pile) + signs[one]) for one, pile in changed.items()})


def _deal_now(run: Run, hand: str, *, looks: bool = True) -> Pile:
    """Deal what of a hand was left undealt, from below the known top cards of its pile; return the hand."""
    found = pile_of(run, hand)
    source, count, by = piles.dealt_from(run.rules, hand, found), undealt_in(found), found.owner or GM
    _leave_undealt(run, source, to=hand, count=-count)
    pile = pile_of(run, source)
    _put(run, {source: msgspec.structs.replace(pile, top=(), knowers=())})
    _deal(run, source, to=hand, count=count, label=HIDDEN, by=by, looks=looks)
    _put(run, {source: msgspec.structs.replace(pile_of(run, source), top=pile.top, knowers=pile.knowers)})
    return pile_of(run, hand)


def _dealt(run: Run, pile: str) -> Pile:
    """Return a pile whose cards matter now, all of them dealt."""
    found = pile_of(run, pile)
    return _deal_now(run, pile) if undealt_in(found) > 0 else found


def _reveal(run: Run, hand: str) -> None:
    """Determine all cards of an unseen hand."""
    source = run.unseen[hand].source
    order = tuple(kind for kind, _ in _firsts(run, source))
    while run.unseen[hand].size:
        shown = preferred(run.unseen[hand], order)
        chosen = shown[run.pick([one.weight for one in shown], HIDDEN)]
        run.unseen = {**run.unseen, hand: chosen.after}
        _taken(run, chosen.kind, source, to=hand)
    run.unseen = {name: unseen for name, unseen in run.unseen.items() if name != hand}


def _reveal_from(run: Run, source: str) -> None:
    """Determine the cards of every unseen hand that comes from a pile, before a known card is in that pile."""
    for hand in [hand for hand, unseen in run.unseen.items() if unseen.source == source]:
        _reveal(run, hand)


def _deal_from(run: Run, source: str) -> None:
    """Deal every hand that was left undealt or unseen and comes from a pile, before that pile gets other cards."""
    _reveal_from(run, source)
    if undealt_in(pile_of(run, source)) < 0:
        for hand, pile in run.state.piles.items():
            if undealt_in(pile) > 0 and piles.dealt_from(run.rules, hand, pile) == source:
                _deal_now(run, hand)


def _settled(run: Run, pile: str) -> Pile:
    """Return a pile of which nothing is undealt, neither its own cards nor those of hands that come from it."""
    _deal_from(run, pile)
    return _dealt(run, pile)


def deal_to_seat(run: Run, who: str) -> None:
    """Deal the hands that a player's seat sees, where it decides by more than a preference or the question."""
    policies, seat = run.players.policies, run.state.seat_of(who)
    policy = policies.of(who, seat)
    if promises_of(policy).by_question or policies.preference(who, seat) is not None:
        return
    for hand, pile in run.state.piles.items():
        if undealt_in(pile) > 0 and seat in (pile.audience or ()):
            _deal_now(run, hand)


def possible_in(run: Run, pile: str) -> tuple[Card, ...]:
    """Return the cards that a hand has or may have; see `Table.possible`."""
    if undealt_in(pile_of(run, pile)) > 0:
        _deal_now(run, pile, looks=False)
    unseen = run.unseen.get(pile)
    if unseen is None:
        return seen_in(run, pile)
    kinds = unseen.kinds
    return (*seen_in(run, pile), *(card for kind, card in _firsts(run, unseen.source) if kind in kinds))


def deal(run: Run, source: str, *, to: str, count: int, label: str, by: str, looks: bool) -> None:
    """Deal cards of a face-down pile into a hand, as far as there are any; see `Table.deal`."""
    _deal_from(run, to)
    _dealt(run, source)
    if run.asked == STATE and run.dealer.defers(label) and _is_free(run, source, to=to, count=count):
        _leave_undealt(run, source, to=to, count=count)
    else:
        _deal(run, source, to=to, count=count, label=label, by=by, looks=looks)


def _is_free(run: Run, source: str, *, to: str, count: int) -> bool:
    """Tell whether cards of a hand can stay in the pile that it is always dealt from."""
    if not count or count_of(run, source) < count or run.unseen:
        return False
    stock, hand = pile_of(run, source), pile_of(run, to)
    return not stock.top and hand.audience is not None and piles.dealt_from(run.rules, to, hand) == source


def _deal(run: Run, source: str, *, to: str, count: int, label: str, by: str, looks: bool) -> None:
    """Deal cards that are not left undealt."""
    if run.dealer.joint and count and to not in run.unseen:
        stock, seat = pile_of(run, source), run.state.seat_of(by)
        is_free = count_of(run, source) >= count and not stock.top
        is_free = is_free and all(unseen.source != source for unseen in run.unseen.values())
        is_kept = run.asked != STATE and not looks and not count_of(run, to)  # the next turn would not know of it
        if is_free and is_kept and run.players.policies.preference(by, seat) is not None:
            firsts, sizes = classes(stock.cards, Stack("", 0, run.rules.cards, run.lump))
            kinds = {_kind(run, run.rules.cards.card(one)): size for one, size in zip(firsts, sizes, strict=True)}
            run.unseen = {**run.unseen, to: dealt(source, kinds, count=count)}
            return
        if is_free:
            _deal_in_order(run, source, to=to, count=count, label=label, by=by)
            return
    for _ in range(count):
        if draw(run, source, to=to, label=label, by=by) is None:
            return


def _deal_in_order(run: Run, source: str, *, to: str, count: int, label: str, by: str) -> None:
    """Deal a hand card by card in the order of their kinds, so that odds come to each hand in one way."""
    pile, target, taken = pile_of(run, source), pile_of(run, to), list[str]()
    kinds = groups(pile.cards, run.lump, run.rules.cards, last=getattr(run.dealer, "others", False))
    sizes, at, used = tuple(map(len, kinds)), 0, 0
    for left in range(count, 0, -1):
        index = run.pick(next_in_order(sizes, at, used, left), label)
        at, used = (at, used + 1) if index == at else (index, 1)
        taken.append(kinds[at][used - 1])
        run.add(Drawn(label, code_of(taken[-1]), source, to, by, target.audience))
    rest = msgspec.structs.replace(pile, cards=piles.without(pile.cards, tuple(taken)))
    _put(run, {source: rest, to: piles.added(target, tuple(taken))})


def draw(
    run: Run,
    pile: str,
    *,
    to: str,
    label: str,
    by: str,
    card_key: Callable[[Card], Hashable] | None = None,
    holds: Collection[str] = (),
) -> Card | None:
    """Draw the top card of a face-down pile into another pile; see `Table.draw`."""
    _deal_from(run, to)
    if to in run.unseen and (run.unseen[to].source != pile or pile_of(run, pile).top):
        _reveal(run, to)
    source = _dealt(run, pile)
    if not source.top and any(unseen.source == pile for unseen in run.unseen.values()):
        if count_of(run, pile):
            return _drawn_beside(run, pile, to, label, by)
        _reveal_from(run, pile)
        source = pile_of(run, pile)
    if not len(source):
        source = _refilled(run, pile, _settled(run, pile))
    target = pile_of(run, to)
    if not len(source):
        run.idled(label)
        return None
    run.check_room(label)
    if source.top:
        card = _next_of(run, pile, msgspec.structs.replace(source, cards=source.top[:1]), label, card_key, by)
        rest = msgspec.structs.replace(source, top=source.top[1:], knowers=source.knowers[1:])
    else:
        card = _next_of(run, pile, source, label, card_key if run.is_promised(holds) else None, by)
        rest = msgspec.structs.replace(source, cards=piles.without(source.cards, (card,)))
    _put(run, {pile: rest, to: piles.added(target, (card,))})
    run.add(Drawn(label, code_of(card), pile, to, by, target.audience))
    return run.rules.cards.card(card)


def _drawn_beside(run: Run, pile: str, to: str, label: str, by: str) -> Card:
    """Return the card that is drawn from a pile from which an unseen hand was dealt.

    If it goes into that hand, it is an arbitrary card.
    """
    hand, unseen = next((name, one) for name, one in run.unseen.items() if pile == one.source)
    if hand == to:
        run.idled(label)
        run.unseen = {**run.unseen, hand: grown(unseen)}
        return run.rules.cards.card(pile_of(run, pile).cards[0])
    shown = drawn(unseen)
    chosen = shown[run.pick([one.weight for one in shown], label)]
    run.unseen = {**run.unseen, hand: chosen.after}
    return _taken(run, chosen.kind, pile, to=to, label=label, by=by)


def _taken(run: Run, kind: Hashable, pile: str, *, to: str, label: str = "", by: str = "") -> Card:
    """Move a card of a kind from a face-down pile, as drawn where it has a label, and return it."""
    source, target = pile_of(run, pile), pile_of(run, to)
    first = next(card.code for one, card in _firsts(run, pile) if one == kind)
    code = next(card for card in source.cards if code_of(card) == first)
    rest = msgspec.structs.replace(source, cards=piles.without(source.cards, (code,)))
    _put(run, {pile: rest, to: piles.added(target, (code,))})
    if label:
        run.events.append(Drawn(label, code_of(code), pile, to, by, target.audience))
    return run.rules.cards.card(code)


def peek(run: Run, pile: str, count: int, *, by: str, label: str) -> tuple[Card, ...]:
    """Look at the top cards of a face-down pile, which stay there; see `Table.peek`."""
    seat = run.state.seat_of(by)
    _reveal_from(run, pile)
    found = _dealt(run, pile)
    top, knowers = list(found.top), list(found.knowers)
    rest = found.cards
    for number in range(min(count, count_of(run, pile))):
        run.check_room(label)
        left = tuple(top[number : number + 1]) or rest
        card = _next_of(run, pile, msgspec.structs.replace(found, cards=left), label, None, by)
        if number == len(top):
            rest = piles.without(rest, (card,))
            top.append(card)
            knowers.append(())
    for number, card in enumerate(top[:count]):
        seats = knowers[number]
        knowers[number] = seats if seats is None or seat in seats else (*seats, seat)
        run.add(Drawn(label, code_of(card), pile, pile, by, (seat,)))
    _put(run, {pile: msgspec.structs.replace(found, cards=rest, top=tuple(top), knowers=tuple(knowers))})
    return tuple(run.rules.cards.card(card) for card in top[:count])


def move(run: Run, cards: Iterable[Card | str], *, source: str, to: str, by: str, label: str, on_top: bool) -> None:
    """Move cards from where they lie to another pile; see `Table.move`."""
    codes = [card if isinstance(card, str) else card.code for card in cards]
    if not codes:
        return
    run.check_room(f"cards of {source}")
    _deal_from(run, to)
    if to in run.unseen:
        _reveal(run, to)
    pile, target = _dealt(run, source), pile_of(run, to)
    moved = piles.matching_cards(pile.cards, codes)
    if moved is None:
        raise Broken(f"it moved {', '.join(codes)} from {source!r}, which does not contain them")
    rest = msgspec.structs.replace(pile, cards=piles.without(pile.cards, moved))
    put = piles.topped(target, moved, knowers=pile.audience) if on_top else piles.added(target, moved)
    _put(run, {source: rest, to: put} if source != to else {})
    run.add(Moved(tuple(codes), source, to, by, label, piles.common_audience(pile, target)))


def shuffle(run: Run, pile: str) -> None:
    """Shuffle a face-down pile, what was known of its top included."""
    if pile_of(run, pile).top:
        _deal_from(run, pile)
    _put(run, {pile: piles.shuffled(pile_of(run, pile))})


def place(run: Run, pile: str, texts: Sequence[str], *, option: str, elsewhere: Sequence[str] = ()) -> None:
    """Place the cards that an input names in a pile; those that are not go back, shuffled in; see `Table.place`."""
    there = pile_of(run, pile)
    source = piles.dealt_from(run.rules, pile, there)
    if undealt := undealt_in(there):  # which is what is typed now
        _leave_undealt(run, source, to=pile, count=-undealt)
        there = pile_of(run, pile)
    stock = pile_of(run, source)
    stock = msgspec.structs.replace(stock, cards=tuple(sorted((*stock.cards, *there.cards))))
    known = run.rules.cards

    def choose(fitting: tuple[str, ...], _: int) -> str:
        if len({code_of(one) for one in fitting}) == 1:
            return next((one for one in fitting if one in there.cards), fitting[0])
        # Not in the order in which they would be drawn: those left would then come later than their share.
        stack = Stack(f"which:{source}", stock.shuffles, known, run.lump)
        free = unpromised(fitting, elsewhere, known=known)
        card = run.dealer.draw(free, stack, PLACE, run.count(PLACE))
        run.add(Drawn(PLACE, code_of(card), source, pile, "", there.audience))
        return card

    lack = f"no {{card}} is left in {source}"
    laid, left = piles.take_typed(stock.cards, texts, known=known, option=option, lack=lack, choose=choose)
    stock = msgspec.structs.replace(stock, cards=left)
    if set(there.cards) - set(laid):  # their holder knows them, and would draw them next
        stock = piles.shuffled(stock)
    _put(run, {source: stock, pile: piles.added(msgspec.structs.replace(there, cards=()), tuple(laid))})


def ask_unseen(run: Run, question: Question, *, is_hidden: bool) -> str:
    """Return what is played from an unseen hand, and note what that reveals of the rest."""
    hand = question.pile
    unseen, seat = run.unseen[hand], run.state.seat_of(question.who)
    scripted = run.players.scripted(question, is_unseen=True)
    run.count(question.label)
    if scripted is None:
        kind, after, name = _by_preference(run, question, seat)
        means = "policy"
    elif scripted.choice == NO and question.optional:
        kind, after, name, means = None, unseen, NO, scripted.means
    else:
        kind, after, name = _as_typed(run, question, str(scripted.choice))
        means = scripted.means
    run.unseen = {**run.unseen, hand: after}
    if kind is not None:
        _taken(run, kind, unseen.source, to=hand)
    return run.decided(question, name, means, (seat,) if is_hidden else None)


def _as_typed(run: Run, question: Question, choice: str) -> tuple[Hashable, Unseen, str]:
    """Return the kind of the card that a script plays (None for what is no card), what is then known, and its name."""
    unseen = run.unseen[question.pile]
    chosen, codes = named_option(question.offered, choice), run.rules.cards.matching(choice)
    kind = _kind(run, run.rules.cards.card(codes[0])) if codes else None
    after = with_known(unseen, kind) if kind is not None else unseen
    if after is None or (chosen is None and kind is None):
        run.fault = refusal(question, choice)
        raise run.fault
    if kind is None:
        return None, after, chosen.name if chosen is not None else ""
    cards = possible_in(run, question.pile)
    return kind, after, next(card.short for card in cards if _kind(run, card) == kind)


def _by_preference(run: Run, question: Question, seat: str) -> tuple[Hashable, Unseen, str]:
    """Return the kind of the card that an order of preference plays, what is then known, and its name."""
    unseen, possible = run.unseen[question.pile], possible_in(run, question.pile)
    kinds = {card.short: _kind(run, card) for card in possible}
    preference = run.players.policies.preference(question.who, seat)
    assert preference is not None  # or the hand would have been dealt
    order = [option.name for option in preference.order(question)]
    shown = preferred(unseen, tuple(kinds.get(name) for name in order))
    if question.card_key is not None and run.is_promised(question.holds):
        shown = _merged(shown, {kinds[card.short]: question.card_key(card) for card in possible})
    found = shown[run.dealer.pick([one.weight for one in shown], question.label, run.counts[question.label] - 1)]
    names = {kind: short for short, kind in kinds.items()}
    name = next(one for one in order if one not in kinds) if found.kind is None else str(names[found.kind])
    return found.kind, found.after, name


def _merged(shown: tuple[Shown, ...], keys: Mapping[Hashable, Hashable]) -> tuple[Shown, ...]:
    """Return possible cards, one for all cards with the same key."""
    joined: dict[Hashable, Shown] = {}
    for one in shown:
        key = (one.kind is None, None if one.kind is None else keys[one.kind])
        first = joined.get(key)
        joined[key] = one if first is None else msgspec.structs.replace(first, weight=first.weight + one.weight)
    return tuple(joined.values())


def _firsts(run: Run, pile: str) -> tuple[tuple[Hashable, Card], ...]:
    """Return the kinds of cards in a face-down pile, each with a card."""
    return firsts_of(pile_of(run, pile).cards, run.lump, run.rules.cards)


def _kind(run: Run, card: Card) -> Hashable:
    return card.code if run.lump is None else run.lump(card)


def _as_drawn(cards: tuple[str, ...], stack: Stack, label: str, text: str) -> Sequence[str]:
    """Return typed cards one by one."""
    texts = stack.known.one_by_one(text)
    for one in texts:
        require_card(stack, label, one)
    fitting_cards(cards, stack, label, texts[0])
    return texts


def _next_of(run: Run, name: str, pile: Pile, label: str, card_key: Callable[[Card], Hashable] | None, by: str) -> str:
    """Return the next card of a shuffled pile, from the dealer."""
    stack, dealer, count = Stack(name, pile.shuffles, run.rules.cards, run.lump, card_key), run.dealer, run.count(label)
    try:
        if dealer.takes_given:
            run.take_given(Due(label, count, run.turn, by, "", partial(_as_drawn, pile.cards, stack, label)))
        return dealer.draw(pile.cards, stack, label, count)
    except GivenError as error:
        run.fault = error
        raise


def _put(run: Run, changed: Mapping[str, Pile]) -> None:
    """Change what lies in some piles; the state belongs to this run alone."""
    run.state = msgspec.structs.replace(run.state, piles=Map({**run.state.piles, **changed}))


def _refilled(run: Run, name: str, pile: Pile) -> Pile:
    """Return an empty pile refilled from the pile that its data name, shuffled."""
    refill = run.rules.may_refill(name)
    if not refill:
        return pile
    source = piles.beside(run.rules, refill, pile)
    given = _settled(run, source)
    if not len(given):
        return pile
    anew = piles.shuffled(msgspec.structs.replace(pile, cards=given.cards, top=given.top))
    _put(run, {name: anew, source: msgspec.structs.replace(given, cards=(), top=())})
    run.events.append(Moved((FACE_DOWN,) * len(anew), source, name, "", "shuffled anew"))
    return anew
