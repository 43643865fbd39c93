"""Running an action at a table, and the entries it gives; a refusal reveals nothing of the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.dealers import Due, Given, Hand
from rpgres.engine.players import ORDERS_FILE, Prompt, default_policy
from rpgres.engine.records import Pending, Result
from rpgres.engine.seats import Dropped
from rpgres.engine.views import HOST
from rpgres.errors import GivenError, UsageError, called, named
from rpgres.journal.commands.pending import require_pending, thing_of, undecided
from rpgres.journal.commands.writing import Transaction, code_of, hash_of
from rpgres.journal.history import History
from rpgres.journal.permissions import check_given
from rpgres.journal.records import CARDS, Draft, Entry, Kind, found_in, waits_in
from rpgres.journal.replay import Ran, Run, put_to, run_at, run_of, run_pending
from rpgres.journal.status import chance_in, known_in, step_of, with_earlier
from rpgres.journal.views import hidden_by
from rpgres.model.events import DecisionEvent, TextEvent
from rpgres.model.state import EMPTY, GM
from rpgres.parameters.context import ACTOR
from rpgres.rulesets import CLAIM, Rules

NOTHING = "none"  # in place of results: those that were said for later are taken back


if TYPE_CHECKING:  # only signatures name it
    from typing import TypedDict

    class Answers(TypedDict, total=False):
        """What is said of decisions, dice and cards beside an action or an answer.

        Attributes:
            given: results read off real dice, by label.
            choose: answers to decisions, by label.
            policies: policy by character, the default under an empty name.
            auto: whether the ruleset's first policy answers what is left unanswered.
        """

        given: Mapping[str, Sequence[str]]
        choose: Mapping[str, Sequence[str]]
        policies: Mapping[str, str]
        auto: bool


class Typed(msgspec.Struct, frozen=True):
    """What is typed beside an action or an answer; see `Answers`."""

    given: Mapping[str, Sequence[str]] = EMPTY
    choose: Mapping[str, Sequence[str]] = EMPTY
    policies: Mapping[str, str] = EMPTY
    auto: bool = False


def _results(rules: Rules, asked: Run, given: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return results as they are kept: cards one by one, to distinguish what was asked for from what was not."""
    one_by_one = rules.cards.one_by_one if rules.file.piles else lambda text: [text]
    found = {label: [one for text in texts for one in one_by_one(text)] for label, texts in given.items()}
    return {label: [] if texts == [NOTHING] and label in asked.given else texts for label, texts in found.items()}


def _is_card(rules: Rules, text: str) -> bool:
    return bool(rules.file.piles and rules.cards.matching(text))


def _with_answers(at: Transaction, asked: Run, typed: Typed, *, is_first: bool) -> Run:
    """Return a run with further answers, which count for everybody or for the seat that gives them alone.

    Results replace those that the same seat gave before under their label, and that nothing has asked for so far.
    """
    seat, state = at.seat, at.history.state
    check_given(at.rules, state, typed.given, seat=seat)
    everybody = "" if seat is HOST else seat
    player = _player(seat)
    claim: Literal["", "pending"] = "pending" if player and not is_first and at.typist is not HOST else ""
    for who, name in typed.policies.items():
        if seat is not HOST and who and seat != state.seat_of(asked.actor if who == ACTOR else who):
            raise UsageError(f"{named('policy')} {who}={name}: {seat} does not decide for {who}")
        if name.endswith(ORDERS_FILE):
            raise UsageError(
                f"{named('policy')} {name}: at a table, standing orders are given with "
                f"`{called('table orders set', name, as_='SEAT')}`"
            )
    more = {who or everybody: name for who, name in typed.policies.items()}
    if typed.auto:
        more.setdefault(everybody, default_policy(at.rules))
    results, said = dict(asked.given), list(asked.said)
    for label, texts in typed.given.items():
        others = [one for one in asked.given.get(label, ()) if one.by != player]
        results[label] = [*others, *[Given(text, player, claim) for text in texts]]
        if player and is_first:
            said += [f"{label} {'(a card)' if _is_card(at.rules, text) else text}" for text in texts]
    asked = msgspec.structs.replace(asked, given=results, said=said, policies={**asked.policies, **more})
    if seat is HOST:
        return msgspec.structs.replace(asked, choose=_joined(asked.choose, typed.choose))
    own = {**asked.own, seat: _joined(asked.own.get(seat, {}), typed.choose)} if typed.choose else asked.own
    return msgspec.structs.replace(asked, own=own)


