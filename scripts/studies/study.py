"""What the studies share: their options, self-play, games played on from positions, estimates, and how they print."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any, NoReturn

import numpy as np

import azul_fast as az
from azul_fast.errors import AzulError
from azul_fast.position import Position
from azul_fast.stats import Estimate

FORMAT = "azul-study/1"
SEED = 1  # if not given: what a guide prints can be printed again
UNIT = 12  # games: whole blocks of all seats with 2, 3 and 4 players
WALLS = {"fixed": "coloured", "free": "gray"}


# -------------------------------------------------------------------------------------------------------- the options
@dataclass(frozen=True)
class Options:
    """What a study is called with."""

    name: str
    seed: int
    threads: int
    scale: float

    def size(self, number: int, unit: int = UNIT) -> int:
        """A sample of `number`, scaled, in whole units and never less than four of them."""
        return max(4, round(number * self.scale / unit)) * unit

    def say(self, text: str) -> None:
        """Tell on standard error what is being played."""
        print(f"{self.name}: {text} ...", file=sys.stderr, flush=True)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise AzulError(message)


def _options(name: str, doc: str) -> tuple[Options, bool]:
    from azul_fast.batch import thread_count, whole_number
    from azul_fast.rules import MAX_SEED

    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog=f"scripts/study {name}", description=doc, formatter_class=raw, allow_abbrev=False)
    parser.add_argument("--seed", type=_whole, default=SEED, help=f"0 to 2^53 - 1; {SEED} if not given")
    parser.add_argument("--threads", type=_whole, help="all processors if not given; no figure depends on it")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the samples: 0.1 is quick, 100 exact")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print the result as JSON")
    given = parser.parse_args()
    if not 0 < given.scale <= 10_000:
        raise AzulError(f"--scale must be above 0 and at most 10000, not {given.scale:g}")
    seed = whole_number("--seed", given.seed, 0, MAX_SEED)
    return Options(name, seed, thread_count(given.threads), given.scale), given.as_json


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number is needed, not {text[:40]!r}") from None


def run(study: Callable[[Options], Report], file: str, doc: str | None) -> NoReturn:
    """Read the options, make the study and print its report; a failure is one line. Ends the process."""
    name = Path(file).stem
    try:
        options, as_json = _options(name, doc or "")
        from azul_fast.cli.main import announce_compilation

        announce_compilation()
        report = study(options)
        text = json.dumps(report.to_dict(), allow_nan=False) if as_json else str(report)
        if not (sys.stdout.encoding or "").lower().startswith("utf"):
            text = text.replace("±", "+-").encode("ascii", "replace").decode()
        print(text, flush=True)
        raise SystemExit(0)
    except AzulError as error:
        print(f"study {name}: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        sys.stdout = None
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        print(f"study {name}: interrupted", file=sys.stderr)
        raise SystemExit(130) from None


# --------------------------------------------------------------------------------------------------------- the report
@dataclass
class Table:
    """Rows of cells: a text, a whole number, or an `Estimate`, which is shown with its standard error."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """Add a row."""
        assert len(cells) == len(self.columns)
        self.rows.append(cells)

    def __str__(self) -> str:
        lines = [self.columns, *(tuple(map(_shown, row)) for row in self.rows)]
        is_text = [all(isinstance(row[i], str) for row in self.rows) for i in range(len(self.columns))]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        drawn = [
            "  ".join(c.ljust(w) if t else c.rjust(w) for c, w, t in zip(line, widths, is_text, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, "", drawn[0], "─" * (sum(widths) + 2 * len(widths) - 2), *drawn[1:]])

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: estimates with mean, se and ci95."""
        rows = [[c.to_dict() if isinstance(c, Estimate) else c for c in row] for row in self.rows]
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [dict(zip(self.columns, row, strict=True)) for row in rows],
        }


@dataclass
class Report:
    """What a study found: tables, sentences that answer its question, and notes on what the figures mean."""

    options: Options
    question: str
    tables: list[Table] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def table(self, title: str, *columns: str) -> Table:
        """Begin another table."""
        self.tables.append(Table(title, columns))
        return self.tables[-1]

    def __str__(self) -> str:
        options = self.options
        scale = "" if options.scale == 1 else f" --scale {options.scale:g}"
        parts = [f"{self.question}\nseed {options.seed} · ± is one standard error"]
        parts += map(str, self.tables)
        parts += map(_wrapped, self.answers + self.notes)
        parts.append(f"To repeat: scripts/study {options.name} --seed {options.seed}{scale}")
        return "\n\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: the same for one seed and scale whatever the threads."""
        return {
            "format": FORMAT,
            "study": self.options.name,
            "question": self.question,
            "seed": self.options.seed,
            "scale": self.options.scale,
            "tables": [table.to_dict() for table in self.tables],
            "answers": self.answers,
            "notes": self.notes,
        }


def _shown(cell: Any) -> str:
    from azul_fast.display import number

    if isinstance(cell, Estimate):
        return number(cell)
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 100, break_on_hyphens=False)


def interval(estimate: Estimate, decimals: int = 1) -> str:
    """An estimate in a sentence: ``2.1 (1.8 to 2.4)``, with its 95% interval."""
    if estimate.ci95 is None:
        return f"{estimate.mean:.{decimals}f}"
    low, high = estimate.ci95
    return f"{estimate.mean:.{decimals}f} ({low:.{decimals}f} to {high:.{decimals}f})"


