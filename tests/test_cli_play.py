"""``azul-fast play`` as people meet it: on a pseudo-terminal, in a pipe, and when something is wrong."""

import json
import os
import pty
import random
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from referee import replay as referee_replay

import azul_fast as az
from azul_fast import records
from azul_fast.play import in_words

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
ENVIRONMENT |= {"PYTHONPATH": str(ROOT), "TERM": "dumb"}
# A session of its own, whose terminal is standard input: so that Ctrl-C typed there is a signal here.
START = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from azul_fast.cli.main import main; main()"
SECONDS = 300  # that a test waits for the program; kernels may have to be compiled
PROMPT = re.compile(r"(seat \d \(human\)|deal of round \d+)> $")
EMPTY = "0:...../...../...../...../.....:-,-,-,-,-:-"


class Terminal:
    """The program on a pseudo-terminal: type to it and read what it writes."""

    def __init__(self, *words, **environment):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, "play", *words],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=ENVIRONMENT | environment,
        )  # fmt: skip
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def read(self):
        """What is written up to the next prompt (left out), or to the end."""
        text, deadline = "", time.monotonic() + SECONDS
        while not PROMPT.search(text):
            assert select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0], text
            try:
                piece = os.read(self.master, 1 << 16).decode()
            except OSError:  # the other side is closed
                piece = ""
            if not piece:
                return text
            text = re.sub("^azul-fast: compiling .*\n", "", text + piece.replace("\r\n", "\n"), flags=re.MULTILINE)
        self.prompt = PROMPT.search(text)[0]
        return PROMPT.sub("", text)

    def say(self, line, end="\n"):
        """Type a line, and return what is written then."""
        os.write(self.master, (line + end).encode())
        return self.read().removeprefix(line + "\n")  # the echo

    def code(self):
        """The exit code."""
        return self.process.wait(SECONDS)


def follow(game, said):
    """Play the moves that were shown on a game of one's own, and compare words and drawings."""
    parts = re.split(r"^seat (\d) \(\w+\) plays (\S+): (.*)$", said, flags=re.MULTILINE)
    for seat, move, words, shown in zip(*(parts[i::4] for i in range(1, 5)), strict=True):
        assert game.turn == int(seat)
        assert in_words(game.position, az.Move.parse(move)) == words
        game.play(move)
        assert f"\n\n{game}\n" in shown
    return game


def judged(path):
    """The record of a file, when the product and the referee both accept it."""
    (record,) = records.read(path)
    records.replay(record)
    for _ in referee_replay(record):
        pass
    return record


# ---------------------------------------------------------------------------------------------------------- whole games
@pytest.mark.parametrize(
    ("options", "game"),
    [
        ("--record game.jsonl", az.Game(seed=5)),
        ("--seats tidy,human,random --players 3 --wall gray --overflow removed --record game.jsonl.gz",
         az.Game(az.Rules(players=3, wall="free", overflow="removed"), seed=5)),
        ("--policies human --wall free --max-rounds 3 --first-player 1 --record game.jsonl",
         az.Game(az.Rules(wall="free", max_rounds=3), seed=5, first_player=1)),
    ],
    ids=("colored", "gray", "two people"),
)  # fmt: skip
def test_a_whole_game(options, game, tmp_path):
    """Every screen is that of a game that is followed here; the record is accepted by the product and the referee."""
    rng, record = random.Random(1), tmp_path / options.split()[-1]
    with Terminal(*options.split()[:-1], str(record), "--seed", "5") as terminal:
        said = terminal.read()
        assert "; seed 5\n" in said
        follow(game, said)
        while not game.is_over:
            assert terminal.prompt == f"seat {game.turn} (human)> "
            moves = game.legal_moves()
            number = rng.randrange(len(moves))
            typed = rng.choice((moves[number], moves[number].lower(), " ".join(moves[number]), str(number + 1)))
            said = terminal.say(typed)
            assert said.startswith(f"seat {game.turn} (human) plays {moves[number]}: ")
            follow(game, said)
        assert terminal.code() == 0
    result = game.result()
    for seat, score in enumerate(result["scores"]):
        assert re.search(rf"^  seat {seat} \(\w+\): \d+.* = {score} points$", said, re.MULTILINE)
    names = [f"seat {seat} ({name})" for seat, name in enumerate(judged(record)["policies"])]
    winners = [names[seat] for seat in result["winners"]]
    assert f"\n{' and '.join(winners)} {'wins' if len(winners) == 1 else 'share the win'}" in said
    assert judged(record)["rounds"] == game.record()["rounds"] and judged(record)["result"] == result
    assert os.listdir(tmp_path) == [record.name]
    again = shlex.split(re.search(r"^To play it again: azul-fast play (.*)$", said, re.MULTILINE)[1])
    with Terminal(*again) as terminal:
        follow(az.Game(game.rules, seed=5, first_player=game.record()["first_player"]), terminal.read())


