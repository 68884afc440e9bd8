"""Who plays: policies by name, made into something that plays whole games or chooses one move.

Games in which every seat has a policy of the general kernel are played by that kernel (or by lockstep). In all others
a policy is a compiled function of a `View`: built-in, from a user's file or given in Python. All such functions have
one signature, so the kernel that calls them is compiled once and cached.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from azul_fast._jit import cache_beside_kernels, inline, inner, kernel
from azul_fast.engine.bits import trailing_zeros
from azul_fast.engine.layout import (
    CHOICES,
    LINE_PAIRS,
    PAIRS,
    PHASE,
    PHASE_DEAL,
    PHASE_OFFER,
    PHASE_OVER,
    PLIES,
    POLICY_KEY,
    ROUND,
    ROUND_PLIES,
    STATE_WORDS,
    TURN,
)
from azul_fast.engine.moves import seat_words
from azul_fast.engine.rng import POLICIES as POLICY_DOMAIN
from azul_fast.engine.rng import stream_key
from azul_fast.engine.rounds import deal, full_lines, open_columns
from azul_fast.engine.step import ACTION_COUNT, SOURCE_ACTIONS, TILE_ACTIONS, legal_actions, step_inline
from azul_fast.engine.words import words
from azul_fast.errors import PolicyError
from azul_fast.notation import format_move, format_position
from azul_fast.playout import (
    RUN_FIRST_ROTATES,
    RUN_POLICIES,
    RUN_ROTATIONS,
    RUN_SEED,
    RUN_WORDS,
    SLOT_POLICIES,
    SLOT_WORDS,
    choose_action,
    play_games,
    policy_key,
    slot_policy,
    slot_worths,
    start_game,
    write_result,
)
from azul_fast.policies import POLICIES, PolicySpec, given_function, parse_policy
from azul_fast.policies.view import POLICY_TYPE, VIEW_TYPE, look, view_arrays
from azul_fast.rules import DESTINATION_COUNT, MAX_PLAYERS, SOURCE_COUNT, WALL_SIZE

FINISHED, ILLEGAL, STOPPED = 0, 1, 2  # how a call of the kernel ended
OPEN = len(POLICIES)  # from this id on a policy is a function: OPEN + i is function i
USER_MEMORY = 1 << 10  # words of `View.memory` for a policy of one's own
MODULES = {  # [built-in] -> where its function is; imported, and so compiled, when it is used
    "plan": "azul_fast.policies.plan",
    "search": "azul_fast.search.alphabeta",
    "mcts": "azul_fast.search.mcts",
}
_WORD = np.int64(2**63 - 1)

# What a call tells, in words.
CALL_DONE, CALL_ACTION = range(2)  # games finished; the answer that was not legal
CALL_WORDS = 2


class Program(NamedTuple):
    """A policy that is a function: the compiled function, its parameters, and the words of memory it wants."""

    function: Any
    parameters: tuple[float, ...]
    memory: int


# ------------------------------------------------------------------------------------------------------- the kernels
@inline
def is_legal(state, action):
    """Whether `action`, any number, is legal in phase offer or tile."""
    if action < 0 or action >= ACTION_COUNT:
        return False
    player = seat_words(state, state[TURN])
    if state[PHASE] == PHASE_OFFER:
        source = action // SOURCE_ACTIONS
        color = action // DESTINATION_COUNT - source * (SOURCE_ACTIONS // DESTINATION_COUNT)
        line = action % DESTINATION_COUNT
        pair = np.int64(1) << (SOURCE_COUNT * color + source)
        return action < TILE_ACTIONS and (state[PAIRS] & player[LINE_PAIRS + line] & pair) != 0
    if action < TILE_ACTIONS:
        return False
    row = trailing_zeros(full_lines(player)) >> 3
    columns = open_columns(player, row)
    column = action % DESTINATION_COUNT
    if (action - TILE_ACTIONS) // DESTINATION_COUNT != row:
        return False
    return columns == 0 if column == WALL_SIZE else (columns >> column & 1) != 0


@inline
def own_word(state):
    """63 random bits for a policy's function, of this game, round and move alone."""
    number = state[ROUND] << 20 | state[ROUND_PLIES] << 8 | state[CHOICES]
    return stream_key(state[POLICY_KEY], number, POLICY_DOMAIN) & _WORD