def is_clear(estimate: Estimate, tests: int = 1) -> bool:
    """Whether it is not 0, at 5% for so many tests together (Bonferroni)."""
    limit = NormalDist().inv_cdf(1 - 0.025 / tests)
    return estimate.se is not None and abs(estimate.mean) > limit * estimate.se


# -------------------------------------------------------------------------------------------------------- estimates
def mean_by_game(values: np.ndarray, games: np.ndarray, weights: np.ndarray | None = None) -> Estimate:
    """Sum of `values` per sum of `weights` (1 each if not given), with the game as the sample.

    Values of one game depend on each other, so they are added up first. The ratio r of the sums Y and X of n games has
    the standard error sqrt(sum (Y - r X)^2 / (n (n - 1))) / mean(X): Cochran, Sampling Techniques, 3rd ed. (1977),
    section 6.4.

    Parameters
    ----------
    values, weights : float [n]
    games : int [n]
        The game of each value.
    """
    values = np.asarray(values, float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    _, games = np.unique(games, return_inverse=True)
    x, y = np.bincount(games, weights), np.bincount(games, values)
    n = len(x)
    if n == 0:
        return Estimate(0.0, None)
    ratio = float(y.sum() / x.sum())
    if n == 1:
        return Estimate(ratio, None)
    return Estimate(ratio, math.sqrt(float(np.square(y - ratio * x).sum()) / (n * (n - 1))) / float(x.mean()))


def mean_of(values: np.ndarray) -> Estimate:
    """Mean of independent values."""
    return mean_by_game(values, np.arange(len(values)))


# ---------------------------------------------------------------------------------------------------- whole games
def simulate(
    options: Options, games: int, rules: az.Rules, policies: str | Sequence[str], **more: Any
) -> az.Statistics:
    """`azul_fast.simulate` with the study's seed and threads; Ctrl-C ends the study."""
    options.say(f"{games:,} games, {rules.players} players, {WALLS[rules.wall]} wall, {_names(policies)}")
    stats = az.simulate(games, rules, policies, seed=options.seed, threads=options.threads, **more)
    if stats.interrupted:
        raise KeyboardInterrupt
    return stats


def columns(
    options: Options, names: Sequence[str], games: int, rules: az.Rules, policies: str | Sequence[str], **more: Any
) -> dict[str, np.ndarray]:
    """Some columns of the per-game table (`azul_fast.tables`) of such games: [games, players] each."""
    from azul_fast.batch import describe
    from azul_fast.tables import COLUMNS, Games

    played = describe(games, rules, policies, seed=options.seed, **more)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in names}

    def keep(first: int, count: int, results: np.ndarray) -> None:
        chunk = Games(played, first, results[:, :count].copy())
        for name in names:
            parts[name].append(COLUMNS[name](chunk).reshape(count, -1))

    simulate(options, games, rules, policies, on_chunk=keep, **more)
    return {name: np.concatenate(chunks) for name, chunks in parts.items()}


def _names(policies: str | Sequence[str]) -> str:
    return policies if isinstance(policies, str) else ", ".join(policies)


# ------------------------------------------------------------------------------------------------ positions, played on
def self_play(options: Options, games: int, policies: Sequence[str]) -> Iterator[Iterator[az.Game]]:
    """Games of two, the first player in turn: for each, the game before every ply and once when it is over."""
    from azul_fast.players import Players

    options.say(f"{games:,} games for their positions, {_names(policies)}")
    players = Players(policies)
    for number in range(games):
        yield _plies(az.Game(seed=options.seed, game=number, first_player="rotate"), players, options.seed)


def _plies(game: az.Game, players: Any, seed: int) -> Iterator[az.Game]:
    while not game.is_over:
        yield game
        game.play(players.choose(game.state, game.turn, seed, game.game))
    yield game


def play_on(
    options: Options, cases: Sequence[Sequence[Position]], policies: Sequence[str], rollouts: int
) -> tuple[np.ndarray, np.ndarray]:
    """Play positions of two players on to the end; all positions of one case meet the same deals.

    Parameters
    ----------
    cases : sequence of sequence of Position
        Each is checked as a text from outside is.
    policies : sequence of str
        Who plays each seat.
    rollouts : int
        Games from each position.

    Returns
    -------
    wins, margins : float [cases, positions]
        Mean win share, and margin in points, of seat 0.
    """
    from azul_fast.evaluation import FIRST_ROLLOUT
    from azul_fast.position import parse_position
    from azul_fast.rollouts import POINT_UNIT, WIN_UNIT, Rollouts

    options.say(f"{len(cases):,} positions played on, {rollouts} times a variant, {_names(policies)}")
    player = Rollouts(policies, 0, options.seed, False)

    def means(number: int) -> list[tuple[float, float]]:
        wins, margins = np.empty(rollouts, np.int32), np.empty(rollouts, np.int32)
        found = []
        for position in cases[number]:
            player.play(parse_position(str(position)), FIRST_ROLLOUT + number * rollouts, wins, margins)
            found.append((wins.mean() / WIN_UNIT, margins.mean() / POINT_UNIT))
        return found

    with ThreadPoolExecutor(options.threads) as pool:
        try:
            values = np.array(list(pool.map(means, range(len(cases)))))
        except KeyboardInterrupt:
            player.stop[0] = 1
            pool.shutdown(cancel_futures=True)
            raise
    return values[:, :, 0], values[:, :, 1]
