"""One action from its inputs to its result: the way shared by `roll`, scenes, batches, odds and the library.

Nothing here prints, prompts or exits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Required, TypedDict, Unpack

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Dealer, GivenDealer, Hand, SeededDealer
from rpgres.engine.described import described_rule
from rpgres.engine.effects import apply_effects
from rpgres.engine.players import NO, Policy, Prompt, Seats, for_every, policy_of
from rpgres.engine.records import AnswerRecord, Pending, Result, answers_of, event_record, pending_of
from rpgres.engine.running import EFFECTS, Broken, Chain, NeedsAnswer, Run, Stop, Trust, refusal
from rpgres.engine.table import Outcome, Table
from rpgres.errors import RpgresError, RuleError, UsageError, in_short, in_words, is_interrupt, named, place_of
from rpgres.model.state import EMPTY, GM, Card, Map, State, slug
from rpgres.parameters.context import ACTOR, OPPONENT, InputContext
from rpgres.parameters.reading import read_inputs
from rpgres.parameters.values import Form, Opposition
from rpgres.rulesets import OUTCOME_ONLY, Rules, unknown
from rpgres.rulesets.effects import with_tracks

if TYPE_CHECKING:
    from rpgres.model.cards import Stack
    from rpgres.rulesets.sheets import SheetOrders
    from rpgres.toml.reading import Source


Placed = tuple[str, tuple[str, ...], str]  # cards that somebody says lie in a pile: the pile, the cards, the option


class Prepared(msgspec.Struct, frozen=True):
    """An action whose inputs are read: ready to be run, any number of times.

    Attributes:
        rules: the ruleset in play.
        action: the action's name.
        state: what lies on the table before it.
        actor: who acts.
        arguments: what the rule takes.
        inputs: what was typed, for the record.
        placed: cards that somebody says lie in a pile before the action, as (pile, cards, option).
        lump: which cards are alike to the rule, for odds; None where no two kinds are.
        sheets: the texts of the sheets that were read, by the name that was typed.
        trust: what of it no sheet has, and how that is treated; None where everything typed counts.
        orders: the standing orders on the sheets that were read, by character.
        undealt: hands that are dealt when the rule turns to them, for odds; see `engine.hidden`.
    """

    rules: Rules
    action: str
    state: State
    actor: str
    arguments: dict[str, Any]
    inputs: dict[str, Any]
    placed: tuple[Placed, ...] = ()
    lump: Callable[[Card], Hashable] | None = None
    sheets: Mapping[str, Source] = EMPTY
    trust: Trust | None = None
    orders: Mapping[str, SheetOrders] = EMPTY
    undealt: Mapping[str, tuple[str, int]] = EMPTY

    def lump_for(self, asked: str) -> Callable[[Card], Hashable] | None:
        """Return which cards are alike to the rule where odds are asked this question (`QUESTIONS`)."""
        return self.lump if asked in self.rules.ruleset.lumps_hold.get(self.action, OUTCOME_ONLY) else None


ORDERS_FILE = ".toml"  # how the name of a policy ends that is a file of standing orders
REFUSED = Outcome("", texts=("The game master refuses the claim; the action is not done.",))


def prepare(
    rules: Rules,
    action: str,
    inputs: Mapping[str, Any],
    *,
    state: State | None = None,
    actor: str = "",
    beside: Path | None = None,
    confined: bool = False,
    sheets: Mapping[str, Source] = EMPTY,
    undealt: Mapping[str, tuple[str, int]] = EMPTY,
) -> Prepared:
    """Return an action with its inputs read.

    Args:
        rules: the ruleset in play.
        action: the action's name.
        inputs: values by parameter name, as typed or scripted.
        state: the table so far; empty by default.
        actor: who acts, somebody of that state; by default whoever `sheet` describes.
        beside: the folder in which sheets are sought first.
        confined: whether sheets may only be named by plain file names, for untrusted inputs.
        sheets: the texts of sheets by the name that is typed, in place of what the files say now.
        undealt: hands of that state that are still to be dealt; one whose cards are typed is not.

    Raises:
        UsageError: the action or an input is unknown, missing or impossible.
        FileError: a sheet is missing or faulty.
    """
    rules.require_action(action)
    context = InputContext(
        rules,
        with_tracks(rules, state if state is not None else State()),
        actor=actor or ACTOR,
        beside=beside,
        confined=confined,
        sheets=dict(sheets),
    )
    arguments = read_inputs(context, action, inputs)
    plain = {key.replace("_", "-"): value for key, value in inputs.items() if value is not None}
    state, placed, lump = context.state, tuple(context.placed), None
    if rules.file.piles:
        from rpgres.engine.piles import lay_out

        state, lump = lay_out(rules, state), _card_equivalence(rules, action, arguments, state)
    typed = {pile for pile, _, _ in placed}
    return Prepared(
        rules,
        action,
        state,
        context.actor,
        arguments,
        plain,
        placed,
        lump,
        context.sheets,
        orders=context.orders,
        undealt=Map({hand: one for hand, one in undealt.items() if hand not in typed}) if undealt else EMPTY,
    )


def _card_equivalence(
    rules: Rules, action: str, arguments: Mapping[str, Any], state: State
) -> Callable[[Card], Hashable] | None:
    """Return which cards are alike to a rule with these arguments, as its ruleset registered it."""
    lump = rules.ruleset.lumps.get(action)
    if lump is None:
        return None
    keys: dict[str, Hashable] = {}
    told = dict(arguments)

    def key(card: Card) -> Hashable:
        if card.code not in keys:
            if not keys and _takes_state(lump):
                told["state"] = state
            keys[card.code] = lump(rules, card, **told)
        return keys[card.code]

    return key


def _takes_state(lump: Callable[..., Hashable]) -> bool:
    """Tell whether a function that says which cards are alike wants to know of the table."""
    from inspect import signature

    return "state" in signature(lump).parameters


def play(
    prepared: Prepared,
    *,
    dealer: Dealer,
    players: Seats,
    asked: str = EFFECTS,
    follow: Callable[[Table, Chain, Any], Any] | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> tuple[Outcome, Run]:
    """Run an action once and return its outcome, with the run itself for the events.

    Args:
        prepared: the action.
        dealer, players: who answers.
        asked: what the run is for; see `Run.asked`.
        follow: who follows chains of steps, where the rule does not go along them itself.
        is_enough: of a procedure, tells after a turn whether that one's outcome is what is asked for.

    Raises:
        NeedsAnswer, Settled: it ended early; the exception carries the run as `run`.
        RuleError: the rule raised something that is not meant for users, or broke its contract with the table.
    """
    rules, trust = prepared.rules, prepared.trust
    is_procedure = prepared.action in rules.ruleset.procedures
    asked = EFFECTS if is_procedure else asked  # the outcome of a turn is not the outcome that is asked for
    lump = prepared.lump_for(asked) if prepared.lump is not None else None
    run = Run(rules, prepared.state, dealer, players, asked, lump=lump, follow=follow, trust=trust)
    run.undealt = prepared.undealt
    rule = rules.ruleset.actions.get(prepared.action) or described_rule(rules, prepared.action)
    try:
        if trust is not None and not run.claim(trust.by, trust.claims):
            return REFUSED, run
        if prepared.placed:
            _lay(run, prepared.placed)
        table = Table(run, rules)
        outcome = rule(table, prepared.state.characters[prepared.actor], **prepared.arguments)
        if is_procedure:
            from rpgres.engine.procedures import play_through

            outcome = play_through(table, prepared.action, outcome, is_enough=is_enough)
        if type(outcome) is not Outcome or (outcome.band not in rules.file.bands and is_enough is None):
            raise Broken(f"it returned {in_short(repr(outcome))}, not an outcome with a band of the ruleset")
    except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything
        raise fault_of(error, run, f"the rule {rules.id} {prepared.action}") from error.__cause__
    if run.fault is not None:
        run.fault.run = run
        raise run.fault
    return outcome, run


def _lay(run: Run, placed: Sequence[Placed]) -> None:
    """Lay the cards that somebody says lie in piles; see `cards.place`."""
    from rpgres.engine import cards

    for number, (pile, texts, option) in enumerate(placed):
        later = [text for _, others, _ in placed[number + 1 :] for text in others]
        cards.place(run, pile, texts, option=option, elsewhere=later)


def fault_of(error: BaseException, run: Run, told: str) -> BaseException:
    """Return what to raise when a ruleset's code did not return: what is wrong with it, as its own fault.

    What is no fault of the code comes back as it is: a run that ended early, what is meant for users, an interrupt.
    All but the last now carry the run.

    Args:
        error: what was raised.
        run: where it was raised.
        told: what the code is, for messages.
    """
    fault: RpgresError
    match error:
        case Broken():
            if run.fault is not None:
                fault = run.fault
            else:
                place = place_of(error) if error.reason == "endless" else ""
                why = f"{told} cannot be played: {error.told}{place}"
                fault = run.rules.blamed(RuleError(why, reason=error.reason))
        case Stop() | RpgresError():
            error.run = run
            return run.rules.blamed(error) if isinstance(error, RuleError) else error
        case _ if is_interrupt(error):
            return error
        case _:
            place = place_of(error)
            fault = run.rules.blamed(RuleError(f"{told} failed: {in_words(error)}{place}", place=place))
    fault.run = run
    fault.__cause__ = error
    return fault


@contextmanager
def in_run(run: Run) -> Iterator[None]:
    """Have errors carry the run that they are about."""
    try:
        yield
    except RpgresError as error:
        error.run = run
        raise


def with_piles(prepared: Prepared, *, asked: str) -> Prepared:
    """Return an action with the cards that somebody says lie somewhere laid there, where that leaves nothing to chance.

    Whoever runs it many times to answer one question (`QUESTIONS`) spares doing it each time.

    Raises:
        UsageError: there is no such card, or it lies somewhere else.
    """
    if not prepared.placed:
        return prepared
    dealer = _Unlaid()
    run = Run(prepared.rules, prepared.state, dealer, Seats(), lump=prepared.lump_for(asked))
    _lay(run, prepared.placed)
    if dealer.was_asked:
        return prepared
    return msgspec.structs.replace(prepared, state=run.state, placed=())


class _Unlaid(SeededDealer):
    """A dealer that answers only what is all the same to the rule, and notes whether it was asked anything else."""

    __slots__ = ("was_asked",)

    def __init__(self) -> None:
        super().__init__(Streams(""))
        self.was_asked = False

    def draw(self, cards: tuple[str, ...], stack: Stack, label: str, count: int) -> str:
        from rpgres.model.cards import classes

        firsts, _ = classes(cards, stack)
        self.was_asked |= len(firsts) > 1
        return firsts[0]


def policies_of(
    prepared: Prepared,
    named: Mapping[str, str],
    *,
    auto: bool = False,
    with_orders: bool = False,
    files: bool = False,
) -> dict[str, Policy]:
    """Return the policies of an action by character, everybody's under an empty name.

    Standing orders on sheets decide for those who have no policy of their own, and before everybody's.

    Args:
        prepared: the action, which says who is at the table.
        named: policy by character; `actor` and `opponent` stand for whoever that is, an empty name for everybody.
        auto: whether the ruleset's first policy answers for whoever has none.
        with_orders: whether the orders on sheets count though nobody asks for a policy.
        files: whether a name that ends in `.toml` is that of a file of standing orders.

    Raises:
        UsageError: there is no such policy or character.
        FileError: a file of orders cannot be read, or orders are faulty.
    """
    rules = prepared.rules
    policies = {"": policy_of(rules)} if auto else {}
    of_files: dict[str, str] = {}
    for who, name in named.items():
        who = _named(prepared, who, nobody=GM) if who else ""
        if files and name.endswith(ORDERS_FILE):
            of_files[who] = name
        else:
            policies[who] = policy_of(rules, name)
    if not of_files and not (prepared.orders and (with_orders or policies)):
        return policies
    from rpgres.engine.deciders import with_standing

    return with_standing(policies, of_files, prepared.orders, rules=rules, state=prepared.state)


def answers_to(prepared: Prepared, choose: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return answers to decisions with the names of those whose they are: by `LABEL`, or by `WHO:LABEL`.

    Args:
        prepared: the action, which says who is at the table.
        choose: answers as typed, in which `actor` and `opponent` stand for whoever that is.

    Raises:
        UsageError: there is no such character.
    """
    found: dict[str, list[str]] = {}
    for key, answers in choose.items():
        who, sign, label = key.rpartition(":")
        key = f"{_named(prepared, who)}:{label}" if sign else key
        found.setdefault(key, []).extend(answers)
    return found


