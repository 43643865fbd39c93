"""The account of a scene as one web page, without other files or scripts, readable for screen readers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rpgres.formats.accounts import Account, Chapter, Turn
from rpgres.render.accounts.blocks import Kind, blocks_of
from rpgres.render.accounts.lines import seat_words
from rpgres.render.charts import escape
from rpgres.render.documents import web_page
from rpgres.render.lines import Piece
from rpgres.render.words import who_is
from rpgres.version import __version__

_CLASSES: dict[Kind, str] = {"note": ' class="note"', "does": ' class="does"'}
_SHOWN = {"name": "<em>{}</em>", "quiet": '<span class="quiet">{}</span>'}  # by the style of a piece
_STYLE = """\
:root{color-scheme:light dark;--paper:#fdfcf9;--ink:#1f2328;--quiet:#57606a;--line:#d5d0c4;--card:#f4f1ea;
--good:#116329;--bad:#a40e26;--even:#7d4e00}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e6e4de;--quiet:#a3a8b0;--line:#3a3f47;--card:#1f2329;
--good:#6fdd8b;--bad:#ff938a;--even:#f0c36d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1.05rem/1.6 Georgia,"Times New Roman",serif}
main{max-width:44rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1,h2,h3,h4{line-height:1.25;font-family:system-ui,sans-serif}
h1{font-size:1.9rem;margin:0 0 .5rem}
h2{font-size:1.35rem;margin:2.5rem 0 .75rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}
h3{font-size:1.1rem;margin:0 0 .4rem}
h4{font-size:1rem;margin:1rem 0 .25rem}
p{margin:.4rem 0}
ol.steps{list-style:none;margin:0;padding:0}
ol.steps>li{margin:0 0 1.75rem}
ul{margin:.4rem 0;padding-left:1.25rem}
ul.log{list-style:none;padding:.5rem .9rem;background:var(--card);border-radius:.4rem;
font-family:system-ui,sans-serif;font-size:.92rem}
ul.log li{padding-left:1.2em;text-indent:-1.2em}
.note,.quiet,dl.facts dt{color:var(--quiet)}
.note{font-style:italic}
.does{font-weight:600}
.dice{font-family:ui-monospace,Menlo,Consolas,monospace;letter-spacing:.1em}
.good strong{color:var(--good)}.bad strong{color:var(--bad)}.even strong{color:var(--even)}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:1rem 0;
font-family:system-ui,sans-serif;font-size:.95rem}
dl.facts dd{margin:0}
table{border-collapse:collapse;width:100%;font-family:system-ui,sans-serif;font-size:.95rem}
caption{text-align:left;color:var(--quiet);padding-bottom:.3rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid var(--line)}
thead th{color:var(--quiet);font-weight:600}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media print{body{background:#fff;color:#000}ol.steps>li{break-inside:avoid}}
"""
_FATE = {"+": "plus", "-": "minus", "0": "blank"}  # faces that a screen reader would skip
_NEGATIVE = re.compile(r"(?<![\w.)\]-])-(?=\d)")


def as_html(account: Account) -> str:
    """Return an account as a web page."""
    body = "\n".join(_body(account))
    return web_page(account.title, body, style=_STYLE, made_by=f"rpgres account {__version__}")


def _text(text: str) -> str:
    """Return a text for a page; a hyphen before a number becomes a minus sign, which screen readers say."""
    return escape(_NEGATIVE.sub("\N{MINUS SIGN}", text))


def _body(account: Account) -> Iterator[str]:
    yield from _header(account)
    yield from _section("story", "What happens", _story(account))
    if account.table:
        rows = ((one.name, "<br>".join(map(_text, one.details))) for one in account.table)
        table = _rows("The table at the end", ("Name", "How it stands"), rows)
        yield from _section("table", "On the table", table)


def _section(name: str, heading: str, inside: Iterable[str]) -> Iterator[str]:
    yield f'<section aria-labelledby="{name}">'
    yield f'<h2 id="{name}">{heading}</h2>'
    yield from inside
    yield "</section>"


def _header(account: Account) -> Iterator[str]:
    yield "<header>"
    yield f"<h1>{_text(account.title)}</h1>"
    if account.summary:
        yield f"<p>{_text(account.summary)}</p>"
    facts = {
        "Rules": account.ruleset,
        "House rules": account.house_rules,
        "Seed": account.seed or "",
        "As seen by": seat_words(account) if account.seed is None else "",
    }
    yield '<dl class="facts">'
    yield from (f"<dt>{name}</dt><dd>{_text(told)}</dd>" for name, told in facts.items() if told)
    yield "</dl>"
    yield "</header>"
    if account.people:
        rows = ((one.title, _text(who_is(one.seat) if one.seat != one.name else "a player")) for one in account.people)
        yield from _section("people", "Taking part", _rows("Who takes part", ("Character", "Played by"), rows))


def _rows(caption: str, heads: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f'<table><caption class="hidden">{caption}</caption>'
    yield "<thead><tr>" + "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead>"
    yield "<tbody>"
    yield from (f'<tr><th scope="row">{_text(name)}</th><td>{cell}</td></tr>' for name, cell in rows)
    yield "</tbody></table>"


def _story(account: Account) -> Iterator[str]:
    yield '<ol class="steps" role="list">'
    for number, chapter in enumerate(account.chapters, 1):
        yield from _chapter(chapter, number)
    yield "</ol>"
    if account.ending:
        yield f"<p><strong>Ending:</strong> {_text(account.ending)}</p>"


def _chapter(chapter: Chapter, number: int) -> Iterator[str]:
    skipped = ' <span class="quiet">(skipped)</span>' if chapter.skipped else ""
    yield f'<li id="step-{number}">'
    yield f"<h3>{number}. {_text(chapter.title)}{skipped}</h3>"
    for turn in chapter.turns:
        yield from _turn(turn)
    yield "</li>"


def _turn(turn: Turn) -> Iterator[str]:
    for kind, lines in blocks_of(turn):
        if kind in ("effects", "log"):
            yield f'<ul class="{kind}" role="list">'
            yield from (f"<li>{_inline(pieces)}</li>" for pieces in lines)
            yield "</ul>"
            continue
        for first, *rest in lines:
            if kind == "outcome":
                yield f'<p class="{first.style}"><strong>{_text(first.text)}</strong>{_inline(rest)}</p>'
            elif kind == "round":
                yield f"<h4>{_text(first.text)}</h4>"
            else:
                yield f"<p{_CLASSES.get(kind, '')}>{_text(first.text)}</p>"


def _inline(pieces: Iterable[Piece]) -> str:
    return "".join(
        _dice(one.text.replace(";", " ; "))
        if one.style == "dice"
        else _SHOWN.get(one.style, "{}").format(_text(one.text))
        for one in pieces
        if one.text
    )


def _dice(faces: str) -> str:
    """Return dice face by face; signs are spelled out for screen readers."""
    if not set(faces) <= {*_FATE, " ", ";"}:
        return f'<span class="dice">{_text(faces)}</span>'
    shown = faces.replace("-", "\N{MINUS SIGN}")
    spoken = ", ".join(_FATE.get(face, "and") for face in faces if face != " ")
    return f'<span class="dice" aria-hidden="true">{shown}</span><span class="hidden">{spoken}</span>'
