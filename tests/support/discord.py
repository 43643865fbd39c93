"""Discord without a network: what the gateway sends is given to a client, and what the client sends is kept."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

if TYPE_CHECKING:
    import discord  # which takes a quarter of a second: loaded by those tests alone that need it

EPHEMERAL = 64  # the flag of a message, or of the answer that is put off, that one user sees
BOT: Any = {"id": "1", "username": "bot", "discriminator": "0", "avatar": None}
NOW = "2026-01-01T00:00:00+00:00"


class Message(NamedTuple):
    """A message that the bot sent.

    `reader` is the user who alone sees it; None where everybody in the channel does. `buttons` are ids by label.
    """

    text: str
    reader: int | None
    channel: int
    buttons: dict[str, str]
    components: list[Any]


class FakeDiscord:
    """Users and channels in front of one client, as far as commands, buttons and messages go."""

    def __init__(self, client: discord.Client) -> None:
        from discord import ClientUser

        self._client, self._ids = client, count(1000)
        self._sent: list[Message] = []
        self._deferred: dict[str, bool] = {}  # whether the first answer to an interaction is its user's alone
        state: Any = client._connection
        state.user = ClientUser(state=state, data={**BOT, "verified": True, "flags": 0})  # as after a login

    def command(self, user: int, line: str, *, channel: int = 5) -> list[Message]:
        """Type `/rpg line`, and return what the bot sends."""
        data = {"id": "7", "name": "rpg", "type": 1, "options": [{"name": "line", "type": 3, "value": line}]}
        return self._interact(user, channel, {"type": 2, "data": data})

    def press(self, user: int, message: Message, label: str) -> list[Message]:
        """Press a button of a message, and return what the bot sends."""
        data = {"custom_id": message.buttons[label], "component_type": 2}
        shown = self._plain_message(message.channel) | {"components": message.components}
        return self._interact(user, message.channel, {"type": 3, "data": data, "message": shown})

    def _interact(self, user: int, channel: int, what: dict[str, Any]) -> list[Message]:
        from discord.webhook.async_ import AsyncWebhookAdapter

        self._sent, token = [], f"token-{next(self._ids)}"
        member = {"user": {"id": str(user), "username": f"user{user}", "discriminator": "0", "avatar": None}}
        payload = {
            **what,
            "id": str(next(self._ids)),
            "application_id": "1",
            "token": token,
            "version": 1,
            "guild_id": "3",
            "channel": {"id": str(channel), "type": 0, "name": "table", "position": 0, "guild_id": "3"},
            "member": {**member, "roles": [], "joined_at": NOW, "flags": 0, "permissions": "0"},
            "attachment_size_limit": 1024,
        }

        async def request(_adapter: Any, route: Any, *_: Any, **sent: Any) -> Any:
            return self._take(route.path, sent, user=user, channel=channel)

        async def meet() -> None:
            await self._client._async_setup_hook()
            self._client._connection.parsers["INTERACTION_CREATE"](payload)
            others = {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
            for task in await asyncio.wait(others) if others else ([],):
                for one in task:
                    one.result()

        with patch.object(AsyncWebhookAdapter, "request", request):
            asyncio.run(meet())
        return self._sent

    def _take(self, path: str, sent: dict[str, Any], *, user: int, channel: int) -> Any:
        """Answer a request of the client as the service does."""
        body = sent.get("payload") or {}
        for part in sent.get("multipart") or ():
            if part["name"] == "payload_json":
                body = json.loads(part["value"])
        if path.endswith("/callback"):
            assert body["type"] == 5, "an answer that is put off is the only one that may take its time"
            self._deferred["next"] = bool(body["data"]["flags"] & EPHEMERAL)
            return {"interaction": {"id": "1", "type": 2}}
        # The first message takes the place of the answer that was put off, and is seen by whom that was for.
        is_private = self._deferred.pop("next", bool(body.get("flags", 0) & EPHEMERAL))
        rows = body.get("components", [])
        buttons = {one["label"]: one["custom_id"] for row in rows for one in row["components"]}
        text = body.get("content", "") + "".join(one.fp.read().decode() for one in sent.get("files") or ())
        assert len(body.get("content", "")) <= 2000
        assert body.get("allowed_mentions", {}).get("parse") == [], "nobody is pinged by what somebody typed"
        self._sent.append(Message(text, user if is_private else None, channel, buttons, rows))
        return self._plain_message(channel) | {"components": rows}

    def _plain_message(self, channel: int) -> dict[str, Any]:
        made = {"id": str(next(self._ids)), "channel_id": str(channel), "author": BOT, "content": ""}
        lists = {name: [] for name in ("attachments", "embeds", "mentions", "mention_roles", "components")}
        return {**made, **lists, "type": 0, "timestamp": NOW, "edited_timestamp": None, "pinned": False, "tts": False}
