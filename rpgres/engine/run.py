"""One action from its inputs to its result: the way shared by `roll`, scenes, batches, odds and the library.

Nothing here prints, prompts or exits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rpgres.dice.seeds import Streams
from rpgres.engine.dealers import Dealer, GivenDealer, SeededDealer
from rpgres.engine.parameters import ACTOR, OPPONENT, Form, Opposition, Setting, read_inputs
from rpgres.engine.players import COMMON_POLICIES, NO, Answer, Players, Policy, Prompt, Seats
from rpgres.engine.records import AnswerRecord, Pending, Result, answers_of, event_record, pending_of, resume_command
from rpgres.engine.table import (
    EFFECTS,
    PLACE,
    Broken,
    Chain,
    Decided,
    Drawn,
    Event,
    NeedsAnswer,
    Outcome,
    Rolled,
    Stop,
    Table,
    Trust,
    apply_effects,
    not_deterministic,
    refusal,
)
from rpgres.errors import RpgresError, RuleError, UsageError, in_short, in_words, is_interrupt, place_of
from rpgres.model.state import EMPTY, GM, Map, State, slug
from rpgres.rulesets import OUTCOME_ONLY, Rule, Rules, blamed, unknown

if TYPE_CHECKING:
    from rpgres.model.cards import Card, Stack
    from rpgres.toml.reading import Source


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
    """

    rules: Rules
    action: str
    state: State
    actor: str
    arguments: dict[str, Any]
    inputs: dict[str, Any]
    placed: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    lump: Callable[[Card], Hashable] | None = None
    sheets: Mapping[str, Source] = EMPTY
    trust: Trust | None = None

    def lump_for(self, asked: str) -> Callable[[Card], Hashable] | None:
        """Return which cards are alike to the rule where odds are asked this question (`QUESTIONS`)."""
        return self.lump if asked in self.rules.ruleset.lumps_hold.get(self.action, OUTCOME_ONLY) else None


REFUSED = Outcome("", texts=("The game master refuses it, and it is not done.",))


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
) -> Prepared:
    """Return an action with its inputs read.

    Args:
        rules: the ruleset in play.
        action: the action's name.
        inputs: values by parameter name, as typed or scripted.
        state: the table so far; empty by default.
        actor: who acts, somebody of that state; by default whoever `sheet` describes.
        beside: the folder in which sheets are sought first.
        confined: whether sheets may only be named by plain file names, for inputs that strangers typed.
        sheets: the texts of sheets by the name that is typed, in place of what the files say now.

    Raises:
        UsageError: the action or an input is unknown, missing or impossible.
        FileError: a sheet is missing or faulty.
    """
    rules.require_action(action)
    setting = Setting(
        rules,
        state if state is not None else State(),
        actor=actor or ACTOR,
        beside=beside,
        confined=confined,
        sheets=dict(sheets),
    )
    arguments = read_inputs(setting, action, inputs)
    plain = {key.replace("_", "-"): value for key, value in inputs.items() if value is not None}
    state, placed, lump = setting.state, tuple(setting.placed), None
    if rules.file.piles:
        from rpgres.engine.piles import lay_out

        state, lump = lay_out(rules, state), _lump(rules, action, arguments, state)
    return Prepared(rules, action, state, setting.actor, arguments, plain, placed, lump, setting.sheets)


def _lump(rules: Rules, action: str, arguments: Mapping[str, Any], state: State) -> Callable[[Card], Hashable] | None:
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
    players: Players,
    asked: str = EFFECTS,
    follow: Callable[[Table, Chain, Any], Any] | None = None,
) -> tuple[Outcome, Table]:
    """Run an action once and return its outcome, with the table it was played at for the events.

    Args:
        prepared: the action.
        dealer, players: who answers.
        asked: what the run is for; see `Table.asked`.
        follow: who follows chains of steps, where the rule does not go along them itself.

    Raises:
        NeedsAnswer, Settled: the run ended early (see `table`); the exception carries the table as `table`.
        RuleError: the rule raised something that is not meant for users, or broke its contract with the table.
    """
    rules = prepared.rules
    trust, lump = prepared.trust, prepared.lump_for(asked)
    table = Table(rules, prepared.state, dealer, players, asked, lump=lump, follow=follow, trust=trust)
    rule = rules.ruleset.actions.get(prepared.action) or _described(prepared.action)
    try:
        if trust is not None and not table.claim(trust.by, trust.claims):
            return REFUSED, table
        for number, (pile, cards, option) in enumerate(prepared.placed):
            later = [text for _, texts, _ in prepared.placed[number + 1 :] for text in texts]
            table.place(pile, cards, option=option, elsewhere=later)
        outcome = rule(table, prepared.state.characters[prepared.actor], **prepared.arguments)
        if type(outcome) is not Outcome or outcome.band not in rules.file.bands:
            raise Broken(f"it returned {in_short(repr(outcome))}, no outcome with a band of the ruleset")
    except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything
        raise fault_of(error, table, f"the rule {rules.id} {prepared.action}") from error.__cause__
    if table.fault is not None:
        table.fault.table = table
        raise table.fault
    return outcome, table