def test_policies_among_themselves():
    """The game is that of a batch, shown move by move."""
    from azul_fast.batch import describe
    from azul_fast.trace import trace

    with Terminal("--seats", "greedy,random", "--seed", "3") as terminal:
        game = follow(az.Game(seed=3), terminal.read())
        assert terminal.code() == 0
    assert game.history == trace(describe(1, policies=["greedy", "random"], seed=3), 0).history


def test_scores_add_up():
    """Points of every round, before the bonuses: what the tiles bring less what the floor costs, 0 at least."""
    with Terminal("--seats", "random", "--players", "4", "--wall", "gray", "--seed", "8") as terminal:
        said = terminal.read()
    scores = [0] * 4
    found = re.findall(r"round (\d+), seat (\d) \(random\): (\d+) for tiles, -(\d+) for the floor, now (\d+)", said)
    for _, seat, tiles, floor, now in (map(int, words) for words in found):
        scores[seat] = max(0, scores[seat] + tiles - floor)
        assert scores[seat] == now
    assert [(int(number), int(seat)) for number, seat, *_ in found] == [
        (number + 1, seat) for number in range(len(found) // 4) for seat in range(4)
    ]
    for seat, score in enumerate(scores):
        bonuses = re.search(rf"^  seat {seat} \(random\): {score}(.*) = (\d+) points", said, re.MULTILINE)
        assert score + sum(map(int, re.findall(r"\+ (\d+)", bonuses[1]))) == int(bonuses[2])


# ---------------------------------------------------------------------------------------------------- what can be typed
def test_the_words():
    game = az.Game(seed=3)
    with Terminal("--seed", "3") as terminal:
        assert str(game) in terminal.read()
        assert terminal.say("position").strip() == game.to_text()
        hint = az.choose(game, "greedy", 3)
        assert terminal.say("HINT").startswith(f"greedy would play {hint}: ")
        listed = terminal.say("moves")
        assert re.findall(r"(\d+) ([C1-9][BYRKW][1-5F])", listed) == [
            (str(number), move) for number, move in enumerate(game.legal_moves(), 1)
        ]
        assert re.search(r"^factory 1, 2 red +13 1R1 +14 1R2", listed, re.MULTILINE)
        assert max(map(len, listed.splitlines())) <= 80
        said = terminal.say("help")
        for word in ("moves", "hint", "undo", "position", "quit"):
            assert f"\n{word} " in said
        assert terminal.say("") == ""
        follow(game, terminal.say(hint))
        assert terminal.say("position").strip() == game.to_text()


def test_undo():
    """Back to one's own last move, the policies' answers included; the same move has the same answers again."""
    with Terminal("--seats", "greedy,human,greedy", "--players", "3", "--seed", "4") as terminal:
        first = terminal.read()
        assert terminal.say("undo") == "undo: you have played nothing yet\n"
        positions, answers = [terminal.say("position")], [first]
        for _ in range(7):  # into the second round
            answers.append(terminal.say("1"))
            positions.append(terminal.say("position"))
        assert " r2 " in positions[-1]
        for number in reversed(range(7)):
            assert terminal.say("undo").strip() in answers[number]
            assert terminal.say("position") == positions[number]
        assert terminal.say("undo") == "undo: you have played nothing yet\n"
        for number in range(1, 4):
            assert terminal.say("1") == answers[number]


NO_MOVES = {  # with factory 1 holding BYRR, and nothing in the center
    "3X4": "'3X4' is not <source><color><line> such as 3B4 or CRF",
    "take blue": "'TAKEBLUE' is not <source>",
    "\u00e9\u00e8": "is not <source>",
    "x" * 2000: "is not <source>",
    "0": "'0' is not in the list of 1 to 90 that the word moves prints",
    "91": "'91' is not in the list of 1 to 90",
    "9" * 1000: "is not in the list of 1 to 90",
    "1k1": "1K1: factory 1 has no black",
    "cbf": "CBF: the center has no blue",
    "6B1": "6B1: there is no factory 6",
    "1=1": "1=1: no gray-wall column is to be chosen: tiles are on offer",
    "BBRK,YYWW,BYRK,RRRW,BKKW": "is not <source>",
}


def test_what_cannot_be_played():
    """One line that says why, and the position stays as it is."""
    with Terminal("--seed", "3") as terminal:
        terminal.read()
        for typed, answer in NO_MOVES.items():
            said = terminal.say(typed)
            assert answer in said and said.count("\n") == 1
        assert terminal.say("position").strip() == az.Game(seed=3).to_text()


def test_reasons_within_a_round():
    """Line 2 holds one yellow, line 1 is full, row 3 has red."""
    board = "0:...../...../..R../...../.....:K1,Y1,-,-,-:-".replace("..R..", "....R")
    text = f"azul1 c2 YYRK,-,-,-,- * {board};{EMPTY} b? l0.0.0.0.0 t0 s0 r2 offer"
    with Terminal("--position", text) as terminal:
        terminal.read()
        assert terminal.say("1R2") == "1R2: line 2 holds yellow\n"
        assert terminal.say("1K1") == "1K1: line 1 is full\n"
        assert terminal.say("1R3") == "1R3: row 3 already has red\n"


def test_gray_choices():
    """Lines 1 and 2 are full: the row that is tiled is asked for, with its list; undo takes a choice back."""
    board = "0:B..../...../...../...../.....:Y1,B2,-,-,-:*"
    text = f"azul1 g2 -,-,-,-,- - {board};{EMPTY} b? l0.0.0.0.0 t0 s0 r2 tile"
    with Terminal("--position", text, "--seats", "human", "--deals", "given") as terminal:
        assert terminal.read().endswith("\nline 1, yellow          1 1=2   2 1=3   3 1=4   4 1=5\n")
        assert terminal.say("1=1").startswith("1=1: column 1 of row 1 is filled\n")
        assert terminal.say("2=2").startswith("2=2: it is the gray-wall choice of seat 0, row 1\n")
        assert "hint" not in terminal.say("hint") and "scores 2" in terminal.say("hint")
        assert "line 2, blue            1 2=2   2 2=3   3 2=4   4 2=5\n" in terminal.say("1=2")
        assert "2=1: column 1 already has blue\n" in terminal.say("2=1")
        assert "line 1, yellow " in terminal.say("undo")
        terminal.say("1")
        said = terminal.say("2=2")
        assert "round 2, seat 0 (human): 4 for tiles, -1 for the floor, now 3\n" in said
        assert terminal.prompt == "deal of round 3> "


def test_a_real_table():
    """Deals are typed in any order, refused with the reason, and taken back."""
    with Terminal("--deals", "given", "--seats", "human,tidy", "--seed", "1") as terminal:
        assert "For a deal type the tiles of each factory" in terminal.read()
        assert terminal.prompt == "deal of round 1> "
        assert terminal.say("moves") == "no move: the round has not been dealt\n"
        assert terminal.say("hint") == "choose: the round has not been dealt\n"
        assert terminal.say("undo") == "undo: you have played nothing yet\n"
        assert terminal.say("BBBB") == "deal: 1 factories given, but 2 players have 5\n"
        assert "deal: factory 1: 3 tiles, but it is dealt 4" in terminal.say("BBR YYWW BYRK RRRW BKKW")
        assert "unknown letter 'X'" in terminal.say("XBRK YYWW BYRK RRRW BKKW")
        game = az.Game(deals="given")
        game.deal("BBRK,YYWW,BYRK,RRRW,BKKW")
        assert str(game) in terminal.say("kbrb, WYWY BYRK,wrrr BKKW")
        assert terminal.prompt == "seat 0 (human)> "
        terminal.say("undo")
        assert terminal.prompt == "deal of round 1> "
        terminal.say("BBRK,YYWW,BYRK,RRRW,BKKW")
        follow(game, terminal.say("1B2"))
        while game.phase != "deal":
            follow(game, terminal.say("1"))
        assert terminal.prompt == "deal of round 2> "
        game.undo()
        while game.turn != 0:
            game.undo()
        assert str(game) in terminal.say("undo")
        assert "--deals given" in terminal.say("quit")


# ------------------------------------------------------------------------------------------------------- how it can end
def test_quit():
    """What to type to go on is said; the game goes on from there with the tiles that it would have met."""
    with Terminal("--seed", "6") as terminal:
        game = follow(az.Game(seed=6), terminal.read() + terminal.say("1") + terminal.say("1"))
        said = terminal.say("quit")
        assert terminal.code() == 0
    words = shlex.split(re.search(r"^To go on: azul-fast play (.*)$", said, re.MULTILINE)[1])
    assert words == ["--position", game.to_text(), "--seats", "human,greedy", "--seed", "6"]
    with Terminal(*words) as terminal:
        said = terminal.read()
        assert f"\n\n{game}\n" in said
        for _ in range(12):
            follow(game, terminal.say("1"))
    assert game.round > 1


@pytest.mark.parametrize(
    ("key", "word", "code"), [("\x04", "End of input", 0), ("\x03", "azul-fast play: interrupted", 130)]
)
def test_control_d_and_control_c(key, word, code, tmp_path):
    """Both end it with a word, and a game to be recorded is kept with all its moves."""
    record = tmp_path / "game.jsonl.zst"
    with Terminal("--seed", "6", "--record", str(record)) as terminal:
        game = follow(az.Game(seed=6), terminal.read() + terminal.say("1") + terminal.say("2"))
        said = terminal.say(key, end="")
        assert terminal.code() == code
    assert word in said and "To go on: " in said and "Traceback" not in said
    kept = tmp_path / "game.unfinished.json"
    assert f"All moves so far are in {kept}" in said
    assert os.listdir(tmp_path) == [kept.name]
    read = json.loads(kept.read_text())
    assert az.Game.from_dict(read).to_dict() == game.to_dict()
    assert read["seats"] == ["human", "greedy"]


def test_a_terminal_that_goes_away(tmp_path):
    """Even when the program is killed all moves are in the file."""
    with Terminal("--seed", "6", "--record", str(tmp_path / "game.jsonl")) as terminal:
        game = follow(az.Game(seed=6), terminal.read() + terminal.say("1") + terminal.say("2"))
        terminal.process.send_signal(signal.SIGKILL)
        terminal.code()
    kept = json.loads((tmp_path / "game.unfinished.json").read_text())
    assert az.Game.from_dict(kept).to_dict() == game.to_dict()


def test_a_record_that_cannot_be_written(tmp_path):
    """The folder goes away while playing: one line, code 3, and how to go on."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with Terminal("--seed", "6", "--record", str(folder / "game.jsonl")) as terminal:
        terminal.read()
        (folder / "game.unfinished.json").unlink()
        folder.rmdir()
        said = terminal.say("1")
        assert terminal.code() == 3
    assert "To go on: " in said and "game.unfinished.json could not be written: No such file" in said
    assert "Traceback" not in said


# --------------------------------------------------------------------------------------------------------------- colors
def test_colors():
    """In color where the terminal has it and nobody objects; the letters are the same."""
    screens = {}
    for name, environment in {
        "color": {"TERM": "xterm-256color"},
        "no color": {"TERM": "xterm-256color", "NO_COLOR": "1"},
        "dumb": {"TERM": "dumb"},
    }.items():
        with Terminal("--seed", "3", **environment) as terminal:
            screens[name] = terminal.read() + terminal.say("1")
    escapes = re.compile(r"\x1b\[[0-9;]*m")
    assert escapes.search(screens["color"])
    assert "\x1b" not in screens["dumb"]
    assert escapes.sub("", screens["color"]) == escapes.sub("", screens["no color"]) == screens["dumb"]


# -------------------------------------------------------------------------------------------------------- without a tty
def run(*words, typed="", **environment):
    command = [sys.executable, "-c", "from azul_fast.cli.main import main; main()", "play", *words]
    return subprocess.run(
        command, input=typed, env=ENVIRONMENT | environment, capture_output=True, text=True, timeout=SECONDS
    )


def test_a_pipe():
    done = run("--seed", "3", typed="1B5\nposition\n")
    assert done.returncode == 0 and "End of input; the game is not over." in done.stdout
    game = follow(az.Game(seed=3), done.stdout)
    assert game.to_text() in done.stdout


def test_letters_that_cannot_be_read_or_shown():
    done = run("--seed", "3", typed="\u00e9\u2026\nquit\n", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0 and "is not <source>" in done.stdout


def test_nothing_to_read_from():
    command = [sys.executable, "-c", "from azul_fast.cli.main import main; main()", "play", "--seed", "3"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command], env=ENVIRONMENT, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0 and "End of input" in done.stdout and "Traceback" not in done.stderr


def test_a_closed_pipe():
    command = [sys.executable, "-c", "from azul_fast.cli.main import main; main()", "play", "--seats", "random"]
    done = subprocess.run(
        ["sh", "-c", '"$@" | head -3', "sh", *command], env=ENVIRONMENT, capture_output=True, text=True, timeout=SECONDS
    )
    assert "Traceback" not in done.stderr and "error" not in done.stderr.lower()


def test_a_position_that_ends_when_it_would_be_dealt():
    """Bag and lid are empty: nothing is to be asked."""
    from playouts import exhausted_boards

    text = f"azul1 c4 -,-,-,-,-,-,-,-,- * {exhausted_boards()} b0.0.0.0.0 l0.0.0.0.0 t2 s0 r9 deal"
    done = run("--position", text)
    assert done.returncode == 0 and "The game is over: no tile is left to deal." in done.stdout
    assert "share the win" in done.stdout


# -------------------------------------------------------------------------------------------------------- bad arguments
BAD_ARGUMENTS = {
    "--seats human,human,greedy": "--seats: 3 given, but 2 seats need 1 or 2",
    "--seats humn": "'humn' is not human; policy must be ",
    "--players 5": "players must be 2 to 4, not 5",
    "--wall blue": "--wall must be fixed, free, coloured, colored, gray or grey, not 'blue'",
    "--first-player 2": "first player must be 0 to 1, not 2",
    "--first-player x": "--first-player: 'x' is not a whole number",
    "--seed -1": "seed must be 0 to 2^53 - 1, not -1",
    "--max-rounds 0": "max_rounds must be 1 to 1,000,000, not 0",
    "--position azul1": "position: side: missing",
    "--position @nothing": "nothing could not be read: No such file or directory",
    "--deals mine": "--deals must be auto or given, not 'mine'",
    "--record there.jsonl": "there.jsonl exists (--force writes over it)",
    "--record kept.jsonl": "kept.unfinished.json exists (--force writes over it)",
    "--record game.txt": "game.txt: the name must end in .jsonl, .jsonl.gz or .jsonl.zst",
    "--record none/game.jsonl": "none/game.jsonl: there is no folder none",
    "--position POSITION --players 3": "--players 3: the position has 2",
    "--position POSITION --first-player 1": "in the position it is seat 0's turn",
    "--position OVER": "the game is over, there is nothing to play",
    "extra": "unexpected extra argument",
}


def test_bad_arguments(tmp_path):
    """One line, code 2, and the compiler is not loaded for it."""
    (tmp_path / "there.jsonl").write_text("")
    (tmp_path / "kept.unfinished.json").write_text("")
    over = az.Game(seed=1)
    while not over.is_over:
        over.play(az.choose(over))
    texts = {"POSITION": az.Game(seed=1).to_text(), "OVER": over.to_text()}
    calls = [["play", *(texts.get(word, word) for word in words.split())] for words in BAD_ARGUMENTS]
    code = f"""
import contextlib, io, json, sys
from azul_fast.cli.main import run
said = []
for call in {calls!r}:
    with contextlib.redirect_stderr(io.StringIO()) as error:
        said.append((run(call), error.getvalue()))
print(json.dumps([said, "numba" in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    said, loaded = json.loads(done.stdout)
    assert not loaded
    for (status, line), (words, reason) in zip(said, BAD_ARGUMENTS.items(), strict=True):
        assert status == 2 and line.startswith("azul-fast play: ") and line.count("\n") == 1, words
        assert reason in line, words


def test_force(tmp_path):
    record = tmp_path / "game.jsonl"
    record.write_text("old")
    words = ("--seats", "random", "--max-rounds", "1", "--seed", "2", "--record", str(record))
    assert run(*words).returncode == 2 and record.read_text() == "old"
    assert run(*words, "--force").returncode == 0
    assert judged(record)["result"]["rounds"] == 1


def test_the_help_names_every_word():
    done = run("--help")
    assert done.returncode == 0
    for word in ("--seats, --policies", "--players", "--wall", "--position", "--deals", "--record", "--seed"):
        assert word in done.stdout