def _named(prepared: Prepared, who: str, *, nobody: str = OPPONENT) -> str:
    """Return a character by name, or who is meant by `actor` or `opponent`; `nobody` for an opponent without a sheet.

    Raises:
        UsageError: there is no such character.
    """
    forms = (one for value in prepared.arguments.values() if isinstance(value, tuple) for one in value)
    known = dict.fromkeys((*prepared.state.characters, *(one.name for one in forms if isinstance(one, Form))))
    if who not in known and who not in (ACTOR, OPPONENT, GM):
        names = dict.fromkeys((*known, ACTOR, OPPONENT, GM))
        raise UsageError(unknown("character", who, names, of=f"the table of {prepared.rules.id} {prepared.action}"))
    return {ACTOR: prepared.actor, OPPONENT: _opponent(prepared) or nobody}.get(who, who)


def _opponent(prepared: Prepared) -> str:
    """Return who opposes by the inputs: the first opposer with a sheet, if there is one."""
    for argument in prepared.arguments.values():
        for one in argument if isinstance(argument, tuple) else (argument,):
            if isinstance(one, Opposition) and one.character:
                return one.character
    return ""


class Answering(TypedDict, total=False):
    """Who answers an action, or the beginning or end of a period, and what is kept of it.

    Attributes:
        streams: the seed's numbers.
        step: which step of a scene or table this is, from 0.
        given: results read off real dice, by label.
        choose: answers to decisions, by label.
        policies: who answers what was not chosen; `""` for everybody.
        prompt: asks a person what nobody else answered.
        note: carried into the result.
        identify: whether the result names its rules exactly, which means reading all their files; so it is by default.
        players: who answers, in place of the script, the policies and the prompt.
        dealer: who answers chance, in place of what is given; whoever has it sees to what nothing asked for.
        hand: asks somebody for results of real dice and cards that were not given.
    """

    streams: Required[Streams]
    step: int
    given: Mapping[str, Sequence[str]]
    choose: Mapping[str, Sequence[str]]
    policies: Mapping[str, Policy]
    prompt: Prompt | None
    note: str | None
    identify: bool
    players: Seats | None
    dealer: GivenDealer | None
    hand: Hand | None


