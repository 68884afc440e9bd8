"""Statistics drawn for the terminal: tables, a histogram of scores and the wall; readable at 80 columns and without
color, and in ASCII alone."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.protocol import is_renderable
from rich.table import Table
from rich.text import Text

from azul_fast.rules import COLORS, END_REASONS, WALL_SIZE, wall_color
from azul_fast.stats import BONUSES, Estimate, Figures, Statistics

WIDTH = 80  # characters, where there is no terminal to ask
SHOWN_QUANTILES = {0.01: "1%", 0.05: "5%", 0.25: "25%", 0.5: "median", 0.75: "75%", 0.95: "95%", 0.99: "99%"}
COLUMNS = 4  # seats and policies that one table is for
LABEL_WIDTH, COLUMN_WIDTH = 25, 17  # of a table of figures
HISTOGRAM_BINS = 20
BAR_STEPS = (1, 2, 5, 10, 20, 50)  # scores in one bar
SHADES = " ░▒▓█"  # of a wall cell, from empty to filled in every game
WALL_STYLES = {"B": "blue", "Y": "yellow", "R": "red", "K": "bright_black", "W": "white"}
END_TEXTS = {
    "row": "ended by a complete row",
    "exhausted": "ended for want of tiles",
    "stalled": "stopped at the last round",
}
_ASCII = str.maketrans(
    {"±": "~", "→": ">", "…": "...", "·": "-", "─": "-", "█": "#", "▌": " ", "░": ".", "▒": ":", "▓": "+"}
)


def as_text(statistics_: Statistics, width: int | None = None, ascii_only: bool = False) -> str:
    """The drawing as plain text, without color; as wide as its tables where no `width` is given."""
    if width is None:
        width = _full_width(statistics_)
    console = _console(width)
    console.print(statistics(statistics_, width))
    assert isinstance(console.file, io.StringIO)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    return text.translate(_ASCII) if ascii_only else text


def html(result: object) -> str:
    """A result as a notebook shows it: as a terminal would that is wide enough."""
    if isinstance(result, Statistics):
        width = _full_width(result)
    else:
        width = max(WIDTH, *map(len, str(result).splitlines()))
    console = _console(width, record=True)
    console.print(result if is_renderable(result) else Text(str(result)))
    return console.export_html(inline_styles=True, code_format='<pre style="line-height:1.3">{code}</pre>')


def _console(width: int, record: bool = False) -> Console:
    """A console that writes to memory."""
    return Console(
        file=io.StringIO(), width=width, color_system=None, force_terminal=False, highlight=False, record=record
    )


def _full_width(stats: Statistics) -> int:
    """How wide a drawing has all seats and policies beside each other."""
    return max(WIDTH, LABEL_WIDTH + COLUMN_WIDTH * (stats.run.players + len(stats.run.labels)))


def statistics(stats: Statistics, width: int = WIDTH) -> RenderableType:
    """The drawing for Rich, `width` characters wide."""
    run = stats.run
    seats = {f"seat {seat}\n{stats.policy_of(seat) or 'rotating'}": f for seat, f in enumerate(stats.seats)}
    policies = {f"{label}\nall its seats": f for label, f in stats.policies.items()}
    parts: list[RenderableType] = [_headline(stats)]
    if run.rotations == 1 and len(run.labels) == run.players:
        note = Text("Each policy holds one seat: its figures are those of the seat.\n")
        parts += [*_figures("Seats and policies", seats, width), note]
    elif len(seats) + len(policies) <= COLUMNS:
        parts += _figures("Seats and policies", {**seats, **policies}, width)
    else:
        parts += [*_figures("Seats", seats, width), *_figures("Policies", policies, width)]
    parts += [_games(stats), _starting(stats), _histogram(stats), _walls(stats)]
    return Group(*parts)


def number(estimate: Estimate, percent: bool = False) -> str:
    """A mean and its standard error, with as many digits as the error leaves."""
    mean, se = estimate.mean, estimate.se
    if percent:
        mean, se = 100 * mean, None if se is None else 100 * se
    if se is None:
        return f"{mean:.4g}"
    if se == 0:
        return f"{round(mean, 4):g} ±0"
    decimals = max(0, -math.floor(math.log10(se)))
    if round(se, decimals) * 10**decimals < 2:  # one more digit where the first is a 1
        decimals += 1
    return f"{mean:.{decimals}f} ±{se:.{decimals}f}"


def _headline(stats: Statistics) -> Text:
    run, rules = stats.run, stats.run.rules
    wall = "coloured wall" if rules.wall == "fixed" else "gray wall"
    overflow = "overflow to the lid" if rules.overflow == "lid" else "overflow removed from the game"
    text = Text()
    text.append(f"{stats.games:,} games", "bold")
    if stats.interrupted:
        text.append(f", interrupted (of {stats.about.get('games_asked', stats.games):,})", "bold red")
    text.append(f" · {run.players} players · {wall} · {overflow}\n")
    text.append(f"policies {', '.join(run.policies)} · first player {run.first_player}")
    text.append(f" · max. {rules.max_rounds:,} rounds · seed {run.seed}")
    if run.first_game:
        text.append(f" · from game {run.first_game:,}")
    text.append("\n")
    for name in ("position", "deal"):
        if (value := getattr(run, name)) is not None:
            text.append(f"{name} {value}\n")
    if run.rotations > 1:
        text.append(f"Each deal is played in all {run.rotations} rotations of the seats: {stats.samples:,} samples.\n")
    text.append("± is one standard error.\n")
    return text


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _figures(title: str, columns: dict[str, Figures], width: int) -> list[Table]:
    """The figures in as many tables, one below the other, as it takes for no cell to be split."""
    tables = -(-len(columns) // max(1, (width - LABEL_WIDTH) // COLUMN_WIDTH))
    each = -(-len(columns) // tables)
    names = list(columns)
    return [
        _figures_table(title if first == 0 else "", {name: columns[name] for name in names[first : first + each]})
        for first in range(0, len(names), each)
    ]


def _figures_table(title: str, columns: dict[str, Figures]) -> Table:
    table = _table(title, list(columns))

    def row(label: str, cell: Callable[[Figures], str]) -> None:
        table.add_row(label, *map(cell, columns.values()))

    row("score", lambda f: number(f.score))
    row("  standard dev.", lambda f: number(Estimate(f.score.sd or 0.0, f.score.sd_se)))
    for share, label in SHOWN_QUANTILES.items():
        row(f"  {label}", lambda f, share=share: _quantile(f, share))  # type: ignore[misc]
    row("win share, %", lambda f: number(f.win_share, percent=True))
    row("  won alone, %", lambda f: number(f.outright, percent=True))
    row("  shared, %", lambda f: number(f.shared, percent=True))
    row("margin", lambda f: number(f.margin))
    row("points placed", lambda f: number(f.placement_points))
    row("lost to the floor", lambda f: number(f.floor_points))
    row("back by the 0 limit", lambda f: number(f.clamp_points))
    for name in BONUSES:
        row(f"complete {name}", lambda f, name=name: number(getattr(f, name)))  # type: ignore[misc]
        row("  bring points", lambda f, name=name: number(f.bonus(name)))  # type: ignore[misc]
    return table


def _quantile(figures: Figures, share: float) -> str:
    quantile = next(q for q in figures.score.quantiles if q.share == share)
    return f"{quantile.value}" if quantile.se is None else f"{quantile.value} ±{quantile.se:g}"


def _games(stats: Statistics) -> Table:
    table = _table("Games", ["mean or number", "standard dev. or %"])
    for name in ("rounds", "plies"):
        estimate: Estimate = getattr(stats, name)
        table.add_row(name, number(estimate), "" if estimate.sd is None else f"{estimate.sd:.4g}")
    for reason in END_REASONS:
        table.add_row(END_TEXTS[reason], f"{stats.ends[reason]:,}", number(stats.share(reason), percent=True))
    table.add_row("won by more than one", f"{stats.shared_wins:,}", number(stats.share("shared_win"), percent=True))
    table.add_row("with a short deal", f"{stats.short_deals:,}", number(stats.share("short_deal"), percent=True))
    return table


def _starting(stats: Statistics) -> RenderableType:
    run, starting = stats.run, stats.starting
    who = "the seat that starts" if run.first_player == "rotate" else f"seat {run.first_player}"
    table = _table(f"What starting is worth ({who})", [""])
    table.show_header = False
    table.add_row("win share, %", number(starting.win_share, percent=True))
    table.add_row("  above an equal share, %", number(starting.advantage, percent=True))
    table.add_row("margin", number(starting.margin))
    table.add_row("score above the others' mean", number(starting.lead))
    if len(_starters(stats)) == len(run.labels):
        return table
    note = f"Only {', '.join(_starters(stats))} starts, so this is the worth of the policy as much as of starting.\n"
    return Group(table, Text(note))


def _starters(stats: Statistics) -> list[str]:
    """The policies that start games."""
    run = stats.run
    turns = range(run.players if run.first_player == "rotate" else run.rotations)  # games that show all there is
    seats = [turn if run.first_player == "rotate" else int(run.first_player) for turn in turns]
    starters = [
        run.policies[(seat + turn % run.rotations) % run.players] for turn, seat in zip(turns, seats, strict=True)
    ]
    return list(dict.fromkeys(starters))


def _histogram(stats: Statistics) -> Table:
    """Share of games by score, a column of bars a policy."""
    policies = stats.policies
    last = max(next(q.value for q in f.score.quantiles if q.share == 0.999) for f in policies.values())
    first = min(f.score.minimum for f in policies.values())
    step = next((s for s in BAR_STEPS if (last - first) // s < HISTOGRAM_BINS), BAR_STEPS[-1])
    lows = range(first // step * step, last + 1, step)
    shares = [list(_bins(f.score.histogram, lows)) for f in policies.values()]
    table = Table(title="Scores, % of games", title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    for label in policies:
        table.add_column(label, no_wrap=True)
    length = min(48, (WIDTH - 12) // len(policies) - 10)
    highest = max(map(max, shares))
    for i, low in enumerate(lows):
        label = f"{low}" if step == 1 else f"{low}-{low + step - 1}"
        if i == len(lows) - 1:
            label = f"{low}+"
        table.add_row(label, *(_bar(column[i], highest, length) for column in shares))
    return table


def _bins(histogram: Sequence[int], lows: range) -> Iterator[float]:
    """Share of all games in each bin; the last has all above it too."""
    total = sum(histogram)
    for low in lows:
        yield sum(histogram[low : None if low == lows[-1] else low + lows.step]) / total


def _bar(share: float, highest: float, length: int) -> Text:
    halves = round(2 * length * share / highest)
    return Text(f"{100 * share:5.1f} ").append("█" * (halves // 2) + "▌" * (halves % 2), "cyan")


def _walls(stats: Statistics) -> RenderableType:
    """Share of games that end with each wall cell filled, a wall a policy."""
    grid = Table.grid(padding=(0, 3, 1, 0))
    drawn = [_wall(label, figures, stats.run.rules.wall == "fixed") for label, figures in stats.policies.items()]
    for i in range(0, len(drawn), 3):  # three fit beside each other
        grid.add_row(*drawn[i : i + 3])
    error = max(max(map(max, figures.wall_se)) for figures in stats.policies.values())
    title = Text.assemble(
        ("\nWall cells filled at the end, % of games", "bold"), f" (standard errors up to {100 * error:.2g})"
    )
    return Group(title, Padding(grid, 0))


def _wall(label: str, figures: Figures, colored: bool) -> Text:
    text = Text(f"{label}\n", no_wrap=True)
    for row, shares in enumerate(figures.wall):
        for column, share in enumerate(shares):
            shade = SHADES[min(int(share * len(SHADES)), len(SHADES) - 1)]
            style = WALL_STYLES[COLORS[wall_color(row, column)]] if colored else ""
            text.append(shade, style).append(f"{100 * share:3.0f}" + " " * (column < WALL_SIZE - 1))
        text.append("\n" if row < WALL_SIZE - 1 else "")
    return text
