"""The server of a seat: its tools by the Model Context Protocol. Only this module knows the SDK."""

from __future__ import annotations

import json
import os
import signal
import sys
from threading import Lock
from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from rpgres.arguments import in_own_words
from rpgres.cli import INTERRUPTED
from rpgres.cli.mcp.calls import own_question
from rpgres.cli.mcp.tools import INSTRUCTIONS, TOOLS, call, refusal, schema_of
from rpgres.engine.records import QuestionRecord
from rpgres.errors import RpgresError, in_words
from rpgres.lines.seat import Seat
from rpgres.text.harmless import harmless
from rpgres.version import __version__

Context = ServerRequestContext[Any, Any]
HALF = "the request is no valid JSON: has a text half of a character (a lone surrogate, \\ud800 to \\udfff)?"
FORM = "decision"  # the key of the only form that a client is asked to fill in


def make_server(seat: Seat) -> Server[Any]:
    """Return the server of a seat; every call reads and writes the table's file.

    Args:
        seat: the seat and its table, which no argument changes.
    """
    lock = Lock()

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=declared())

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments = dict(params.arguments or {})
        if params.name == "answer" and not {"choice", "auto"} & {name for name, value in arguments.items() if value}:
            asked = await anyio.to_thread.run_sync(_locked, lock, _asked, seat) if takes_forms(context) else None
            if asked is not None:
                filled = await filled_form(context, params, *asked)
                if not isinstance(filled, types.ElicitResult):
                    return filled
                choice = (filled.content or {}).get("choice") if filled.action == "accept" else None
                if not isinstance(choice, str):
                    return _refused(f"no answer ({filled.action}): the decision still waits; ask, and say `choice`")
                arguments |= {"choice": choice, "at": arguments.get("at") or params.request_state or asked[1]}
        return await anyio.to_thread.run_sync(_locked, lock, _called, seat, params.name, arguments)

    return Server(
        "rpgres",
        version=__version__,
        title=f"{seat.history.new.public.title or seat.rules.file.title}: the seat {seat.name}",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def declared() -> list[types.Tool]:
    """Return the tools as the protocol declares them."""
    return [
        types.Tool(
            name=name,
            description=tool.help,
            input_schema=schema_of(tool.takes),
            output_schema=schema_of(tool.returns),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.is_read_only, destructive_hint=name == "undo", open_world_hint=False
            ),
        )
        for name, tool in TOOLS.items()
    ]


def _locked(lock: Lock, do: Any, *arguments: Any) -> Any:
    """Do one thing after the other: what a seat knows is that of the call."""
    with lock:
        return do(*arguments)


def _asked(seat: Seat) -> tuple[QuestionRecord, str] | None:
    """Return the decision of the seat that waits; None where there is none, or the call will tell why."""
    try:
        return own_question(seat)
    except RpgresError:
        return None


