"""Actions, beginnings and ends of periods, and the answers to what they ask, one function a command."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rpgres.engine.dealers import Hand
from rpgres.engine.periods import check_period
from rpgres.engine.players import NO, Prompt, Question, View
from rpgres.engine.stops import NeedsAnswer, PassesOn, PutAgain, SaysInAdvance, TakenBack
from rpgres.engine.views import HOST
from rpgres.errors import UsageError, called, named
from rpgres.journal import store
from rpgres.journal.commands.correcting import after_answer, let_pass, undo
from rpgres.journal.commands.pending import (
    Left,
    options_of,
    procedure_in,
    refuse_sealed,
    refuse_when_revealed,
    refuse_while_pending,
    require_own,
    undecided,
    what_instead,
)
from rpgres.journal.commands.running import Typed, answer_draft, draft_of, ran_with, run_on, stop_draft
from rpgres.journal.commands.writing import Done, Place, Transaction, check_seat, rules_of, write
from rpgres.journal.history import History
from rpgres.journal.permissions import check_laid
from rpgres.journal.records import Draft
from rpgres.journal.replay import Run
from rpgres.model.state import GM, State
from rpgres.rulesets import Rules, unknown

if TYPE_CHECKING:  # only signatures name it
    from typing import Unpack

    from rpgres.journal.commands.running import Answers


def act(
    place: Place,
    action: str,
    inputs: Mapping[str, Any],
    *,
    actor: str = "",
    seat: str | None = HOST,
    prompt: Prompt | None = None,
    hand: Hand | None = None,
    note: str | None = None,
    **answers: Unpack[Answers],
) -> Done:
    """Resolve an action at the table, or have it wait for a decision.

    Args:
        actor: who acts; by default the seat's only character.
        seat: who types; answers and policies are then for its own decisions alone.
        prompt: asks a person what waits then; each answer is an entry of its own, and what is shown is written by then.
        hand: asks a person for results of real dice that are not given; they are kept as given ones are.

    Raises:
        UsageError: something typed is unknown or impossible, or another action waits.
    """

    def work(at: Transaction) -> list[Draft]:
        history, rules = at.history, at.rules
        refuse_while_pending(history, "act", seat)
        refuse_when_revealed(history)
        rules.require_action(action)
        who = actor_of(history, actor, seat, is_anybody=rules.file.actions[action].anybody)
        if seat is not HOST:
            check_laid(rules, history.state, action, inputs, actor=who, seat=seat)
        names = prompt is not None
        asked = Run(kind="act", name=action, actor=who, by=seat or "", inputs=dict(inputs), note=note, names=names)
        return [draft_of(at, "act", ran_with(at, asked, Typed(**answers)), action=action, actor=who)]

    return _put(place, write(place, seat, work, hand=hand), prompt, seat, hand)


def turn(
    place: Place,
    moment: Literal["begin", "end"],
    period: str = "",
    *,
    seat: str | None = HOST,
    prompt: Prompt | None = None,
    hand: Hand | None = None,
    **answers: Unpack[Answers],
) -> Done:
    """Begin or end a scene, an exchange, or what else the ruleset knows; see `act` for the arguments.

    A procedure that waits for a decision ends where it stands.

    Args:
        period: of what; by default the scene begins, and what began last ends. Of a procedure its name.

    Raises:
        UsageError: it cannot begin or end now, or something waits.
    """

    def work(at: Transaction) -> list[Draft]:
        history, rules = at.history, at.rules
        begun = procedure_in(rules, history) if moment == "end" else None
        if seat not in (HOST, GM):
            how = f"; {what_instead(history, seat)}" if begun is not None else ""
            raise UsageError(f"only the game master can begin or end a period, not {seat}{how}")
        if begun is not None and period in ("", begun.public.action):
            if any(answers.values()):
                raise UsageError(f"to end the {begun.public.action} before it is over takes no answers, dice or cards")
            return [stop_draft(at)]
        refuse_while_pending(history, moment, seat)
        refuse_when_revealed(history)
        name = period or _usual_period(history.state, moment)
        check_period(rules, history.state, period=name, moment=moment)
        return [draft_of(at, moment, ran_with(at, Run(kind=moment, name=name), Typed(**answers)), period=name)]

    return _put(place, write(place, seat, work, hand=hand), prompt, seat, hand)


def _usual_period(state: State, moment: str) -> str:
    if moment == "begin":
        return "scene"
    if not state.periods:
        raise UsageError(f"no period has begun; `{called('table begin', 'scene')}` begins a scene")
    return state.periods[-1]


def answer(
    place: Place,
    *,
    seat: str | None = HOST,
    prompt: Prompt | None = None,
    hand: Hand | None = None,
    at: str = "",
    accepted: str = "",
    is_host: bool = False,
    **answers: Unpack[Answers],
) -> Done:
    """Answer the decision that is waited for, and go on with its action; see `act` for the arguments.

    What is given is for questions that are asked after this answer: what was rolled or drawn stays.

    Args:
        at: the hash of the entry that is answered, or its first digits, when the answer was given elsewhere.
        accepted: of an answer from a file: what was shown of it and taken.
        is_host: whether the host takes it for the seat, and so confirms the results in it.

    Raises:
        UsageError: nothing waits, the decision is another seat's, or the answer is none that is offered.
    """

    decides = any(answers.get(kind) for kind in ("choose", "policies", "auto"))

    def work(now: Transaction) -> list[Draft]:
        asked = require_own(now.history, seat, at=at)
        refuse_sealed(now.history, seat)
        if not decides:
            raise UsageError(f"choose an option: {named('choose')} {asked.label}={options_of(asked)}")
        draft = answer_draft(now, Typed(**answers))
        draft = msgspec.structs.replace(draft, secret=msgspec.structs.replace(draft.secret, accepted=accepted))
        return [draft, *after_answer(now.after(draft))]

    if prompt is not None and not decides:
        history = store.read(place.path)
        rules = rules_of(history, folders=place.folders)
        check_seat(history, seat)
        asked = require_own(history, seat)
        refuse_sealed(history, seat)
        done = _put(place, Done(history, (), rules), prompt, seat, hand)
        if not done.entries:
            raise Left(undecided(asked).raw)
        return done
    return _put(place, write(place, seat, work, hand=hand, is_host=is_host), prompt, seat, hand)


def _put(place: Place, done: Done, prompt: Prompt | None, seat: str | None, hand: Hand | None = None) -> Done:
    """Ask a person the decision that waits; each answer is an entry of its own, and the person may leave at any time.

    The person may also take back the last of these entries, skip such decisions for some time, or do something else
    at the table that decides what waits.
    """
    said: dict[str, list[str]] = {}
    while prompt is not None and done.history.pending is not None:
        pending = done.history.pending
        more = None
        try:
            choose = _typed(done.rules, done.history, prompt, seat)
        except TakenBack:
            more = undo(place, pending.number, seat=seat)
        except SaysInAdvance as says:
            said[f"{says.who}:{says.label}"] = [says.answer]
        except PutAgain:
            more = Done(store.read(place.path), (), done.rules)
        except PassesOn as passes:
            with suppress(TakenBack):  # while its dice were asked for: then the question is asked again
                about: dict[str, Any] = {"seat": passes.seat, "until": passes.until, "is_host": seat is HOST}
                more = let_pass(place, passes.label, hand=hand, **about)
        else:
            if not choose:
                return done
            with suppress(TakenBack):  # while its dice were asked for: then it is as if it had not been given
                more = answer(place, seat=seat, choose=said | choose, prompt=prompt, hand=hand, at=pending.hash)
                return msgspec.structs.replace(more, entries=(*done.entries, *more.entries))
        if more is not None:
            done = msgspec.structs.replace(more, entries=(*done.entries, *more.entries))
    return done


def _typed(rules: Rules, history: History, prompt: Prompt, seat: str | None) -> dict[str, list[str]]:
    """Return what a person answers to the decision of a seat that waits; nothing where it is left undecided."""
    typed: dict[str, list[str]] = {}

    def once(view: View, question: Question) -> str | None:
        choice = prompt(view, question) if not typed and seat in (HOST, view.seat) else None
        if choice is None and question.is_naming:
            choice = NO  # nothing waits for a name
        if choice is not None:
            typed[question.label] = [choice]
        raise NeedsAnswer(question)

    run_on(rules, history, once)
    return typed


def actor_of(history: History, actor: str, seat: str | None, *, is_anybody: bool = False) -> str:
    """Return the actor: the named one, or the only character of the seat; empty where none is needed.

    Args:
        actor: the name given; empty for none.
        is_anybody: whether it makes no difference who acts; then it is the game master's first character, or the first
            of all, for a seat that may act with several.

    Raises:
        UsageError: there is no such character, it is another seat's, or there are several.
    """
    state = history.state
    if actor:
        meant = state.meant(actor)
        if meant is None:
            raise UsageError(unknown("character", actor, state.characters, of="this table"))
        actor = meant
        if seat not in (HOST, GM, state.seat_of(actor)):
            raise UsageError(f"{actor} does not belong to the seat {seat}")
        return actor
    if not state.characters and is_anybody and seat in (HOST, GM):
        return ""  # an actor without a sheet, as at a table of random tables alone
    if not state.characters:
        raise UsageError(f"this table has no characters yet; `{called('table join', sheet='FILE')}` adds one")
    # The game master may act with any character; one is meant without a name only where there is no player.
    own = [name for name in state.characters if seat in (HOST, state.seat_of(name))]
    if len(own) == 1:
        return own[0]
    players = [name for name in own if state.seat_of(name) != GM]
    if len(players) == 1 and seat is HOST:
        return players[0]
    if is_anybody and seat in (HOST, GM):
        own = [name for name in state.characters if state.seat_of(name) == GM] or list(state.characters)
    if is_anybody and own:
        return own[0]
    raise UsageError(f"name the actor: {named('actor')} {'|'.join(own or state.characters) or 'NAME'}")