def fault_of(error: BaseException, table: Table, told: str) -> BaseException:
    """Return what to raise when a ruleset's code did not return: what is wrong with it, as its own fault.

    What is no fault of the code comes back as it is: a run that ended early, what is meant for users, an interrupt.
    All but the last now carry the table.

    Args:
        error: what was raised.
        table: where it was played.
        told: what the code is, for messages.
    """
    fault: RpgresError
    match error:
        case Broken():
            if table.fault is not None:
                fault = table.fault
            else:
                fault = blamed(RuleError(f"{told} cannot be played: {error.told}"), table.rules.ruleset)
        case Stop() | RpgresError():
            error.table = table
            return blamed(error, table.rules.ruleset) if isinstance(error, RuleError) else error
        case _ if is_interrupt(error):
            return error
        case _:
            place = place_of(error)
            fault = blamed(RuleError(f"{told} failed: {in_words(error)}{place}", place=place), table.rules.ruleset)
    fault.table = table
    fault.__cause__ = error
    return fault


@contextmanager
def at_table(table: Table) -> Iterator[None]:
    """Have errors carry the table at which the run was that they are about."""
    try:
        yield
    except RpgresError as error:
        error.table = table
        raise


def laid(prepared: Prepared, *, asked: str) -> Prepared:
    """Return an action with the cards that somebody says lie somewhere laid there, where that leaves nothing to chance.

    Whoever runs it many times to answer one question (`QUESTIONS`) spares doing it each time.

    Raises:
        UsageError: there is no such card, or it lies somewhere else.
    """
    if not prepared.placed:
        return prepared
    dealer = _Unlaid()
    table = Table(prepared.rules, prepared.state, dealer, Seats(), lump=prepared.lump_for(asked))
    for pile, cards, option in prepared.placed:
        table.place(pile, cards, option=option)
    if dealer.was_asked:
        return prepared
    return msgspec.structs.replace(prepared, state=table.state, placed=())


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


def _described(action: str) -> Rule:
    """Return the rule of an action that needs no code, because its data describe it."""
    from functools import partial

    from rpgres.engine.declarative import play_described

    return partial(play_described, action)


def chance_help(label: str) -> str:
    """Return the help of a label of chance that the ruleset does not describe: an outcome table's, or `place`."""
    return "which card is meant, where its sign was left out" if label == PLACE else "what an outcome rolls"


def labels_of(rules: Rules, action: str) -> dict[str, str]:
    """Return every label an action can ask, with its kind: those its rule declares and those of its outcome tables."""
    labels = rules.file.labels
    found: dict[str, str] = {
        label: labels[label].kind if label in labels else "chance" for label in rules.file.actions[action].labels
    }
    if any(parameter.kind == "cards" for parameter in rules.parameters(action).values()):
        found[PLACE] = "chance"
    for table in rules.file.actions[action].tables:
        for row in rules.table(table).values():
            found |= dict.fromkeys(row.rolls, "chance")
            found |= _asked(rules, row.ask)
    return found


