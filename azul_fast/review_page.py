"""A review as a page: one file that needs no other, with the win-share curve, drawn for light and dark screens."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from azul_fast.display import number
from azul_fast.drawing import html as drawn
from azul_fast.position import Position
from azul_fast.review_drawing import NOTE, headline, turning_point
from azul_fast.reviews import Review, ReviewedMove
from azul_fast.stats import Z95, Estimate

WIDTH, HEIGHT = 960, 360  # of the curve, in its own units
LEFT, TOP, RIGHT, BOTTOM = 44, 14, 12, 34  # around it
COLORS = ("#1f77d0", "#d9822b", "#2a9d5c", "#a04fc0")  # [seat]

STYLE = """
:root { color-scheme: light dark; --ink: #1c1d1f; --paper: #fff; --soft: #767b84; --line: #d9dce1; --bad: #c8322b;
  --poor: #a66a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e7ea; --paper: #17181b; --soft: #9aa0aa; --line: #3a3d44;
  --bad: #ff7b72; --poor: #e3b341; } }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.grid { stroke: var(--line); stroke-width: 1; } .round { stroke: var(--soft); stroke-dasharray: 3 4; }
.turn { fill: var(--bad); stroke: var(--paper); stroke-width: 1.5; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tr.new td { border-top: 2px solid var(--soft); }
.mistake { color: var(--poor); font-weight: 600; } .blunder { color: var(--bad); font-weight: 700; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 50%; margin-right: .4em; }
.note, footer { color: var(--soft); font-size: .9rem; } pre { overflow-x: auto; font-size: .8rem; }
details { margin: .4rem 0; } a { color: inherit; }
"""


def page(review: Review) -> str:
    """The page as HTML."""
    title = "Azul, reviewed: " + ", ".join(review.names)
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            f"<h1>{escape(title)}</h1>",
            "<p>" + "<br>".join(escape(line) for line in headline(review).plain.split("\n")[1:]) + "</p>",
            "<h2>Win share</h2>",
            _curve(review),
            _legend(review),
            "<h2>Players</h2>",
            _players(review),
            "<h2>Turning points</h2>",
            *_turning_points(review),
            "<h2>What each deal did, in % of a win share</h2>",
            _deals(review),
            "<h2>Moves: win share of the player who moves, in %</h2>",
            _moves(review),
            f'<p class="note">{escape(NOTE)}</p>',
            f"<footer>azul-fast review, seed {review.seed}</footer>\n</body>\n</html>\n",
        ]
    )


def figure(review: Review) -> str:
    """The curve and the players' figures, for a notebook."""
    return f'<div class="azul-review"><style>{STYLE}</style>{_curve(review)}{_legend(review)}{_players(review)}</div>'


# ---------------------------------------------------------------------------------------------------------- the curve
def _points(review: Review) -> Iterator[tuple[float, tuple[Estimate, ...]]]:
    """Where the curve goes: before each deal, after it (with the best move to come), and after each move."""
    deals = {deal.round: deal for deal in review.deals}
    place, last = 0.0, 0
    for move in review.moves:
        if move.round != last:
            if move.round in deals:
                yield place, deals[move.round].before
                place += 1
            yield place, move.before
            last = move.round
        place += 1
        yield place, move.after


def _places(review: Review) -> dict[int, float]:
    """[ply] -> where its point lies."""
    deals = {deal.round for deal in review.deals}
    places, place, last = {}, 0.0, 0
    for move in review.moves:
        if move.round != last:
            place += move.round in deals
            last = move.round
        place += 1
        places[move.ply] = place
    return places


def _curve(review: Review) -> str:
    points = list(_points(review))
    length = max(points[-1][0], 1.0)
    seats = range(review.plan.game.rules.players)

    def x(place: float) -> str:
        return f"{LEFT + place / length * (WIDTH - LEFT - RIGHT):.1f}"

    def y(share: float) -> str:
        return f"{TOP + (1 - min(max(share, 0.0), 1.0)) * (HEIGHT - TOP - BOTTOM):.1f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="win share of each seat over the game">']
    for percent in range(0, 101, 25):
        level = y(percent / 100)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{level}" y2="{level}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{level}" text-anchor="end" dominant-baseline="middle">{percent}%</text>')
    places = _places(review)
    for number_, ply in {move.round: move.ply for move in reversed(review.moves)}.items():
        start = x(places[ply] - 1)
        parts.append(f'<line class="round" x1="{start}" x2="{start}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{start}" y="{HEIGHT - BOTTOM + 18}">round {number_}</text>')
    for seat in seats:
        band = [(place, shares[seat].mean, Z95 * (shares[seat].se or 0.0)) for place, shares in points]
        outline = [f"{x(place)},{y(mean + error)}" for place, mean, error in band]
        outline += [f"{x(place)},{y(mean - error)}" for place, mean, error in reversed(band)]
        parts.append(f'<polygon points="{" ".join(outline)}" fill="{COLORS[seat]}" opacity="0.16"/>')
        line = " ".join(f"{x(place)},{y(mean)}" for place, mean, _ in band)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLORS[seat]}" stroke-width="2"/>')
    turning = {move.ply for move in review.turning_points}
    for move in review.moves:
        share = move.after[move.seat].mean
        place = f'cx="{x(places[move.ply])}" cy="{y(share)}"'
        title = f"<title>{escape(_caption(move))}</title>"
        if move.ply in turning:
            parts.append(f'<a href="#ply{move.ply}"><circle class="turn" {place} r="6">{title}</circle></a>')
        else:
            parts.append(f'<circle {place} r="3" fill="{COLORS[move.seat]}">{title}</circle>')
    return "\n".join([*parts, "</svg>"])


def _caption(move: ReviewedMove) -> str:
    better = "" if move.move == move.best else f", better {move.best}, loss {number(move.loss, percent=True)}%"
    return f"round {move.round}, ply {move.ply}: seat {move.seat} plays {move.move}{move.mark}{better}"


def _legend(review: Review) -> str:
    keys = " · ".join(
        f'<span><span class="key" style="background:{COLORS[seat]}"></span>{escape(name)}</span>'
        for seat, name in enumerate(review.names)
    )
    return (
        f'<p>{keys}</p><p class="note">The band is the 95% interval, a steep line at a dashed one is the luck of a '
        "deal, a red point is a turning point.</p>"
    )


# ---------------------------------------------------------------------------------------------------------- the tables
def _table(heads: list[str], rows: list[tuple[str, list[str]]]) -> str:
    """`rows` are a row's class and its cells, which are HTML."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "\n".join(f'<tr class="{kind}">' + "".join(f"<td>{c}</td>" for c in cells) + "</tr>" for kind, cells in rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _players(review: Review) -> str:
    rows = []
    for name, player in zip(review.names, review.players, strict=True):
        accuracy = "" if player.accuracy is None else number(player.accuracy)
        figures = [number(each, percent=True) for each in (player.loss, player.given_away, player.luck)]
        rows.append(("", [escape(name), accuracy, *figures, number(player.points_lost), str(player.moves)]))
    heads = ["", "accuracy, %", "a move loses, %", "all moves lose, %", "deals bring, %", "points a move", "moves"]
    return _table(heads, rows)


def _turning_points(review: Review) -> Iterator[str]:
    if not review.turning_points:
        yield "<p>No move gave away 5% of a win share or more beyond two standard errors.</p>"
    for move in review.turning_points:
        yield f'<p id="ply{move.ply}">{escape(turning_point(move))}</p>'
        yield f"<details><summary>the table before this move</summary>{drawn(Position.read(move.position))}</details>"


def _deals(review: Review) -> str:
    seats = range(review.plan.game.rules.players)
    rows = [
        ("", [str(deal.round), *(number(deal.gain(seat), percent=True) for seat in seats), escape(deal.deal)])
        for deal in review.deals
    ]
    return _table(["round", *(f"seat {seat}" for seat in seats), "deal"], rows)


def _moves(review: Review) -> str:
    rows, last = [], 0
    kinds = {"??": "blunder", "?": "mistake", "": ""}
    for move in review.moves:
        is_best = move.move == move.best
        cells = [
            str(move.round) if move.round != last else "",
            str(move.ply),
            str(move.seat),
            f'<span class="{kinds[move.mark]}">{move.move}{move.mark}</span>',
            f"{100 * move.before[move.seat].mean:.1f}",
            f"{100 * move.after[move.seat].mean:.1f}",
            "" if is_best else number(move.loss, percent=True),
            "" if is_best else move.best,
        ]
        rows.append(("new" if move.round != last and last else "", cells))
        last = move.round
    return _table(["round", "ply", "seat", "move", "before", "after", "loss", "better"], rows)