def dealer_of(by: Answering) -> GivenDealer:
    """Return who answers chance."""
    seeded = SeededDealer(by["streams"], step=by.get("step", 0))
    return by.get("dealer") or GivenDealer(by.get("given", EMPTY), then=seeded, hand=by.get("hand"))


def players_of(by: Answering, choose: Mapping[str, Sequence[str]]) -> Seats:
    """Return who answers decisions: a script before all others."""
    return by.get("players") or Seats(choose, policies=by.get("policies", EMPTY), prompt=by.get("prompt"))


def identity_of(by: Answering, rules: Rules) -> dict[str, Any]:
    """Return what a result says of the rules it was made by."""
    return rules.layers.identity() if by.get("identify", True) else {"version": rules.file.version}


def run(prepared: Prepared, **by: Unpack[Answering]) -> tuple[Result | Pending, State]:
    """Return what comes of an action, or the decision it waits for; and the state after it.

    While it is pending the state is the one before it; of a procedure, the one that its finished turns left.

    Args:
        prepared: the action.
        by: who answers; see `Answering`.

    Raises:
        UsageError: an answer is impossible, a label unknown, or a given result was never asked for.
        RuleError: the ruleset's code failed; the message names the distribution that brought it.
    """
    try:
        return _run(prepared, by)
    except RuleError as error:
        raise prepared.rules.blamed(error)  # noqa: B904  # it is the same error