@inline
def _ask(f0, f1, f2, f3, number, view):
    if number == 0:
        return f0(view)
    if number == 1:
        return f1(view)
    if number == 2:
        return f2(view)
    return f3(view)


@inline
def play_on(slot, cut, call, stop, arrays, parameters, memory, f0, f1, f2, f3):
    """Play the game of a slot to its end or, with `cut`, to the end of the round; returns how that went."""
    moves, offer, walls, lines, floors, scores, bag, own_state = arrays
    memory[:] = 0
    while slot[PHASE] != PHASE_OVER:
        if stop[0] != 0:
            return STOPPED
        if slot[PHASE] == PHASE_DEAL:
            if cut:
                break
            deal(slot)
            continue
        turn = slot[TURN] & 3
        policy = slot_policy(slot, turn)
        if policy < OPEN:
            action = choose_action(slot, policy, slot_worths(slot, turn))
        else:
            number = policy - OPEN
            view = look(
                slot,
                own_word(slot),
                parameters[number],
                memory[turn],
                moves,
                offer,
                walls,
                lines,
                floors,
                scores,
                bag,
                own_state,
            )
            action = _ask(f0, f1, f2, f3, number, view)
            if not is_legal(slot, action):
                call[CALL_ACTION] = action
                return ILLEGAL
        step_inline(slot, action)
    return FINISHED


def _play(start, run, first_game, count, slot, out, stride, call, stop, arrays, parameters, memory, f0, f1, f2, f3):
    start, run, slot, out = words(start), words(run), words(slot), words(out)
    for i in range(count):
        call[CALL_DONE] = i
        start_game(slot, start, run, first_game + i)
        status = play_on(slot, False, call, stop, arrays, parameters, memory, f0, f1, f2, f3)
        if status != FINISHED:
            return status
        write_result(slot, out, stride, i)
    call[CALL_DONE] = count
    return FINISHED


def _look(state, key, parameters, memory, arrays, function):
    moves, offer, walls, lines, floors, scores, bag, own_state = arrays
    state = words(state)
    state[POLICY_KEY] = key
    word = own_word(state)
    view = look(state, word, parameters, memory, moves, offer, walls, lines, floors, scores, bag, own_state)
    return function(view)


@inner
def _nobody(view):
    """Fills the place of a policy's function where there is none."""
    return np.int64(-1)


WORDS, NUMBERS, COUNT, RESULTS = types.int64[::1], types.float64[::1], types.int64, types.int32[::1]
_2D, _3D, _TABLE = types.int64[:, ::1], types.int64[:, :, ::1], types.float64[:, ::1]
_ARRAYS = types.Tuple((_2D, _2D, _3D, _3D, WORDS, WORDS, WORDS, WORDS))
# The last arguments of a kernel that uses `play_on`: from `call` on; `Players.arguments` has the values.
PLAY_ON_TYPES = (WORDS, WORDS, _ARRAYS, _TABLE, _2D, *(POLICY_TYPE,) * MAX_PLAYERS)
_PLAY_TYPES = (WORDS, WORDS, COUNT, COUNT, WORDS, RESULTS, COUNT, *PLAY_ON_TYPES)
_LOOK_TYPES = (WORDS, COUNT, NUMBERS, WORDS, _ARRAYS, POLICY_TYPE)


@functools.cache
def compiled(function: Callable[..., Any], argument_types: tuple[Any, ...]) -> Any:
    """`function` as a kernel for any policies: passed functions must not choose a version of their own."""
    dispatcher = kernel(function)
    dispatcher.compile(argument_types)
    dispatcher.disable_compile()
    return dispatcher


