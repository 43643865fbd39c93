"""A Discord bot: one table a channel. What a seat alone may know goes to its player alone, in ephemeral messages."""

import io
import os
import sqlite3
from pathlib import Path
from typing import Any

import discord
from discord import Interaction, app_commands, ui

import rpgres

TABLES = Path(os.environ.get("TABLES", "."))  # CHANNEL.db is the table of a channel
seats = sqlite3.connect(TABLES / "seats.db", isolation_level=None)
seats.execute("CREATE TABLE IF NOT EXISTS seats (channel, seat, user, UNIQUE (channel, seat), UNIQUE (channel, user))")


class Bot(discord.Client):
    def table(self, of: Interaction, seat: str = "") -> rpgres.PersistentTable:
        """Return the channel's table as a seat knows it: that of whoever asks; without one, what everybody may know."""
        found = seats.execute("SELECT seat FROM seats WHERE channel = ? AND user = ?", (of.channel_id, of.user.id))
        file, mine = TABLES / f"{of.channel_id}.db", next(found, ("everybody",))[0]
        return rpgres.open_table(file, seat=seat or mine, confined=True)

    def new(self, of: Interaction, ruleset: str = "", *sheets: str) -> Any:
        rpgres.new_table(TABLES / f"{of.channel_id}.db", ruleset, sheets=sheets, confined=True)
        return self.sit(of, "gm")

    def sit(self, of: Interaction, seat: str = "", *_: str) -> Any:  # for good: who moved would know two hands
        taken = (of.channel_id, self.table(of, seat).seat, of.user.id)
        if not seats.execute("INSERT OR IGNORE INTO seats SELECT ?1, ?2, ?3 WHERE ?2 <> 'everybody'", taken).rowcount:
            raise rpgres.UsageError(f"you have a seat, or {taken[1]} has a player, or is no seat: type `sit SEAT`")
        return self.table(of).show()

    async def play(self, of: Interaction, do: Any) -> None:
        """Do something: whoever asks is told what their seat may know, and the channel what everybody may."""
        await of.response.defer(ephemeral=True, thinking=True)
        try:  # nothing is awaited in here: what others do meanwhile is no news of this
            before = self.table(of, "everybody").show().entries if (TABLES / f"{of.channel_id}.db").exists() else 0
            found = do()
            news, waits = self.table(of, "everybody").log(since=before), self.table(of, "everybody").waiting()
        except rpgres.RpgresError as error:
            found, news, waits = error, None, None
        await self.post(of, found, found if isinstance(found, rpgres.TablePending) else None, ephemeral=True)
        if news and news.entries:
            await self.post(of, news, waits, ephemeral=False)

    async def post(self, of: Interaction, found: Any, waits: rpgres.TablePending | None, *, ephemeral: bool) -> None:
        text = str(found) if isinstance(found, Exception) else rpgres.text_of(found)
        shown, view = "```\n" + text.replace("`", "'") + "\n```", ui.View()
        entry, names = (waits.hash[:8], waits.question.names or [""]) if waits else ("", [])
        for name in names[:25]:  # the others are typed: `answer OPTION`
            view.add_item(ui.Button(label=name[:80] or "Answer", custom_id=f"rpgres:{entry}:{name}"[:100]))
        files = [discord.File(io.BytesIO(text.encode()), "table.txt")] if len(shown) > 2000 else []
        await of.followup.send("" if files else shown, files=files, view=view, ephemeral=ephemeral)

    async def on_interaction(self, of: Interaction) -> None:  # of a button, which may be older than this process
        kind, entry, option = [*str(dict[str, Any](of.data or {}).get("custom_id")).split(":", 2), "", ""][:3]
        if kind == "rpgres":
            do: Any = (lambda my: my.answer(option, at=entry)) if option else (lambda my: my.waiting() or my.show())
            await self.play(of, lambda: do(self.table(of)))

    async def setup_hook(self) -> None:
        await tree.sync()


bot = Bot(intents=discord.Intents.none(), allowed_mentions=discord.AllowedMentions.none())
tree = app_commands.CommandTree(bot)


@tree.command(description="new fate mara edda | sit mara | overcome burglary 3 | answer no | show | undo | help")
async def rpg(of: Interaction, line: str = "help") -> None:
    first, *words = line.split() or ["help"]
    deeds: dict[str, Any] = {"new": bot.new, "sit": bot.sit}
    await bot.play(of, lambda: deeds[first](of, *words) if first in deeds else bot.table(of).do(line))


if __name__ == "__main__":
    bot.run(os.environ["DISCORD_TOKEN"])
