"""The clauses of the contract in order, and how a ruleset is put to them, each by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import StringIO
from itertools import islice
from time import monotonic

import msgspec

from rpgres.conformance.behaviour import (
    check_ends,
    check_hash_seeds,
    check_policies,
    check_repeats,
    check_replays,
    check_states,
)
from rpgres.conformance.documentation import (
    check_data,
    check_labels,
    check_scenes,
    check_sheets,
    check_switches,
    check_tables,
    check_texts,
)
from rpgres.conformance.permissions import check_permissions
from rpgres.conformance.probabilities import check_leaves, check_odds
from rpgres.conformance.records import Check, NothingToCheck, Verdict, finding
from rpgres.conformance.secrets import check_views
from rpgres.conformance.sources import check_sources
from rpgres.conformance.subjects import Subject
from rpgres.conformance.walks import OutOfTime, deadline
from rpgres.errors import TimeIsUpError, in_words, place_of
from rpgres.plugins.failures import silenced
from rpgres.toml.diagnostics import Diagnostic

CHECKS: tuple[Check, ...] = (
    Check("data", "data, code and sheets are consistent", check_data),
    Check("texts", "everything is described, and every action has a valid example", check_texts),
    Check("sources", "the code uses no random numbers, clock, files or globals", check_sources),
    Check("ends", "every action plays to an end", check_ends),
    Check("labels", "every question has a declared label and different options", check_labels),
    Check("tables", "outcome tables have exactly one row for every outcome", check_tables),
    Check("switches", "every action plays with every choice of every switch", check_switches),
    Check("repeats", "the same answers give the same result", check_repeats),
    Check("hash-seeds", "another process gives the same result", check_hash_seeds),
    Check("replays", "every run, given back as a script, has the same result", check_replays),
    Check("odds", "exact odds are the same merged and unmerged, and match what is played", check_odds),
    Check("leaves", "odds are computed within their budget", check_leaves),
    Check("views", "hidden information changes nothing that a seat is asked or shown", check_views),
    Check("permissions", "inputs can be set and seen only by the seats that the parameters declare", check_permissions),
    Check("states", "states can be hashed, serialized and reproduced", check_states),
    Check("policies", "policies choose offered options, based only on the view", check_policies),
    Check("sheets", "sheets can be read, with the same result each time", check_sheets),
    Check("scenes", "scenes play, and their expectations hold", check_scenes),
)

SECONDS = 120.0  # what one check may take
MOST = 10  # problems that one check tells


def check_ruleset(subject: Subject, *, begins: Callable[[Check], None] | None = None) -> Iterator[Verdict]:
    """Yield the result of every check, in order.

    Args:
        subject: the ruleset.
        begins: called with each check before it is run.
    """
    for check in CHECKS:
        if begins is not None:
            begins(check)
        yield run_check(check, subject)


def run_check(check: Check, subject: Subject) -> Verdict:
    """Return the result of one check; whatever goes wrong inside is a problem of that check."""
    began = monotonic()
    found: dict[Diagnostic, None] = {}
    printed = StringIO()
    unchecked = ""
    try:
        with silenced(printed), deadline(SECONDS):
            for told in islice(check.find(subject), 1000):
                found[told] = None
    except NothingToCheck as nothing:
        unchecked = str(nothing)
    except OutOfTime as error:
        found[finding(error.message, advice="look for a loop, or for too many questions")] = None
    except (KeyboardInterrupt, TimeIsUpError):
        raise
    except BaseException as error:  # noqa: BLE001  # a plugin's code may raise anything, and the other checks go on
        found[finding(f"this could not be checked: {in_words(error)}{place_of(error)}")] = None
    if printed.getvalue().strip():
        first = printed.getvalue().strip().splitlines()[0]
        said = f"the plugin wrote to standard output: {first!r}"
        found[finding(said, advice="table.tell adds to the account")] = None
    coded = [told if told.code else msgspec.structs.replace(told, code=check.name) for told in found]
    problems = [told for told in coded if told.severity == "error"]
    if len(problems) > MOST:
        more = msgspec.structs.replace(finding(f"and {len(problems) - MOST} more"), code=check.name)
        problems = [*problems[:MOST], more]
    return Verdict(
        name=check.name,
        title=check.title,
        ok=not problems,
        unchecked="" if problems else unchecked,
        problems=problems,
        notes=[told for told in coded if told.severity != "error"],
        seconds=round(monotonic() - began, 3),
    )