def _player(seat: str | None) -> str:
    """Return the seat of a player; empty for the host and the game master."""
    return "" if seat is HOST or seat == GM else seat


def _joined(one: Mapping[str, Sequence[str]], more: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {label: [*one.get(label, ()), *more.get(label, ())] for label in (*one, *(set(more) - set(one)))}


def ran_with(at: Transaction, asked: Run, typed: Typed, *, pending: Entry | None = None) -> Ran:
    """Return the result of a run; `fault` is an error reported with it.

    A refusal must not show the result of an action that is then not done: what was shown stands.

    Args:
        asked: what is run, with the answers there were before.

    Raises:
        RpgresError: something is impossible, and nothing is shown that was not known before.
    """
    history = at.history
    given = _results(at.rules, asked, typed.given)
    asked = _with_answers(at, asked, msgspec.structs.replace(typed, given=given), is_first=pending is None)
    step = history.step(history.run_of(pending) if pending is not None else None)
    before = found_in(pending.secret) if pending is not None else None
    drawn = Counter(what for _, what in chance_in(before.events if before is not None else ()))
    known = _shown(before, at.seat)
    _check_known(at, drawn, given, step=step)
    hand = _asking(history, at.hand, drawn, seat=at.typist, step=step) if at.hand is not None else None
    run = partial(run_at, at.rules, history, step=step, hand=hand, by=_player(at.typist))
    player = _player(at.seat)
    of_host = {label for label, results in asked.given.items() if any(not one.by for one in results)}
    ran = run(asked, strict={*given, *of_host} if at.seat is HOST else given)
    if player and given and isinstance(ran.found, Pending) and ran.found.question.label == CLAIM:
        trial = run(msgspec.structs.replace(asked, by=""), strict=given)  # as if the claim counted
        if isinstance(trial.fault, GivenError) and not _shown(trial.found, at.seat):
            raise trial.fault
    if isinstance(ran.fault, GivenError) and at.seat not in (HOST, GM) and _shown(ran.found, at.seat) > known:
        ran = run(asked)  # a refusal would tell a player what was rolled, and leave it to be used for something else
    if isinstance(ran.fault, GivenError) and (label := ran.fault.details.get("label", "")) not in given:
        ran.fault.add(f"; it was given before, and {named('given')} {label}={NOTHING} removes it; or undo the action")
    refused = next((one for one in ran.dropped if _is_typed(one, at, typed)), None)
    if refused is not None and ran.fault is None:
        secret = msgspec.structs.replace(ran.secret, dropped=_without(ran.secret.dropped, refused))
        ran = msgspec.structs.replace(ran, fault=refused.error, secret=secret)
    if ran.fault is not None and _shown(ran.found, at.seat) <= known:
        raise ran.fault
    is_done = isinstance(ran.found, Result) and (asked.kind != "act" or ran.found.outcome)  # no claim was refused
    later = [(label, one) for label in given for one in ran.secret.later.get(label, ()) if one.by == player]
    left = [*ran.dropped_results, *(f"{label}={one.text}" for label, one in later if is_done)]
    unused = next((one for one in left if one.partition("=")[0] in given), "")
    if unused and ran.fault is None:
        whose = f" of {player}'s characters" if player else ""
        why = f"no question{whose} asked for it, or it is no possible result"
        message = f"{named('given')} {unused} was not used: {why}"
        return msgspec.structs.replace(ran, fault=UsageError(message))
    return ran


def _shown(found: Result | Pending | None, seat: str | None) -> int:
    """Return how much a run has shown, beside what was decided and what the seat itself claims."""
    shown = [event for event in (found.events if found is not None else ()) if not isinstance(event, DecisionEvent)]
    return sum(not (isinstance(event, TextEvent) and event.text.startswith(f"{seat} claims: ")) for event in shown)


def _is_typed(one: Dropped, at: Transaction, typed: Typed) -> bool:
    """Tell whether an answer that was dropped was typed just now, and not in advance."""
    return one.seat == (at.seat or "") and any(one.choice in texts for texts in typed.choose.values())


def _without(dropped: Mapping[str, list[str]], one: Dropped) -> dict[str, list[str]]:
    """Return dropped answers without one whose owner is told of it at once."""
    left = {seat: [text for text in texts if text != f"{one.label}={one.choice}"] for seat, texts in dropped.items()}
    return {seat: texts for seat, texts in left.items() if texts}


def _check_known(at: Transaction, drawn: Counter[str], given: Mapping[str, Sequence[str]], *, step: int) -> None:
    """Refuse results for what the seed has answered already in an undone or failed run.

    That holds whatever is done now: else a player could look at what is drawn, and then choose.
    """
    rules = at.rules
    for label, texts in given.items():
        has_cards = any(_is_card(rules, text) for text in texts)
        what, first = (CARDS, drawn[CARDS]) if has_cards else (label, drawn[label])
        last = None if has_cards else first + len(texts)  # its label does not say which card comes when
        number = _known_at(at.history, step, what, first, last) if texts else None
        if number is not None:
            raise UsageError(
                f"{named('given')} {label}={texts[0]}: this was already rolled or drawn from the seed in entry "
                f"{number}, and cannot be changed; leave this out"
            )


def _asking(history: History, hand: Hand, drawn: Counter[str], *, seat: str | None, step: int) -> Hand:
    """Return a hand that asks a seat for its own results, except those that the seed has answered before."""

    def ask(due: Due) -> Sequence[str] | None:
        place = (due.label, due.asked, due.asked + 1) if due.dice else (CARDS, drawn[CARDS], None)
        is_other = seat not in (HOST, GM, history.state.seat_of(due.by))
        if is_other or _known_at(history, step, *place) is not None:
            return None
        return hand(due)

    return ask


def _known_at(history: History, step: int, what: str, first: int, last: int | None) -> int | None:
    """Return the entry that shows what the seed has answered from one place to another; None where none does."""
    for mark in history.stands.known:
        for known in history.known_by(mark):
            is_asked = (known.step, known.label) == (step, what)
            if is_asked and any(first <= place and (last is None or place < last) for place in known.places):
                return known.number
    return None


def draft_of(at: Transaction, kind: Kind, ran: Ran, **public: Any) -> Draft:
    """Return the entry of a run; what was typed for it stands in the entry that began it, not in answers."""
    text = ran.fault.message if ran.fault is not None and ran.is_attempt else ""
    secret = hidden_by(msgspec.structs.replace(ran.secret, text=text), at.history.state, ran.state)
    if kind == "answer":
        secret = msgspec.structs.replace(secret, inputs={}, note=None, names=False, said=[])
    draft = at.draft(kind, secret, ran.state, attempt=ran.is_attempt, **public)
    if ran.is_attempt:
        history = at.history
        entry = history.with_draft(draft).head
        known = with_earlier(known_in(entry), history.stands.known, history.known_by, least=step_of(entry))
        draft = msgspec.structs.replace(draft, secret=msgspec.structs.replace(draft.secret, known=known))
    return msgspec.structs.replace(draft, refused=ran.fault)


def run_on(rules: Rules, history: History, prompt: Prompt) -> None:
    """Run what waits up to the decision that it waits for, and ask it."""
    ran = run_pending(rules, history, require_pending(history), prompt=prompt)
    if ran.fault is not None:
        raise ran.fault


def answer_draft(at: Transaction, typed: Typed) -> Draft:
    """Return the entry of an answer: the action run anew, with what was added to its answers."""
    history, pending, begun = at.history, *_resumable(at)
    ran = ran_with(at, run_of(history, pending), typed, pending=pending)
    before = waits_in(pending.secret)
    if before is not None and isinstance(ran.found, Pending) and ran.found.answers == before.answers:
        raise ran.fault or undecided(put_to(history, at.seat) or before.question)
    return draft_of(at, "answer", ran, of=begun.number)


def stop_draft(at: Transaction) -> Draft:
    """Return the entry that ends a procedure where it waits: what its finished turns did stays.

    Raises:
        UsageError: no turn of it is over, or the rules have changed.
    """
    pending, begun = _resumable(at)
    ran = run_pending(at.rules, at.history, pending, stops=True, is_replay=True)
    if ran.fault is not None:
        raise ran.fault
    if isinstance(ran.found, Pending):
        raise UsageError(
            f"no turn of this {thing_of(begun)} is over, so there is nothing to keep; "
            f"`{called('table undo', begun.number)}` undoes it"
        )
    return draft_of(at, "answer", ran, of=begun.number, stops=True)


def _resumable(at: Transaction) -> tuple[Entry, Entry]:
    """Return the entry that waits, and the one with which its action began, by the rules as they are now."""
    pending = require_pending(at.history)
    begun = at.history.run_of(pending)
    if (begun.public.rules, begun.public.code) != (hash_of(at.rules), code_of(at.rules)):
        raise UsageError(
            f"the rules have changed since this {thing_of(begun)} began; `{called('table undo')}` undoes it, so that "
            "it can be repeated with the current rules"
        )
    return pending, begun