def _called(seat: Seat, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Return the result of a tool, or an error for the model, never a traceback."""
    try:
        found = msgspec.to_builtins(call(seat, name, arguments))
    except Exception as error:  # noqa: BLE001  # the boundary: nothing else may reach the client
        own = in_own_words(error)
        if isinstance(own, RpgresError):
            return _refused(refusal(own))
        sys.stderr.write(f"rpgres mcp: internal error in {name}: {in_words(error)}\n")
        return _refused(f"internal error: {type(error).__name__}; nothing is known to have been done: look with `show`")
    return types.CallToolResult(content=[types.TextContent(text=words_of(found))], structured_content=found)


def words_of(found: dict[str, Any]) -> str:
    """Return a result for a model whose client hands on nothing but text."""
    if "entries" in found and isinstance(found["entries"], list):
        return "".join(entry["text"] for entry in found["entries"])
    sources = [f"{one['where']}: {one['text']}" for one in found.get("sources", ())]
    return "\n".join(filter(None, [found.get("text"), *sources])) or msgspec.json.encode(found).decode()


def _refused(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=harmless(text))], is_error=True)


# ---------------------------------------------------------------------------------------------------------------------
# Decisions put to the person at the client


def takes_forms(context: Context) -> bool:
    """Tell whether the client shows forms to a person."""
    known = context.session.client_capabilities
    able = known.elicitation if known is not None else None
    return able is not None and (able.form is not None or able.url is None)


async def filled_form(
    context: Context, params: types.CallToolRequestParams, question: QuestionRecord, at: str
) -> types.ElicitResult | types.InputRequiredResult | types.CallToolResult:
    """Return what a person filled in, or the request to have them do so, as the version of the protocol has it.

    Args:
        params: those of the call, which bring the form back where it is filled in between two calls.
        at: the entry that asks; what is filled in later is refused if something else waits then.
    """
    asked = types.ElicitRequestFormParams(message=message_of(question), requested_schema=form_of(question))
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answered = (params.input_responses or {}).get(FORM)
        if isinstance(answered, types.ElicitResult):
            return answered
        requests: dict[str, Any] = {FORM: types.ElicitRequest(params=asked)}
        return types.InputRequiredResult(input_requests=requests, request_state=at)
    return await context.session.elicit_form(asked.message, asked.requested_schema, context.request_id)


def message_of(question: QuestionRecord) -> str:
    """Return a question for a person, with what its options mean."""
    meant = [f"- {one.name}: {one.text}" if one.text else f"- {one.name}" for one in question.options]
    passing = ["- no: let it pass"] if question.optional else []
    form = [f"Or: {question.form}"] if question.form else []
    return "\n".join([f"{question.who}: {question.text or question.label}", *meant, *passing, *form])


def form_of(question: QuestionRecord) -> dict[str, Any]:
    """Return the form of a question: one field, a list where nothing else can be typed."""
    names = question.names
    field: dict[str, Any] = {"type": "string", "title": question.label}
    if question.form or not names:
        field["description"] = " | ".join([*names, *([question.form] if question.form else [])])
    else:
        field["enum"] = names
    return {"type": "object", "properties": {"choice": field}, "required": ["choice"]}


# ---------------------------------------------------------------------------------------------------------------------


def serve(seat: Seat) -> None:
    """Serve a seat over standard input and output until the client goes away, or Ctrl-C.

    A thread waits for the next line of the client, and could not be told to stop; what is done is in the table's file.
    """
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(INTERRUPTED))
    try:
        anyio.run(_serve, seat)
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client does not read any more


async def _serve(seat: Seat) -> None:
    """Serve until standard input has ended and every request is answered; the SDK alone would drop the last ones."""
    requests, asked = set[Any](), set[Any]()  # without an answer so far: of the client, of the server

    def note(message: Any, own: set[Any], other: set[Any]) -> None:
        match getattr(message, "message", None):
            case types.JSONRPCRequest(id=number):
                own.add(number)
            case types.JSONRPCResponse(id=number) | types.JSONRPCError(id=number):
                other.discard(number)
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": number}):
                own.discard(number)

    async def take() -> None:
        async with to_server:
            async for message in reading:
                note(message, requests, asked)
                refused = _unreadable(message) if isinstance(message, Exception) else None
                await (to_server.send(message) if refused is None else to_client.send(refused))
            while len(requests) > len(asked):  # a request that waits for the client gets no answer now
                await anyio.sleep(0.01)

    async def give() -> None:
        async with writing:
            async for message in of_server:
                await writing.send(message)
                note(message, asked, requests)

    async with stdio_server() as (reading, writing), anyio.create_task_group() as tasks:
        to_server, of_client = anyio.create_memory_object_stream[Any]()
        to_client, of_server = anyio.create_memory_object_stream[Any]()
        tasks.start_soon(take)
        tasks.start_soon(give)
        server = make_server(seat)
        await server.run(of_client, to_client, server.create_initialization_options())
        sys.stdout.flush()  # a print of a ruleset's code goes to standard error until `stdio_server` ends


def _unreadable(fault: Exception) -> SessionMessage | None:
    """Return the answer to a request that the SDK cannot read; None if the request has no readable id."""
    try:
        number = json.loads(fault.errors()[0]["input"])["id"]  # type: ignore[attr-defined]
        number = harmless(number) if isinstance(number, str) else number
        error = types.ErrorData(code=types.PARSE_ERROR, message=HALF)
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=number, error=error))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None