def _run(prepared: Prepared, by: Answering) -> tuple[Result | Pending, State]:
    rules, choose = prepared.rules, by.get("choose", EMPTY)
    if choose or by.get("given"):
        from rpgres.engine.labels import check_labels

        check_labels(rules, prepared.action, given=by.get("given", EMPTY), choose=choose)
    dealer, seats = dealer_of(by), players_of(by, answers_to(prepared, choose))
    try:
        outcome, done = play(prepared, dealer=dealer, players=seats)
    except NeedsAnswer as needs:
        with in_run(needs.run):
            waiting = _waiting(prepared, by, needs, seats)
            return waiting, needs.run.state if needs.run.turn else prepared.state
    with in_run(done):
        return _finished(prepared, by, outcome, done, dealer, seats)


def _waiting(prepared: Prepared, by: Answering, needs: NeedsAnswer, seats: Seats) -> Pending:
    """Return the decision that an action waits for."""
    _unused(needs.run, seats, is_over=False)
    _check_repeats(prepared, by, needs.run, waits_for=needs.question.label)
    pending = pending_of(
        prepared.rules,
        needs,
        action=prepared.action,
        actor=prepared.actor,
        inputs=prepared.inputs,
        seed=by["streams"].seed,
        note=by.get("note"),
    )
    if by.get("players") is not None:  # at a lasting table every seat answers for itself
        return pending
    return _to_be_resumed(pending, needs.run, unused=list(_left(seats, is_over=False)))


