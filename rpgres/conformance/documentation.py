"""Whether what a ruleset says of itself is whole and true: texts, examples, tables, switches, sheets, scenes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rpgres.conformance.behaviour import something
from rpgres.conformance.records import NothingToCheck, finding, place
from rpgres.conformance.sources import words_of
from rpgres.conformance.subjects import Case, Subject, read_example
from rpgres.conformance.walks import PlayedPath, Shown, account, deadline
from rpgres.engine.events import Decided
from rpgres.engine.labels import labels_of
from rpgres.errors import FileError, RpgresError, UsageError
from rpgres.lint.decisions import Decision, Facts, decisions_of, offers, options_at, texts_at
from rpgres.lint.paths import Known
from rpgres.lint.whole import all_diagnostics
from rpgres.rulesets import Rules
from rpgres.rulesets.sheets import read_sheet
from rpgres.scenes import check_scene, prove_scene
from rpgres.toml.diagnostics import Diagnostic, diagnostics_in

SECONDS = 5.0  # what playing one action with one switch may take
SEEDS = 5  # with which it is played
SCENE = 20.0  # what playing one scene may take


def check_data(subject: Subject) -> Iterator[Diagnostic]:
    """Yield where data, code and sheets do not fit together."""
    yield from all_diagnostics(subject.rules)


# ---------------------------------------------------------------------------------------------------------------------
# Texts and examples


def check_texts(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what has no text, no example, or an example that cannot be typed."""
    file, code = subject.rules.file, subject.rules.ruleset
    for key in ("title", "summary"):
        if not getattr(file, key).strip():
            yield finding(f"the ruleset has no {key}", subject.place(key), "it is shown in lists and help")
    for action, described in file.actions.items():
        if not described.example:
            advice = f'add example = "rpgres roll {subject.rules.id} {action} ..."'
            yield finding(f"the action {action} has no example", subject.place("actions", action), advice)
    for path, text in _texts(subject.rules):
        if not text.strip():
            yield finding(f"{'.'.join(path)} is empty", subject.place(*path), "describe it in one line")
    for what, registered, texts in (
        ("effects", code.effects, file.effects),
        ("policies", code.policies, file.policies),
    ):
        for name in registered:
            if name not in texts:
                advice = f"add it under [{what}]"
                yield finding(f"the code has {what}.{name}, which the data do not explain", subject.place(what), advice)
    yield from (example for example in subject.examples if isinstance(example, Diagnostic))
    yield from _fields(subject)