# ------------------------------------------------------------------------------------------------------ the programs
@functools.cache
def program(text: str) -> Program:
    """The function that a policy's name stands for, compiled.

    Raises
    ------
    PolicyError
        If a file does not run, its function is not compiled with numba, or it does not take a `View` and return an
        action.
    """
    spec = parse_policy(text)
    if spec.file is None and given_function(spec.name) is None:
        module = importlib.import_module(MODULES[spec.name])
        return Program(_as_policy(getattr(module, spec.name), spec), tuple(spec.numbers), getattr(module, "MEMORY", 1))
    function = given_function(spec.name) if spec.file is None else getattr(_load(spec.file), spec.name, None)
    if not isinstance(function, numba.core.dispatcher.Dispatcher):
        raise PolicyError(f"policy {text}: a function compiled with @njit is needed")
    return Program(_as_policy(function, spec), tuple(spec.numbers), USER_MEMORY)


@functools.cache
def _load(file: str) -> ModuleType:
    """The module in a file."""
    path = Path(file).resolve()
    name = f"azul_fast_policies_{path.stem}"
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # so that it may import its neighbours
    try:
        found.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PolicyError(f"policy file {file}: {type(error).__name__}: {_line(error)}") from error
    finally:
        sys.path.pop(0)
    return module


def _as_policy(function: Any, spec: PolicySpec) -> Any:
    """`function`, compiled for a `View`."""
    if (VIEW_TYPE,) in function.overloads:  # another name of the same function
        return function
    if spec.file is not None:
        cache_beside_kernels(function, Path(spec.file).read_bytes())
    try:
        function.compile((VIEW_TYPE,))
    except Exception as error:  # of many kinds: what numba cannot read, another number of arguments
        raise PolicyError(f"policy {spec.text} does not compile: {_line(error)}") from error
    result = function.overloads[(VIEW_TYPE,)].signature.return_type
    if not isinstance(result, types.Integer):
        raise PolicyError(f"policy {spec.text} returns {result}; an action index is needed: view.moves[i, ACTION]")
    if result != types.int64:
        function = _widened(function)
        function.compile((VIEW_TYPE,))
    function.disable_compile()
    return function


def _widened(function: Any) -> Any:
    return numba.njit(nogil=True)(lambda view: np.int64(function(view)))