def _asked(rules: Rules, ask: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for label, question in ask.items():
        found[label] = "decision"
        shown = rules.menu(question.menu) if question.menu else question
        for option in shown.options.values():
            found |= dict.fromkeys(option.rolls, "chance")
            found |= _asked(rules, option.ask)
    return found


def check_labels(rules: Rules, action: str, *, given: Mapping[str, Any], choose: Mapping[str, Any]) -> None:
    """Check that an action can ask every label that answers were typed for.

    Raises:
        UsageError: it cannot ask one; the message names the nearest.
    """
    if not given and not choose:
        return
    labels = labels_of(rules, action)
    asked = [key.rpartition(":")[2] for key in choose]
    for answers, kind, option in ((given, "chance", "--given"), (asked, "decision", "--choose")):
        for label in answers:
            if labels.get(label) == kind:
                continue
            if label in labels:
                other = "--choose" if option == "--given" else "--given"
                raise UsageError(f"{label!r} is a {labels[label]} label: answer it with {other}, not {option}")
            mine = [name for name, its in labels.items() if its == kind]
            raise UsageError(unknown(f"{kind} label", label, mine, of=f"the action {rules.id} {action}"))


def policies_of(prepared: Prepared, named: Mapping[str, str], *, auto: bool = False) -> dict[str, Policy]:
    """Return the policies of an action by character, everybody's under an empty name.

    Args:
        prepared: the action, which says who is at the table.
        named: policy by character; `actor` and `opponent` stand for whoever that is, an empty name for everybody.
        auto: whether the ruleset's first policy answers for whoever has none.

    Raises:
        UsageError: there is no such policy or character.
    """
    rules = prepared.rules
    policies = {"": policy_of(rules)} if auto else {}
    for who, name in named.items():
        policies[_named(prepared, who, nobody=GM) if who else ""] = policy_of(rules, name)
    return policies


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


def policy_of(rules: Rules, name: str = "") -> Policy:
    """Return a policy by name; without one, the one of `--auto`.

    Raises:
        UsageError: the ruleset has no such policy.
    """
    policies = {**COMMON_POLICIES, **rules.ruleset.policies}
    found = policies.get(name or default_policy(rules))
    if found is None:
        raise UsageError(unknown("policy", name, policies, of=f"the ruleset {rules.id}"))
    return found


def default_policy(rules: Rules) -> str:
    """Return the name of the policy of `--auto`: the ruleset's first, or one that every ruleset has.

    A ruleset that is data alone says with `prefer` what is liked; of another without policies, nothing is known.
    """
    return next(iter(rules.ruleset.policies), "preferred" if rules.file.standalone else "uniform")


def run(
    prepared: Prepared,
    *,
    streams: Streams,
    step: int = 0,
    given: Mapping[str, Sequence[str]] = EMPTY,
    choose: Mapping[str, Sequence[str]] = EMPTY,
    policies: Mapping[str, Policy] = EMPTY,
    prompt: Prompt | None = None,
    note: str | None = None,
    identify: bool = True,
    players: Seats | None = None,
    dealer: GivenDealer | None = None,
) -> tuple[Result | Pending, State]:
    """Return what comes of an action, or the decision it waits for; and the state after it (before it, while pending).

    Args:
        prepared: the action.
        streams: the seed's numbers.
        step: which step of a scene this is, from 0.
        given: results read off real dice, by label.
        choose: answers to decisions, by label.
        policies: who answers what was not chosen; `""` for everybody.
        prompt: asks a person what nobody else answered.
        note: carried into the result.
        identify: whether the result names its rules exactly, which means reading all their files.
        players: who answers, in place of the script, the policies and the prompt.
        dealer: who answers chance, in place of what is given; whoever has it sees to what nothing asked for.

    Raises:
        UsageError: an answer is impossible, a label unknown, or a given result was never asked for.
        RuleError: the ruleset's code failed; the message names the distribution that brought it.
    """
    try:
        return _run(
            prepared,
            streams=streams,
            step=step,
            given=given,
            choose=choose,
            policies=policies,
            prompt=prompt,
            note=note,
            identify=identify,
            players=players,
            dealer=dealer,
        )
    except RuleError as error:
        raise blamed(error, prepared.rules.ruleset)  # noqa: B904  # it is the same error


def _run(
    prepared: Prepared,
    *,
    streams: Streams,
    step: int,
    given: Mapping[str, Sequence[str]],
    choose: Mapping[str, Sequence[str]],
    policies: Mapping[str, Policy],
    prompt: Prompt | None,
    note: str | None,
    identify: bool,
    players: Seats | None,
    dealer: GivenDealer | None,
) -> tuple[Result | Pending, State]:
    rules, action = prepared.rules, prepared.action
    check_labels(rules, action, given=given, choose=choose)
    dealt = GivenDealer(given, then=SeededDealer(streams, step=step)) if dealer is None else dealer
    seats = Seats(answers_to(prepared, choose), policies=policies, prompt=prompt) if players is None else players
    try:
        outcome, table = play(prepared, dealer=dealt, players=seats)
    except NeedsAnswer as needs:
        with at_table(needs.table):
            _unused(needs.table, seats, is_over=False)
            _check_repeats(prepared, needs.table.events, streams=streams, step=step, waits_for=needs.question.label)
            pending = _pending(prepared, needs, seed=streams.seed, note=note)
            if players is None:  # at a lasting table every seat answers for itself
                pending = _to_be_resumed(prepared, pending, needs.table, unused=list(_left(seats)))
        return pending, prepared.state
    with at_table(table):
        _check_declared(prepared, table.events)
        for label, value in dealt.unused() if dealer is None and outcome is not REFUSED else ():
            _check_repeats(prepared, table.events, streams=streams, step=step)
            raise UsageError(f"--given {label}={value} was not used: {rules.id} {action} did not roll {label!r} again")
        unused = _unused(table, seats)
        if not is_ours(rules) and outcome is not REFUSED:
            _check_outcome(prepared, outcome)
        identity = rules.identity() if identify else {"version": rules.file.version}
        seed = streams.seed
        result = _result(prepared, outcome, table, identity=identity, seed=seed, unused=unused, note=note)
        if prepared.trust is not None and outcome is REFUSED:
            return result, prepared.trust.before
        return result, apply_effects(rules, table.state, outcome)


def _unused(table: Table, seats: Seats, *, is_over: bool = True) -> list[AnswerRecord]:
    """Return the scripted answers that no question took; conditional ones are no error.

    Args:
        is_over: whether the run has ended; before that an answer may still be for a later question of its label.

    Raises:
        ChoiceError: one was for a question that came up with nothing to choose from, and says otherwise.
    """
    unused = []
    for answer in _left(seats):
        if seats.take_single(answer.label, answer.who, answer.value):
            continue
        question = table.foregone.get(answer.label)
        is_named = question is not None and question.options and all(one is not question for one in seats.single)
        if question is None or is_named or (answer.who and answer.who != question.who):
            unused.append(answer)
            continue
        value = answer.value
        only = question.options[0].name if question.options else NO
        if not is_over and question.options:
            continue
        if value != NO and only not in (value, slug(value)):
            raise refusal(question, value)
    return unused


def _left(seats: Seats) -> Iterator[AnswerRecord]:
    """Yield what is left of a script."""
    for key, value in seats.unused():
        who, _, label = key.rpartition(":")
        yield AnswerRecord(label, "decision", value, who)


def is_ours(rules: Rules) -> bool:
    """Tell whether a ruleset ships with rpgres: its code is held to the contract by our own tests, once and for all."""
    origin = rules.ruleset.origin
    return origin is not None and origin.builtin


def _check_repeats(
    prepared: Prepared, events: Sequence[Event], *, streams: Streams, step: int, waits_for: str = ""
) -> None:
    """Check that a rule asks the same once more when it is given the same answers, as whoever resumes it will.

    Args:
        prepared: the action.
        events: what happened in the run that is repeated.
        streams, step: the chance of that run.
        waits_for: the decision at which it ended early.

    Raises:
        RuleError: it asked something else.
    """
    if is_ours(prepared.rules):
        return
    first = list(answers_of(events, single=labels_of(prepared.rules, prepared.action)))
    scripts: dict[str, dict[str, list[str]]] = {"chance": {}, "decision": {}}
    for answer in first:
        scripts[answer.kind].setdefault(answer.key, []).append(answer.value)
    dealer = GivenDealer(scripts["chance"], then=SeededDealer(streams, step=step))
    asks = ""
    try:
        from rpgres.engine.waiting import Waiting, always

        # Everything that was asked so far is answered, optional moments included, so the next question is the end.
        # So are claims, which go by who answered.
        is_recalled = waits_for or prepared.trust is not None
        players = Waiting(waits=always, recalled=_decided(events)) if is_recalled else Seats(scripts["decision"])
        _, table = play(prepared, dealer=dealer, players=players)
    except NeedsAnswer as needs:
        table, asks = needs.table, needs.question.label
    except UsageError as error:  # an answer that fitted the first time
        raise _strayed(
            prepared, f"run twice on the same answers it would not take one of them: {error.message}"
        ) from error
    again = list(answers_of(table.events))
    for one, other in zip_longest(_asked_in_order(first, waits_for), _asked_in_order(again, asks), fillvalue="nothing"):
        if one != other:
            raise _strayed(prepared, not_deterministic(one, other))


def _decided(events: Sequence[Event]) -> dict[tuple[str, str], list[Answer]]:
    """Return every decision by its label and by who took it, in order."""
    decided: dict[tuple[str, str], list[Answer]] = {}
    for event in events:
        if isinstance(event, Decided):
            decided.setdefault((event.label, event.who), []).append(Answer(event.answer, event.means))
    return decided


def _asked_in_order(answers: Sequence[AnswerRecord], waits_for: str) -> Iterator[str]:
    for answer in answers:
        yield repr(answer.label)
    if waits_for:
        yield repr(waits_for)


def _strayed(prepared: Prepared, told: str) -> RuleError:
    return RuleError(f"the rule {prepared.rules.id} {prepared.action} cannot be played: {told}")


def _check_outcome(prepared: Prepared, outcome: Outcome) -> None:
    """Check that what a rule returned can be printed, kept and compared; `Table.settle` returns nothing else."""
    from rpgres.model.serialization import unkept

    fault = ""
    for name, kinds in _OUTCOME.items():
        value = getattr(outcome, name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and name != "success"):
            fault = f"its {name} is {in_short(repr(value))}"
    for effect in outcome.effects if not fault else ():
        if not isinstance(effect, Map) or not isinstance(effect.get("kind"), str):
            fault = f"{in_short(repr(effect))} is no effect, which rpgres.effect(KIND, ...) makes"
        else:
            fault = fault or unkept(effect, f"the effect {effect['kind']}")
    fault = fault or unkept(outcome.texts, "texts") or unkept(Map(outcome.details), "details")
    if fault:
        raise RuleError(
            f"the rule {prepared.rules.id} {prepared.action} returned an outcome that cannot be used: {fault}"
        )


_OUTCOME: dict[str, Any] = {
    "success": bool | None,
    "margin": int | None,
    "total": int | None,
    "opposition": int | None,
    "effects": tuple,
    "texts": tuple,
    "roles": Mapping,
    "details": Mapping,
}


def _check_declared(prepared: Prepared, events: Sequence[Event]) -> None:
    """Check that the rule rolled only under labels that its action declares, or nobody could give what was rolled."""
    declared = labels_of(prepared.rules, prepared.action)
    for event in events:
        if isinstance(event, Rolled | Drawn) and event.label not in declared:
            verb = "rolled" if isinstance(event, Rolled) else "drew"
            raise RuleError(
                f"the rule {prepared.rules.id} {prepared.action} {verb} {event.label!r}, which `labels` of "
                f"[actions.{prepared.action}] does not declare"
            )


def _result(
    prepared: Prepared,
    outcome: Outcome,
    table: Table,
    *,
    identity: dict[str, Any],
    seed: str,
    unused: Iterable[AnswerRecord],
    note: str | None,
) -> Result:
    rules, events = prepared.rules, table.events
    return Result(
        ruleset=rules.id,
        rules=identity,
        action=prepared.action,
        variant=prepared.arguments.get("variant"),
        actor=prepared.actor,
        inputs=prepared.inputs,
        answers=list(answers_of(events, single=table.single)),
        outcome=outcome.band or None,
        also=(outcome.band and rules.file.bands[outcome.band].also) or None,
        success=outcome.success,
        margin=outcome.margin,
        total=outcome.total,
        opposition=outcome.opposition,
        effects=[dict(effect) for effect in outcome.effects],
        texts=list(outcome.texts),
        events=[event_record(event) for event in events],
        switches=rules.switches,
        seed=seed,
        unused=list(unused),
        note=note,
        details=dict(outcome.details),
    )


def _pending(prepared: Prepared, needs: NeedsAnswer, *, seed: str, note: str | None) -> Pending:
    return pending_of(
        prepared.rules,
        needs,
        action=prepared.action,
        actor=prepared.actor,
        inputs=prepared.inputs,
        seed=seed,
        note=note,
    )


def _to_be_resumed(prepared: Prepared, pending: Pending, table: Table, *, unused: list[AnswerRecord]) -> Pending:
    """Return what waits with all that it takes to run it up to the same question again."""
    rules, asked = prepared.rules, pending.question
    changed = {name: value for name, value in rules.switches.items() if value != rules.default_switch(name)}
    if asked.label in table.single:
        asked = msgspec.structs.replace(asked, key=f"{asked.who}:{asked.label}")
    answers = list(answers_of(table.events, single=table.single))
    pending = msgspec.structs.replace(pending, answers=answers, question=asked, unused=unused)
    return msgspec.structs.replace(pending, resume=resume_command(pending, switches=changed))