def _finished(
    prepared: Prepared, by: Answering, outcome: Outcome, done: Run, dealer: GivenDealer, seats: Seats
) -> tuple[Result, State]:
    """Return the result of an action that came to its end, and the state after it."""
    rules, action = prepared.rules, prepared.action
    is_refused = outcome is REFUSED
    for label, value in dealer.unused() if by.get("dealer") is None and not is_refused else ():
        _check_repeats(prepared, by, done)
        raise UsageError(
            f"{named('given')} {label}={value} was not used: {rules.id} {action} did not roll {label!r} again"
        )
    unused = _unused(done, seats)
    if not is_ours(rules):
        from rpgres.engine import contract

        contract.check_declared(prepared, done.events)
        if not is_refused:
            contract.check_outcome(prepared, outcome)
    result = result_of(prepared, by, outcome, done, unused)
    if prepared.trust is not None and is_refused:
        return result, prepared.trust.before
    return result, apply_effects(rules, done.state, outcome)


def _check_repeats(prepared: Prepared, by: Answering, done: Run, *, waits_for: str = "") -> None:
    """Check that the rule of a third party asks the same once more when it is given the same answers."""
    if not is_ours(prepared.rules):
        from rpgres.engine.contract import check_repeats

        check_repeats(prepared, done.events, streams=by["streams"], step=by.get("step", 0), waits_for=waits_for)


def result_of(prepared: Prepared, by: Answering, outcome: Outcome, done: Run, unused: list[AnswerRecord]) -> Result:
    """Return the record of how an action ended, with nothing left out."""
    rules = prepared.rules
    return Result(
        ruleset=rules.id,
        rules=identity_of(by, rules),
        action=prepared.action,
        variant=prepared.arguments.get("variant"),
        actor=prepared.actor,
        inputs=prepared.inputs,
        answers=list(answers_of(done.events, single=done.single)),
        outcome=outcome.band or None,
        also=(outcome.band and rules.file.bands[outcome.band].also) or None,
        success=outcome.success,
        margin=outcome.margin,
        total=outcome.total,
        opposition=outcome.opposition,
        effects=[dict(effect) for effect in (*done.applied, *outcome.effects)],
        texts=list(outcome.texts),
        events=[event_record(event) for event in done.events],
        switches=rules.chosen,
        seed=by["streams"].seed,
        unused=unused,
        note=by.get("note"),
        details=dict(outcome.details),
    )


def _unused(run: Run, seats: Seats, *, is_over: bool = True) -> list[AnswerRecord]:
    """Return the scripted answers that no question took; conditional ones are no error.

    Args:
        is_over: whether the run has ended; before that an answer may still be for a later question of its label.

    Raises:
        ChoiceError: one was for a question that came up with nothing to choose from, and says otherwise.
    """
    unused = []
    for answer in _left(seats):
        if seats.script.take_single(answer.label, answer.who, answer.value):
            continue
        question = run.foregone.get(answer.label)
        is_named = question is not None and question.options and all(one is not question for one in seats.script.single)
        if question is None or is_named or (answer.who and answer.who != question.who):
            unused.append(answer)
            continue
        value = for_every(answer.value, question) or answer.value
        only = question.options[0].name if question.options else NO
        if not is_over and question.options:
            continue
        if value != NO and only not in (value, slug(value)):
            raise refusal(question, value)
    return unused


def _left(seats: Seats, *, is_over: bool = True) -> Iterator[AnswerRecord]:
    """Yield what is left of a script; see `Script.unused`."""
    for key, value in seats.unused(is_over=is_over):
        who, _, label = key.rpartition(":")
        yield AnswerRecord(label, "decision", value, who)


def is_ours(rules: Rules) -> bool:
    """Tell whether a ruleset ships with rpgres: its code is held to the contract by our own tests, once and for all."""
    origin = rules.ruleset.origin
    return origin is not None and origin.builtin


def _to_be_resumed(pending: Pending, run: Run, *, unused: list[AnswerRecord]) -> Pending:
    """Return what waits with all that it takes to run it up to the same question again."""
    asked = pending.question
    if asked.label in run.single:
        asked = msgspec.structs.replace(asked, key=f"{asked.who}:{asked.label}")
    answers = list(answers_of(run.events, single=run.single))
    return msgspec.structs.replace(pending, answers=answers, question=asked, unused=unused)