def _line(error: BaseException) -> str:
    """The part of an error's message that says most, on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in", "During", "File", "<source", "^"))]
    return " ".join((telling or lines or ["?"])[:2])[:200]


# ------------------------------------------------------------------------------------------------------- what is used
class Players:
    """The policies of a run, ready to play.

    Parameters
    ----------
    policies : sequence of str
        The name of the policy of each seat in rotation 0.
    """

    def __init__(self, policies: Sequence[str]) -> None:
        self.policies = tuple(policies)
        specs = [parse_policy(text) for text in policies]
        functions = list(dict.fromkeys(spec.text for spec in specs if not spec.is_kernel))
        self.names = functions
        self.programs = [program(text) for text in functions]
        self.is_open = bool(functions)
        self.memory_words = max((each.memory for each in self.programs), default=1)
        self.ids = np.array(
            [POLICIES.index(spec.name) if spec.is_kernel else OPEN + functions.index(spec.text) for spec in specs],
            np.int64,
        )
        self.parameters = np.zeros((MAX_PLAYERS, max((len(each.parameters) for each in self.programs), default=1) or 1))
        for i, each in enumerate(self.programs):
            self.parameters[i, : len(each.parameters)] = each.parameters
        if self.is_open:
            compiled(_play, _PLAY_TYPES)

    @functools.cached_property
    def functions(self) -> list[Any]:
        """A function for each place that there is for one."""
        if not self.is_open:
            _nobody.compile((VIEW_TYPE,))
            return [_nobody] * MAX_PLAYERS
        return [self.programs[min(i, len(self.programs) - 1)].function for i in range(MAX_PLAYERS)]

    def run_words(self, rotations: int, first_rotates: int, seed: int) -> np.ndarray:
        """What a batch is, as kernels read it: int64 [RUN_WORDS]."""
        run = np.zeros(RUN_WORDS, np.int64)
        run[RUN_POLICIES : RUN_POLICIES + len(self.ids)] = self.ids
        run[RUN_ROTATIONS], run[RUN_FIRST_ROTATES], run[RUN_SEED] = rotations, first_rotates, seed
        return run

    def arguments(self, stop: np.ndarray) -> tuple[Any, ...]:
        """Values for `PLAY_ON_TYPES`: those of one call, new but for `stop`."""
        memory = np.zeros((len(self.ids), self.memory_words), np.int64)
        return np.zeros(CALL_WORDS, np.int64), stop, view_arrays(), self.parameters, memory, *self.functions

    def play(
        self,
        start: np.ndarray,
        rotations: int,
        first_rotates: int,
        seed: int,
        first_game: int,
        count: int,
        out: np.ndarray,
        stop: np.ndarray,
    ) -> int:
        """Play games `first_game` to `first_game` + `count` - 1, as `azul_fast.playout.play_general` does.

        Parameters
        ----------
        start, rotations, first_rotates, seed, first_game, count, out
            As there.
        stop : int64 [1]
            Set to 1 by another thread, it stops a run of slow policies within a move.

        Returns
        -------
        int
            Games that were finished: `count`, but for a stop.

        Raises
        ------
        PolicyError
            If a policy's answer is not legal.
        """
        if not self.is_open:
            play_games(start, self.ids, rotations, first_rotates, seed, first_game, count, out)
            return count
        slot, arguments = np.zeros(SLOT_WORDS, np.int64), self.arguments(stop)
        run = self.run_words(rotations, first_rotates, seed)
        play_kernel = compiled(_play, _PLAY_TYPES)
        status = play_kernel(start, run, first_game, count, slot, out.reshape(-1), out.shape[1], *arguments)
        done, action = arguments[0].tolist()
        if status == ILLEGAL:
            name = self.names[int(slot[SLOT_POLICIES + slot[TURN]]) - OPEN]
            raise _illegal(name, action, slot[:STATE_WORDS], first_game + done)
        return int(done)

    def new_memory(self) -> np.ndarray:
        """Empty notes for one seat in one game: int64 [memory_words]."""
        return np.zeros(self.memory_words, np.int64)

    def choose(self, state: np.ndarray, seat: int, seed: int, game: int, memory: np.ndarray | None = None) -> int:
        """The action that policy number `seat` plays in `state`, in game `game` of a batch.

        Parameters
        ----------
        state : int64 [STATE_WORDS]
            In phase offer or tile; not modified.
        seat : int
            The policy's place among those given.
        seed, game : int
            What it draws from.
        memory : int64 [memory_words], optional
            The policy's notes of this game; none when not given.
        """
        from azul_fast.playout import choose

        number = int(self.ids[seat])
        if number < OPEN:
            return choose(state, number, seed, game)
        each = self.programs[number - OPEN]
        if memory is None:
            memory = self.new_memory()
        parameters = self.parameters[number - OPEN]
        action = int(
            compiled(_look, _LOOK_TYPES)(
                state.copy(), policy_key(seed, game), parameters, memory, view_arrays(), each.function
            )
        )
        mask = np.zeros(ACTION_COUNT, np.uint8)
        legal_actions(state, mask)
        if not 0 <= action < ACTION_COUNT or not mask[action]:
            raise _illegal(self.policies[seat], action, state, game)
        return action


def _illegal(name: str, action: int, state: np.ndarray, game: int) -> PolicyError:
    move = f" ({format_move(action)})" if 0 <= action < ACTION_COUNT else ""
    ply = int(state[PLIES] + state[ROUND_PLIES]) + 1
    error = PolicyError(
        f"policy {name}: game {game}, ply {ply}, seat {state[TURN]}: answered {action}{move}, which is not legal in "
        f"{format_position(state)}"
    )
    error.game = game
    return error
