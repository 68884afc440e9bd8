"""One game of Azul in Python: look at it, play it, take moves back, write it down.

The rules are those of the compiled engine, which is loaded when the first game is made.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from azul_fast.engine.layout import (
    BAG,
    END,
    END_EXHAUSTED,
    PHASE,
    PHASE_DEAL,
    PHASE_NAMES,
    PHASE_OFFER,
    PHASE_OVER,
    PLAYERS,
    ROUND,
    SCORE,
    STARTER,
    TURN,
    new_state,
    rules_of,
    seat_word,
)
from azul_fast.errors import AzulError, GameOverError, IllegalMoveError, InvalidRecordError, shown
from azul_fast.notation import (
    ACTION_COUNT,
    Move,
    check_deal,
    format_deal,
    format_move,
    format_position,
    objection,
    parse_deal,
    parse_move,
    parse_position,
)
from azul_fast.position import Board, Position
from azul_fast.rules import END_REASONS, MAX_SEED, Rules

DEALS = ("auto", "given")
GAME_FORMAT = "azul-game/1"
RECORD_FORMAT = "azul-record/1"
_DEAL = -1  # the event that is no action


class _Event(NamedTuple):
    before: np.ndarray  # the state before it; never changed
    action: int  # an action index, or _DEAL


@functools.cache
def _engine() -> ModuleType:
    """The kernels; imported late, since that takes a second and text needs none."""
    from azul_fast.engine import step

    return step


class Game:
    """One game, from its first deal or from any position.

    Parameters
    ----------
    rules : Rules, optional
        Two players on the colored wall when not given.
    seed : int, optional
        0 to 2**53 - 1; drawn when not given and needed.
    game : int
        Together with `seed` this names the tiles of every round: those of this game of a batch.
    deals : {"auto", "given"}
        Whether each round is dealt by itself, or waits in phase ``deal`` for `deal`.
    first_player : int or "rotate"
        The seat that starts round 1; ``"rotate"``: seat `game` modulo the players.

    Examples
    --------
    >>> game = Game(seed=1)
    >>> game.play(game.legal_moves()[0])
    >>> game.turn
    1

    Two games are equal when they are in the same position, however they came there.
    """

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        seed: int | None = None,
        game: int = 0,
        deals: str = "auto",
        first_player: int | str = 0,
    ) -> None:
        rules = Rules() if rules is None else rules
        if not isinstance(rules, Rules):
            raise AzulError(f"rules must be a Rules, not {shown(rules)}")
        if first_player == "rotate":
            first_player = game % rules.players
        if isinstance(first_player, bool) or not isinstance(first_player, int):
            raise AzulError(f"first_player must be a seat or 'rotate', not {shown(first_player)}")
        self._set_up(new_state(rules, first_player), seed, game, deals)
        self._deal_if_due()

    def _set_up(self, state: np.ndarray, seed: int | None, game: int, deals: str) -> None:
        if deals not in DEALS:
            raise AzulError(f"deals must be {' or '.join(DEALS)}, not {shown(deals)}")
        for name, value, top in (("seed", seed, MAX_SEED), ("game", game, MAX_SEED)):
            if name == "seed" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= top:
                raise AzulError(f"{name} must be a whole number from 0 to {top}, not {shown(value)}")
        self._rules = rules_of(state)
        self._deals = deals
        self._game = game
        self._seed = secrets.randbelow(MAX_SEED + 1) if seed is None and deals == "auto" else seed
        if self._seed is not None:
            _engine().seed_state(state, self._seed, game, game)
        self._state = state
        self._history: list[_Event] = []
        self._notes: dict[str, Any] = {}  # other keys of the record that this game was read from
        self._mask = np.zeros(ACTION_COUNT, np.uint8)
        if state[PHASE] == PHASE_DEAL and state[BAG] == 0 and not any(self.position.lid):
            self._end_without_tiles()

    def _end_without_tiles(self) -> None:
        """A position that waits for a deal, with nothing to deal, is the end of its game."""
        for seat, board in enumerate(self.boards):
            self._state[seat_word(seat) + SCORE] += board.bonus
        self._state[PHASE], self._state[END] = PHASE_OVER, END_EXHAUSTED

    # ------------------------------------------------------------------------------------------------ looking at it
    @property
    def rules(self) -> Rules:
        """The rules of this game."""
        return self._rules

    @property
    def seed(self) -> int | None:
        """The seed of its deals; None when they are all given."""
        return self._seed

    @property
    def game(self) -> int:
        """The number of the game within its seed."""
        return self._game

    @property
    def deals(self) -> str:
        """``"auto"`` or ``"given"``."""
        return self._deals

    @property
    def state(self) -> np.ndarray:
        """A copy of the engine's words, int64 [STATE_WORDS], as `azul_fast.engine.layout` names them."""
        return self._state.copy()

    @property
    def position(self) -> Position:
        """Everything on the table as plain Python data."""
        return Position.from_state(self._state)

    @property
    def boards(self) -> tuple[Board, ...]:
        """What lies in front of each seat."""
        return self.position.boards

    @property
    def scores(self) -> list[int]:
        """Points of each seat; with the bonuses once the game is over."""
        return [int(self._state[seat_word(seat) + SCORE]) for seat in range(self._rules.players)]

    @property
    def phase(self) -> str:
        """``"deal"``, ``"offer"``, ``"tile"`` or ``"over"``."""
        return PHASE_NAMES[self._state[PHASE]]

    @property
    def turn(self) -> int:
        """The seat to act; in phase ``deal`` the starter of the coming round."""
        return int(self._state[TURN])

    @property
    def starter(self) -> int:
        """The seat that started this round."""
        return int(self._state[STARTER])

    @property
    def round(self) -> int:
        """The round, from 1; 0 before the first deal."""
        return int(self._state[ROUND])

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._state[PHASE] == PHASE_OVER)

    @property
    def history(self) -> list[str]:
        """All that happened since the start: moves, and deals such as ``BBRK,YYWW,…``."""
        return [self._text_of(number) for number in range(len(self._history))]

    def result(self) -> dict[str, Any] | None:
        """Scores, complete rows, winners, rounds and the end reason, as in a record; None before the end."""
        if not self.is_over:
            return None
        scores, rows = self.scores, [board.rows for board in self.boards]
        standing = list(zip(scores, rows, strict=True))
        return {
            "scores": scores,
            "rows": rows,
            "winners": [seat for seat, points in enumerate(standing) if points == max(standing)],
            "rounds": self.round,
            "end": END_REASONS[self._state[END] - 1],
        }

    def __eq__(self, other: object) -> bool:
        return self.to_text() == other.to_text() if isinstance(other, Game) else NotImplemented

    def __repr__(self) -> str:
        return f"Game.from_text({self.to_text()!r}, seed={self._seed}, game={self._game}, deals={self._deals!r})"

    def __str__(self) -> str:
        from azul_fast.drawing import plain

        return plain(self.position)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from azul_fast.drawing import rich_text

        yield rich_text(self.position, options.max_width)

    def _repr_html_(self) -> str:
        from azul_fast.drawing import html

        return html(self.position)

    # ------------------------------------------------------------------------------------------------------- playing
    def legal_mask(self) -> npt.NDArray[np.bool_]:
        """bool [rules.action_count]: which action indexes are legal now."""
        _engine().legal_actions(self._state, self._mask)
        return self._mask[: self._rules.action_count].astype(np.bool_)

    def legal_moves(self) -> list[str]:
        """The texts of all legal moves, in the order of the action index."""
        return [format_move(action) for action in np.flatnonzero(self.legal_mask()).tolist()]

    def why_illegal(self, move: str | int) -> str:
        """The rule against a move; empty when it is legal."""
        return objection(self.position, _move(move))

    def play(self, move: str | int) -> None:
        """Play a move: its text, its action index or a `Move`.

        Raises
        ------
        InvalidMoveError
            It is no move at all.
        IllegalMoveError
            It cannot be played here; the message gives the reason.
        GameOverError
            The game has ended.
        """
        action = _move(move)
        if self.is_over:
            raise GameOverError(f"{action}: the game is over")
        _engine().legal_actions(self._state, self._mask)
        if not self._mask[action]:
            raise IllegalMoveError(f"{action}: {self.why_illegal(action)}")
        self._history.append(_Event(self._state.copy(), int(action)))
        _engine().step(self._state, int(action))
        self._deal_if_due()

    def deal(self, factories: str | Sequence[str]) -> None:
        """Deal the coming round with given tiles, such as ``["BBRK", "YYWW", …]``; ``-`` is an empty factory.

        Raises
        ------
        InvalidDealError
            It is no deal, not due, or not one that bag and lid can give.
        GameOverError
            The game has ended.
        """
        if self.is_over:
            raise GameOverError("deal: the game is over")
        counts = parse_deal(factories, self._rules)
        check_deal(self._state, counts)
        self._history.append(_Event(self._state.copy(), _DEAL))
        _engine().give_deal(self._state, counts)

    def deal_the_rest(self) -> None:
        """From now on rounds are dealt by themselves, as with ``deals="auto"``."""
        self._deals = "auto"
        self._deal_if_due()

    def _deal_if_due(self) -> None:
        if self._deals == "auto" and self._state[PHASE] == PHASE_DEAL:
            self._history.append(_Event(self._state.copy(), _DEAL))
            _engine().deal_round(self._state)

    def undo(self) -> str:
        """Take back the last move, and the deal that followed it by itself; a given deal is taken back on its own.

        Returns
        -------
        str
            The move or the deal that was taken back. Played again, it leads to the same tiles.
        """
        last = len(self._history) - 1
        while last >= 0 and self._deals == "auto" and self._history[last].action == _DEAL:
            last -= 1
        if last < 0:
            raise AzulError("undo: nothing has been played")
        text = self._text_of(last)
        self._state = self._history[last].before.copy()
        del self._history[last:]
        return text

    def copy(self) -> Game:
        """Another game in the same position, with the same history and the same deals to come."""
        twin = Game.__new__(Game)
        twin.__dict__.update(self.__dict__)
        twin._state = self._state.copy()
        twin._history = list(self._history)
        twin._notes = dict(self._notes)
        twin._mask = self._mask.copy()
        return twin

    __copy__ = copy

    def _state_after(self, number: int) -> np.ndarray:
        """The state after event `number` of the history."""
        return self._history[number + 1].before if number + 1 < len(self._history) else self._state

    def _text_of(self, number: int) -> str:
        action = self._history[number].action
        return format_deal(self._state_after(number)) if action == _DEAL else format_move(action)

    # --------------------------------------------------------------------------------------------------- text and JSON
    def to_text(self) -> str:
        """The position as one line."""
        return format_position(self._state)

    @classmethod
    def from_text(cls, text: str, *, seed: int | None = None, game: int = 0, deals: str = "auto") -> Game:
        """The game in a position; `seed`, `game` and `deals` are those of `Game` and say what will be dealt.

        Raises
        ------
        InvalidPositionError
            The message names the field of the text and what is wrong with it.
        """
        new = cls._waiting(text, seed, game, deals)
        new._deal_if_due()
        return new

    @classmethod
    def _waiting(cls, text: str, seed: int | None, game: int, deals: str) -> Game:
        """As `from_text`, but nothing is dealt yet."""
        new = cls.__new__(cls)
        new._set_up(parse_position(text), seed, game, deals)
        return new

    def _start(self) -> np.ndarray:
        """The state in which the history begins."""
        return self._history[0].before if self._history else self._state

    def to_dict(self) -> dict[str, Any]:
        """All of it, history and streams too, as data that JSON can hold; `from_dict` goes on from there."""
        return {
            "format": GAME_FORMAT,
            "start": format_position(self._start()),
            "seed": self._seed,
            "game": self._game,
            "deals": self._deals,
            "events": self.history,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Game:
        """The game that `to_dict` wrote, checked move by move."""
        if not isinstance(data, Mapping) or data.get("format") != GAME_FORMAT:
            given = data.get("format") if isinstance(data, Mapping) else data
            raise InvalidRecordError(f"game: format: {GAME_FORMAT!r} expected, not {shown(given)}")
        events = data.get("events", [])
        if not isinstance(events, list) or not all(isinstance(event, str) for event in events):
            raise InvalidRecordError("game: events: a list of moves and deals expected")
        try:
            new = cls._waiting(data.get("start", ""), data.get("seed"), data.get("game", 0), data.get("deals", "auto"))
        except ValueError as error:
            raise InvalidRecordError(f"game: {error}") from None
        for number, event in enumerate(events, 1):
            try:
                new._replay(event)
            except AzulError as error:
                raise InvalidRecordError(f"game: event {number}: {error}") from None
        new._deal_if_due()
        return new

    def _replay(self, event: str) -> None:
        """Play a move or give a deal; nothing is dealt by itself."""
        if "," in event:
            self.deal(event)
            return
        deals, self._deals = self._deals, "given"
        try:
            self.play(event)
        finally:
            self._deals = deals

    # -------------------------------------------------------------------------------------------------------- records
    def record(self, **notes: Any) -> dict[str, Any]:
        """The finished game as an ``azul-record/1``, which replays without random numbers.

        A game that did not start before its first deal has its start under the key ``position``.

        Parameters
        ----------
        **notes
            More keys for the record, such as ``policies=["random", "greedy"]``.
        """
        if not self.is_over:
            raise AzulError("record: the game is not over (to_dict keeps an unfinished one)")
        start = self._start()
        record: dict[str, Any] = {"format": RECORD_FORMAT, "rules": self._rules.to_dict()}
        if start[ROUND] == 0:
            record["first_player"] = int(start[TURN])
        else:
            record["position"] = format_position(start)
        if self._seed is not None:
            record |= {"seed": self._seed, "game": self._game}
        record |= {key: value for key, value in (self._notes | notes).items() if key not in record}
        record["rounds"] = self._rounds()
        record["result"] = self.result()
        return record

    def _rounds(self) -> list[dict[str, Any]]:
        rounds: list[dict[str, Any]] = []
        for number, (before, action) in enumerate(self._history):
            after = self._state_after(number)
            if action == _DEAL:
                rounds.append({"deal": format_deal(after)})
            elif not rounds:  # the history starts within a round
                rounds.append({})
            current = rounds[-1]
            current.setdefault("moves", [])
            if self._rules.wall == "free":
                current.setdefault("tiles", [[] for _ in range(self._rules.players)])
            if action != _DEAL:
                text = format_move(action)
                if before[PHASE] == PHASE_OFFER:
                    current["moves"].append(text)
                else:
                    current["tiles"][before[TURN]].append(text)
            if action != _DEAL and after[PHASE] in (PHASE_DEAL, PHASE_OVER):
                current["scores"] = round_scores(after)
        for current in rounds:
            current["moves"] = " ".join(current["moves"])
            if "tiles" in current:
                current["tiles"] = [" ".join(choices) for choices in current["tiles"]]
        return rounds


def round_scores(state: np.ndarray) -> list[int]:
    """Scores at the end of a round, before the bonuses of the last one."""
    if state[PHASE] == PHASE_OVER:
        return [board.score - board.bonus for board in Position.from_state(state).boards]
    return [int(state[seat_word(seat) + SCORE]) for seat in range(state[PLAYERS])]


def _move(move: str | int) -> Move:
    return Move(parse_move(move) if isinstance(move, str) else move)