def _fields(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the fields of effects that nothing describes, once each."""
    effects = subject.rules.file.effects
    described = {kind: {"kind", *effect.fields} for kind, effect in effects.items() if not effect.does}
    told: set[tuple[str, str]] = set()
    for case in subject.sound:
        for effect in (effect for path in _paths(subject, case) for effect in path.outcome.effects):
            kind = effect["kind"]
            for field in effect if kind in described else ():
                if field not in described[kind] and (kind, field) not in told:
                    told.add((kind, field))
                    what = f"its effects of the kind {kind} have a field {field!r}, which nothing describes"
                    yield finding(what, subject.place("effects", kind), f"add {field} to fields of [effects.{kind}]")


def _texts(rules: Rules) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every text that help shows, with its key path."""
    for table, keys in _SHOWN.items():
        for name, its in getattr(rules.file, table).items():
            for key in keys:
                text = getattr(its, key)
                inner = {(): text} if isinstance(text, str) else {(one,): said for one, said in text.items()}
                yield from (((table, name, key, *path), said) for path, said in inner.items())
    yield from ((("policies", name), text) for name, text in rules.file.policies.items())


# What help shows of each table of `ruleset.toml`: a text, or texts by name.
_SHOWN = {
    "actions": ("summary",),
    "parameters": ("help", "choices"),
    "labels": ("help",),
    "switches": ("help", "source", "choices"),
    "effects": ("help", "fields"),
    "sheet": ("help",),
}


# ---------------------------------------------------------------------------------------------------------------------
# Labels


def check_labels(subject: Subject) -> Iterator[Diagnostic]:
    """Yield questions that are asked under a label that nothing declares, or that show what it does not declare."""
    something(subject, subject.sound)
    for action in subject.rules.file.actions:
        cases = [case for case in subject.sound if case.prepared.action == action]
        declared = labels_of(subject.rules, action)
        met: set[str] = set()
        for case in cases:
            yield from _twins(subject, case)
            for label, kind in _met(subject, case):
                met.add(label)
                if declared.get(label) != kind:
                    declares = f"a {declared[label]} label" if label in declared else "no label of this action"
                    yield finding(
                        f"{label!r} is used for a {kind}, and is {declares}",
                        case.place,
                        f"add it to labels of [actions.{action}], and describe it in [labels]",
                    )
        unmet = sorted(set(subject.rules.file.actions[action].labels) - met) if cases else []
        if unmet:
            yield finding(
                f"no example and no scene asks {', '.join(unmet)}", subject.place("actions", action), is_note=True
            )
    yield from _undeclared(subject)


def _undeclared(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what decisions show and do not declare, so that orders that name it would be refused; and the reverse."""
    decisions, met = decisions_of(subject.rules), dict[tuple[str, str], set[str]]()
    for case in subject.sound:
        for label, shown in (subject.walk(case).shown if _paths(subject, case) else {}).items():
            yield from _shown_beyond(case, label, shown, decisions.get(label, Decision()), met)
    for label, its in subject.rules.file.labels.items():
        for key, said in (("facts", its.facts), ("option-facts", its.option_facts)):
            unmet = [name for name in said if name not in met.get((label, key), said)]
            if unmet and not subject.rules.layers.is_of_kits("labels", label):
                what = f"no example and no scene has a {label!r} that {_SHOWS[key]} {', '.join(unmet)}"
                yield finding(what, subject.place("labels", label, key), is_note=True)


def _shown_beyond(
    case: Case, label: str, shown: Shown, decision: Decision, met: dict[tuple[str, str], set[str]]
) -> Iterator[Diagnostic]:
    """Yield what the decisions of a label show in a case and do not declare. Adds what they show to `met`."""
    known = Known(case.prepared.rules, case.prepared.state)
    for key, names, declared in (
        ("facts", {*shown.facts}, decision.facts),
        ("option-facts", {*shown.option_facts}, decision.option_facts),
        ("options", shown.options, options_at(decision, known, is_later=True)),
    ):
        before = met.setdefault((label, key), set())
        new = sorted(names - before) if declared is not None else ()
        has = declared or ()
        strange = [name for name in new if name not in has and not any(offers(one, name) for one in has)]
        before |= names
        for name in strange:
            what = f"{label!r} {_SHOWS[key]} {name!r}, which it does not declare"
            yield finding(what, case.place, f"add it to {key} of [labels.{label}]")
    words = ((shown.facts, decision.facts), (shown.option_facts, decision.option_facts))
    for name, word in (pair for was, can_be in words for pair in _strange(was, can_be, known)):
        what = f"{label!r} shows the fact {name} as {word!r}, which it does not declare"
        yield finding(what, case.place, f"add it to the words of {name} in [labels.{label}]")
    if shown.typed and decision.options is not None and not decision.is_typed:
        advice = f"add typed = true to [labels.{label}], or orders that choose such would be refused"
        yield finding(f"{label!r} takes answers beyond its options", case.place, advice)


def _strange(shown: Mapping[str, set[str]], declared: Facts | None, known: Known) -> Iterator[tuple[str, str]]:
    """Yield the words of facts that are not declared, where others are."""
    for name, words in shown.items():
        told = (declared or {}).get(name)
        if told is not None:
            can_be = texts_at(told, known, is_later=True)
            yield from ((name, word) for word in sorted(words) if not any(offers(one, word) for one in can_be))


_SHOWS = {"facts": "shows the fact", "option-facts": "has an option with the fact", "options": "offers"}


def _met(subject: Subject, case: Case) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for path in _paths(subject, case):
        found |= {(event.label, "decision" if isinstance(event, Decided) else "chance") for event in path.questions}
        found |= {(label, "decision") for label in path.skipped}
    return found


def _twins(subject: Subject, case: Case) -> Iterator[Diagnostic]:
    for label, name in (subject.walk(case).twins if _paths(subject, case) else {}).items():
        advice = "only the first of them can be chosen; give each option a name of its own"
        yield finding(f"{label!r} offers the option {name!r} twice", case.place, advice)


def _paths(subject: Subject, case: Case) -> list[PlayedPath]:
    try:
        return subject.walk(case).paths
    except RpgresError:
        return []  # told by the checks that are about paths


# ---------------------------------------------------------------------------------------------------------------------
# Outcome tables


def check_tables(subject: Subject) -> Iterator[Diagnostic]:
    """Yield outcomes without a row, rows that no outcome comes to, and rows that cannot be read for their margins."""
    rules = subject.rules.with_switches({})  # one that nothing was played with, so that looking leaves no trace
    readable: list[str] = []
    for name in rules.layers.table_names():
        try:
            rules.table(name)
        except RpgresError as error:
            yield finding(error.message)
        else:
            readable.append(name)
    if not readable:
        raise NothingToCheck("it has no outcome table")
    came_to, words = _settled(subject), words_of(rules.ruleset)
    for action, described in rules.file.actions.items():
        for name in described.tables:
            if (
                name in readable and not described.is_described
            ):  # what decides the rows of a described action is its data
                yield from _table(rules, action, name, came_to, words)
    met = {(name, band) for name, band, _ in came_to}
    for name in readable:
        unmet = [band for band in rules.table(name) if (name, band) not in met]
        if unmet and came_to:
            yield finding(f"no example and no scene reaches {', '.join(unmet)} of the table {name}", is_note=True)
    if not came_to:
        raise NothingToCheck(subject.lack if not subject.sound else "no example and no scene reaches an outcome table")


def _table(
    rules: Rules, action: str, name: str, came_to: set[tuple[str, str, bool]], words: set[str]
) -> Iterator[Diagnostic]:
    bands, table = rules.file.bands, rules.table(name)
    where = place(next((text.source.path for text in reversed(rules.layers.table_texts(name))), ""))
    ranged = [band for band in bands if bands[band].has_bounds]
    by_margin = {known for known, _, is_by_margin in came_to if is_by_margin}
    met = {band for known, band, _ in came_to if known == name}
    if len(table) > 1:
        for band in ranged:
            if band not in table and bands[band].also not in table and name in by_margin:
                advice = f"add [{band}] with at least a text, or give its margins to another band"
                yield finding(f"the table {name} of {action} has no row for {band}, which rolls reach", where, advice)
        for band in table:
            its = bands[band]
            can_come = its.has_bounds or its.unopposed or any(other.also == band for other in bands.values())
            if band not in met and band not in words and not can_come:
                advice = (
                    "give the band margins (from, to) or unopposed = true, name it in the rule, or take the row out"
                )
                yield finding(f"the row {band} of the table {name} is unreachable", where, advice)
    edges = {edge for band in ranged for edge in (bands[band].from_, bands[band].to) if edge is not None}
    for margin in sorted(edges):
        try:
            rules.settling.settlement(name, margin)
        except RpgresError as error:
            yield finding(f"the table {name} cannot be read for the margin {margin}: {error.message}", where)


def _settled(subject: Subject) -> set[tuple[str, str, bool]]:
    """Return the rows that the cases come to, as (table, band, whether the margin decided)."""
    for case in subject.sound:
        _paths(subject, case)
    used = {id(case.prepared.rules): case.prepared.rules for case in subject.sound}
    return {row for rules in used.values() for row in rules.settling.settled()}


# ---------------------------------------------------------------------------------------------------------------------
# Switches, sheets, scenes


def check_switches(subject: Subject) -> Iterator[Diagnostic]:
    """Yield examples that cannot be played with some choice of a switch."""
    if not subject.rules.file.switches:
        raise NothingToCheck("it has no switch")
    examples = [case for case in something(subject, subject.sound) if case.is_example]
    if not examples:
        raise NothingToCheck("no action has an example that plays")
    for switch, described in subject.rules.file.switches.items():
        for choice in described.choices:
            if choice == described.default:
                continue
            rules = subject.rules.with_switches({switch: choice})
            for case in examples:
                yield from _switched(case, rules, f"{switch}={choice}")


def _switched(case: Case, rules: Rules, chosen: str) -> Iterator[Diagnostic]:
    try:
        has_same_decks = rules.laid == case.prepared.rules.laid
        prepared = read_example(rules, case.prepared.action, with_cards=has_same_decks)
        with deadline(SECONDS):
            for number in range(SEEDS):
                account(prepared, seed=f"contract#{number}")
    except RpgresError as error:
        if isinstance(error, UsageError) and f"switch {chosen}" in error.message:
            return  # a house rule may forbid what the example does, and says so
        yield finding(f"with --switch {chosen} it cannot be played: {error.message}", case.place)


def check_sheets(subject: Subject) -> Iterator[Diagnostic]:
    """Yield sheets that cannot be read, or that give another character when they are read again."""
    paths = subject.rules.layers.files("sheets")
    if not paths:
        raise NothingToCheck(
            "it ships no sheet; add a sample to sheets/ so that it can be tried at once"
            if subject.rules.file.sheet
            else "its characters need no sheets"
        )
    for path in paths:
        try:
            first, again = (read_sheet(subject.rules, str(path.absolute())) for _ in range(2))
        except FileError as error:
            yield from diagnostics_in(error)
            continue
        if first != again:
            yield finding(
                "read twice, it gives two different characters",
                place(str(path)),
                "a function registered with @ruleset.prepare may depend on nothing but the sheet",
            )


def check_scenes(subject: Subject) -> Iterator[Diagnostic]:
    """Yield scenes that cannot be played, and expectations that do not hold."""
    if not subject.scenes:
        raise NothingToCheck(f"it ships no scene; {_EXPECT}")
    expects = False
    for path, scene in subject.scenes:
        if isinstance(scene, RpgresError):
            expects = True  # nobody knows
            yield from diagnostics_in(scene, file=str(path))
            continue
        expects = expects or any(leaf.step.expect is not None for leaf in scene.program.leaves)
        problems = check_scene(scene)
        yield from problems
        if problems:
            continue
        try:
            with deadline(SCENE):
                _, wrong = prove_scene(scene)
        except RpgresError as error:
            yield from diagnostics_in(error, file=str(path))
            continue
        for mismatch in wrong:
            message = f"{mismatch.step}: {mismatch.what} should be {mismatch.expected!r}, and is {mismatch.found!r}"
            message += mismatch.differs
            file, _, line = mismatch.where.rpartition(":")
            yield finding(message, place(file, int(line)))
    if not expects:
        yield finding("no scene expects anything", advice=_EXPECT, is_note=True)


_EXPECT = "a scene in scenes/ with an `expect` tests a rule"
