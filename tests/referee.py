"""The slow referee: the rulebook of Azul, written down with dicts and lists.

This file is the judge of the fast engine, so it owes the engine nothing: it imports no part of the package
and shares no table with it. It is meant to be checked by a player with the rulebook in hand. Where it could
be fast or plain, it is plain.

How things lie on the table:

* a tile is one letter of ``BYRKW`` (blue, yellow, red, black, white); the starting-player marker is ``*``;
* the bag, the lid (the discard) and the tiles that left the game are ``{letter: how many}``;
* a factory and the center are lists of tiles; the marker lies in the center's list until somebody takes it;
* a board is a dict with ``score``, ``wall`` (5 rows of 5 cells, a letter or None), ``lines`` (5 lists of
  tiles) and ``floor`` (a list of tiles, and the marker for the player who took it).

Factories, rows and columns count from 0 in the lists and from 1 in texts and messages; seats always from 0.
"""

import re

COLORS = "BYRKW"
COLOR_NAMES = {"B": "blue", "Y": "yellow", "R": "red", "K": "black", "W": "white"}
TILES_PER_COLOR = 20
TILES_PER_FACTORY = 4
FACTORIES = {2: 5, 3: 7, 4: 9}  # players: factories
SIZE = 5  # rows and columns of the wall; line i (from 1) holds i tiles
FLOOR_COSTS = [1, 1, 2, 2, 2, 3, 3]  # what each cell of the floor costs, from the left
ROW_BONUS, COLUMN_BONUS, COLOR_BONUS = 2, 7, 10
MARKER = "*"
ROUND_LIMIT = 100


class RefereeError(ValueError):
    """What was asked for is against the rules; the message says why."""


# ------------------------------------------------------------------------------------------------------------
# Small things that need no game


def no_tiles():
    return dict.fromkeys(COLORS, 0)


def in_order(tiles):
    """The tiles sorted as they are always written, BYRKW, without the marker."""
    return [color for color in COLORS for tile in tiles if tile == color]


def wall_column(row, color):
    """The column of this color in this row of the colored wall: each row is the one above, moved by one."""
    return (COLORS.index(color) + row) % SIZE


def run_length(wall, row, column, down, right):
    """The length of the unbroken run of tiles through this cell, along (down, right) and the opposite way."""
    length = 1
    for way in (1, -1):
        r, c = row + way * down, column + way * right
        while 0 <= r < SIZE and 0 <= c < SIZE and wall[r][c] is not None:
            length += 1
            r, c = r + way * down, c + way * right
    return length


def tile_points(wall, row, column):
    """What a tile in this cell scores, whether it lies there already or would be placed now."""
    across = run_length(wall, row, column, 0, 1)
    upright = run_length(wall, row, column, 1, 0)
    if across == 1 and upright == 1:
        return 1
    return (across if across > 1 else 0) + (upright if upright > 1 else 0)


def floor_cost(cells_taken):
    """The penalty for this many things (tiles and marker) on the floor; beyond seven nothing is added."""
    return sum(FLOOR_COSTS[:cells_taken])


def open_columns(wall, row, color):
    """Gray wall: the empty cells of this row whose column, and the row itself, do not hold the color yet."""
    if color in wall[row]:
        return []
    return [
        column
        for column in range(SIZE)
        if wall[row][column] is None and color not in [wall[other][column] for other in range(SIZE)]
    ]


def complete_rows(wall):
    return sum(all(cell is not None for cell in row) for row in wall)


def complete_columns(wall):
    return sum(all(wall[row][column] is not None for row in range(SIZE)) for column in range(SIZE))


def complete_colors(wall):
    return sum(all(color in row for row in wall) for color in COLORS)


# ------------------------------------------------------------------------------------------------------------
# The game


class Referee:
    """One game. It deals only what it is told to deal and plays only what it is told to play."""

    def __init__(self, players=2, wall="fixed", overflow="lid", max_rounds=ROUND_LIMIT, first_player=0):
        if players not in FACTORIES:
            raise RefereeError(f"players: {players}, but Azul is for 2, 3 or 4")
        if wall not in ("fixed", "free"):
            raise RefereeError(f"wall: {wall!r}, but it is 'fixed' (colored) or 'free' (gray)")
        if overflow not in ("lid", "removed"):
            raise RefereeError(f"overflow: {overflow!r}, but it goes to the 'lid' or is 'removed'")
        if max_rounds < 1:
            raise RefereeError(f"max_rounds: {max_rounds}, but at least one round is played")
        if not 0 <= first_player < players:
            raise RefereeError(f"first_player: {first_player}, but seats go from 0 to {players - 1}")
        self.players = players
        self.wall = wall
        self.overflow = overflow
        self.max_rounds = max_rounds

        self.bag = dict.fromkeys(COLORS, TILES_PER_COLOR)
        self.lid = no_tiles()
        self.removed = no_tiles()
        self.factories = [[] for _ in range(FACTORIES[players])]
        self.center = [MARKER]
        self.boards = [
            {
                "score": 0,
                "wall": [[None] * SIZE for _ in range(SIZE)],
                "lines": [[] for _ in range(SIZE)],
                "floor": [],
            }
            for _ in range(players)
        ]
        self.phase = "deal"
        self.round = 0
        self.turn = first_player  # who acts; between rounds, who starts the coming one
        self.starter = first_player  # who started this round
        self.end = None

        # Bookkeeping for the table of games; a game read from a position counts from there.
        self.placement_points = [0] * players
        self.floor_points = [0] * players  # lost on the floor, before the clamp
        self.clamp_points = [0] * players  # given back where the score would have been below 0
        self.plies = 0  # moves from factories and center; choices of a column are not plies
        self.short_deal = False  # a factory was dealt fewer than four tiles
        self.round_scores = None  # scores after the last round's tiling and floor, before the bonuses

    def copy(self):
        twin = Referee.__new__(Referee)
        twin.__dict__.update(self.__dict__)
        twin.bag, twin.lid, twin.removed = dict(self.bag), dict(self.lid), dict(self.removed)
        twin.factories = [list(factory) for factory in self.factories]
        twin.center = list(self.center)
        twin.boards = [
            {
                "score": board["score"],
                "wall": [list(row) for row in board["wall"]],
                "lines": [list(line) for line in board["lines"]],
                "floor": list(board["floor"]),
            }
            for board in self.boards
        ]
        twin.placement_points = list(self.placement_points)
        twin.floor_points = list(self.floor_points)
        twin.clamp_points = list(self.clamp_points)
        return twin

    # ---- what anybody may see ------------------------------------------------------------------------------

    @property
    def scores(self):
        return [board["score"] for board in self.boards]

    @property
    def rows(self):
        return [complete_rows(board["wall"]) for board in self.boards]

    @property
    def columns(self):
        return [complete_columns(board["wall"]) for board in self.boards]

    @property
    def colors(self):
        return [complete_colors(board["wall"]) for board in self.boards]

    @property
    def rounds(self):
        return self.round

    @property
    def is_over(self):
        return self.phase == "over"

    def result(self):
        """Highest score wins; among those the most complete rows; still equal, the win is shared."""
        if not self.is_over:
            raise RefereeError("the game is not over")
        standing = list(zip(self.scores, self.rows, strict=True))
        winners = [seat for seat in range(self.players) if standing[seat] == max(standing)]
        return {
            "scores": self.scores,
            "rows": self.rows,
            "winners": winners,
            "rounds": self.round,
            "end": self.end,
        }

    # ---- the deal ------------------------------------------------------------------------------------------

    def deal(self, factories):
        """Fill the factories with these tiles (texts such as "BBRK", "-" for none), if the bag can give them.

        Factory 1 is filled first. When the bag cannot fill a factory, the tiles it still has come out, then
        the whole lid goes into the bag and the deal goes on. A factory stays short only when both are empty.
        """
        if self.phase != "deal":
            raise RefereeError(f"nothing is dealt in phase {self.phase}")
        if isinstance(factories, str):
            factories = factories.split(",")
        if len(factories) != len(self.factories):
            raise RefereeError(f"the deal has {len(factories)} factories, not {len(self.factories)}")
        bag, lid = dict(self.bag), dict(self.lid)
        for number, text in enumerate(factories, start=1):
            factory = [] if text == "-" else list(text)
            for tile in factory:
                if tile not in COLORS:
                    raise RefereeError(f"factory {number}: {tile!r} is not a color")
            left = sum(bag.values()) + sum(lid.values())
            size = min(TILES_PER_FACTORY, left)
            if len(factory) != size:
                raise RefereeError(f"factory {number} gets {size} tiles, not {len(factory)}")

            still_to_come = no_tiles()
            for tile in factory:
                still_to_come[tile] += 1
            if sum(bag.values()) < size:
                for color in COLORS:
                    if still_to_come[color] < bag[color]:
                        raise RefereeError(f"factory {number}: the bag's {COLOR_NAMES[color]} tiles come first")
                    still_to_come[color] -= bag[color]
                bag, lid = lid, no_tiles()
            for color in COLORS:
                if still_to_come[color] > bag[color]:
                    raise RefereeError(f"factory {number}: too few {COLOR_NAMES[color]} tiles in the bag")
                bag[color] -= still_to_come[color]

        self.bag, self.lid = bag, lid
        self.factories = [in_order(text) for text in factories]
        if any(len(factory) < TILES_PER_FACTORY for factory in self.factories):
            self.short_deal = True
        self.round += 1
        self.starter = self.turn
        self.phase = "offer"

    def random_deal(self, rng):
        """Deal as people do, tile by tile from the bag, with a `random.Random`; returns the deal."""
        bag = [color for color in COLORS for _ in range(self.bag[color])]
        lid = [color for color in COLORS for _ in range(self.lid[color])]
        deal = []
        for _ in self.factories:
            factory = []
            for _ in range(TILES_PER_FACTORY):
                if not bag:
                    bag, lid = lid, []
                if bag:
                    factory.append(bag.pop(rng.randrange(len(bag))))
            deal.append("".join(in_order(factory)) or "-")
        self.deal(deal)
        return deal

    # ---- moves ---------------------------------------------------------------------------------------------

    def all_moves(self):
        """Every move text this table has words for, legal or not, in the order of the action index."""
        if self.phase == "tile":
            return [f"{row}={column}" for row in "12345" for column in "12345F"]
        sources = "C123456789"[: 1 + len(self.factories)]
        return [source + color + line for source in sources for color in COLORS for line in "12345F"]

    def legal_moves(self):
        if self.phase not in ("offer", "tile"):
            return []
        return [move for move in self.all_moves() if self.objection(move) is None]

    def objection(self, move):
        """Why this move is not allowed now, or None when it is."""
        if self.phase == "over":
            return "the game is over"
        if self.phase == "deal":
            return "the round has not been dealt"
        if self.phase == "tile":
            return self.objection_to_choice(move)
        return self.objection_to_take(move)

    def objection_to_take(self, move):
        if not re.fullmatch("[C1-9][BYRKW][12345F]", move):
            return f"{move!r} is not a move such as 3B4 or CRF"
        source, color, line = move
        if source != "C" and int(source) > len(self.factories):
            return f"there is no factory {source}"
        if color not in self.tiles_at(source):
            place = "the center" if source == "C" else f"factory {source}"
            return f"{place} has no {COLOR_NAMES[color]} tile"
        if line == "F":
            return None  # the floor takes anything at any time
        row = int(line) - 1
        board = self.boards[self.turn]
        if color in board["wall"][row]:
            return f"row {line} already has {COLOR_NAMES[color]}"
        on_the_line = board["lines"][row]
        if on_the_line and on_the_line[0] != color:
            return f"line {line} holds {COLOR_NAMES[on_the_line[0]]}"
        if len(on_the_line) == row + 1:
            return f"line {line} is full"
        return None

    def objection_to_choice(self, move):
        if not re.fullmatch("[12345]=[12345F]", move):
            return f"{move!r} is not a choice such as 3=2 or 3=F"
        line, column = move.split("=")
        seat, row = self.next_full_line()
        if int(line) - 1 != row:
            return f"line {row + 1} is to be tiled now, not line {line}"
        wall = self.boards[seat]["wall"]
        color = self.boards[seat]["lines"][row][0]
        columns = open_columns(wall, row, color)
        if column == "F":
            return f"row {line} has room for {COLOR_NAMES[color]}" if columns else None
        if int(column) - 1 in columns:
            return None
        if wall[row][int(column) - 1] is not None:
            return f"row {line} already has a tile in column {column}"
        return f"column {column} already has {COLOR_NAMES[color]}"

    def play(self, move):
        reason = self.objection(move)
        if reason is not None:
            raise RefereeError(f"{move}: {reason}")
        if self.phase == "tile":
            self.choose(move)
        else:
            self.take(move)

    def tiles_at(self, source):
        return self.center if source == "C" else self.factories[int(source) - 1]

    def take(self, move):
        """All tiles of one color from one place, all of them to one line or all to the floor."""
        source, color, line = move
        board = self.boards[self.turn]
        tiles = [tile for tile in self.tiles_at(source) if tile == color]
        others = [tile for tile in self.tiles_at(source) if tile not in (color, MARKER)]
        if source == "C":
            if MARKER in self.center:
                board["floor"].append(MARKER)  # before the tiles; on a full floor it lies beside them
            self.center = others
        else:
            self.factories[int(source) - 1] = []
            self.center += others

        for tile in tiles:
            if line != "F" and len(board["lines"][int(line) - 1]) < int(line):
                board["lines"][int(line) - 1].append(tile)
            else:
                self.drop(board, tile)
        self.plies += 1

        if self.tiles_on_offer() > 0:
            self.turn = (self.turn + 1) % self.players
        else:
            self.tile_walls()

    def drop(self, board, tile):
        """A tile falls to the floor; where the floor is full, to the lid or out of the game."""
        if len(board["floor"]) < len(FLOOR_COSTS):
            board["floor"].append(tile)
        elif self.overflow == "lid":
            self.lid[tile] += 1
        else:
            self.removed[tile] += 1

    def tiles_on_offer(self):
        return sum(len(in_order(place)) for place in [self.center, *self.factories])

    # ---- tiling --------------------------------------------------------------------------------------------

    def next_full_line(self):
        """The seat and row to be tiled now, or None: seats 0, 1, ...; for each, rows from the top."""
        for seat, board in enumerate(self.boards):
            for row in range(SIZE):
                if len(board["lines"][row]) == row + 1:
                    return seat, row
        return None

    def tile_walls(self):
        """Nothing is left on offer. On the colored wall tiles know their cells, on the gray players choose."""
        while self.next_full_line() is not None:
            seat, row = self.next_full_line()
            if self.wall == "free":
                self.phase = "tile"
                self.turn = seat
                return
            self.tile(seat, row, wall_column(row, self.boards[seat]["lines"][row][0]))
        self.finish_round()

    def choose(self, move):
        column = move[-1]
        seat, row = self.next_full_line()
        if column == "F":
            board = self.boards[seat]
            tiles, board["lines"][row] = board["lines"][row], []
            for tile in tiles:
                self.drop(board, tile)
        else:
            self.tile(seat, row, int(column) - 1)
        self.tile_walls()

    def tile(self, seat, row, column):
        """One tile of the full line goes to the wall and is scored at once; its other tiles go to the lid."""
        board = self.boards[seat]
        tiles, board["lines"][row] = board["lines"][row], []
        board["wall"][row][column] = tiles[0]
        self.lid[tiles[0]] += len(tiles) - 1
        points = tile_points(board["wall"], row, column)
        board["score"] += points
        self.placement_points[seat] += points

    # ---- the end of a round and of the game ----------------------------------------------------------------

    def finish_round(self):
        next_starter = self.starter  # if nobody took the marker
        for seat, board in enumerate(self.boards):
            cost = floor_cost(len(board["floor"]))
            self.floor_points[seat] += cost
            board["score"] -= cost
            if board["score"] < 0:
                self.clamp_points[seat] -= board["score"]
                board["score"] = 0
            if MARKER in board["floor"]:
                next_starter = seat
            for tile in in_order(board["floor"]):
                self.lid[tile] += 1
            board["floor"] = []
        self.center = [MARKER]
        self.turn = next_starter
        self.round_scores = self.scores

        if any(self.rows):
            self.finish_game("row")
        elif sum(self.bag.values()) + sum(self.lid.values()) == 0:
            self.finish_game("exhausted")
        elif self.round >= self.max_rounds:
            self.finish_game("stalled")
        else:
            self.phase = "deal"

    def finish_game(self, end):
        self.phase = "over"
        self.end = end
        for board in self.boards:
            board["score"] += ROW_BONUS * complete_rows(board["wall"])
            board["score"] += COLUMN_BONUS * complete_columns(board["wall"])
            board["score"] += COLOR_BONUS * complete_colors(board["wall"])

    # ---- the three simple policies -------------------------------------------------------------------------

    def choices(self, policy):
        """The moves among which this policy chooses, all equally likely, in the order of `legal_moves`."""
        moves = self.legal_moves()
        if policy == "random":
            return moves
        if policy not in ("tidy", "greedy"):
            raise RefereeError(f"no policy {policy!r}; the referee knows random, tidy and greedy")
        if self.phase == "tile":
            worth = {move: self.choice_points(move) for move in moves}
        elif policy == "tidy":
            worth = {move: -self.tiles_that_miss(move) for move in moves}
        else:
            worth = {move: self.greedy_value(move) for move in moves}
        return [move for move in moves if worth[move] == max(worth.values())]

    def tiles_that_miss(self, move):
        """How many of the taken tiles do not get onto the line. The marker does not count."""
        source, color, line = move
        taken = self.tiles_at(source).count(color)
        if line == "F":
            return taken
        room = int(line) - len(self.boards[self.turn]["lines"][int(line) - 1])
        return max(0, taken - room)

    def greedy_value(self, move):
        """Points of the line if it becomes full, on the wall as it is now, less what the floor costs more."""
        source, color, line = move
        board = self.boards[self.turn]
        before = min(len(FLOOR_COSTS), len(board["floor"]))
        marker = 1 if source == "C" and MARKER in self.center else 0
        lost = floor_cost(before + marker + self.tiles_that_miss(move)) - floor_cost(before)

        gain = 0
        if line != "F":
            row = int(line) - 1
            taken = self.tiles_at(source).count(color)
            if len(board["lines"][row]) + taken >= row + 1:
                gain = self.best_points(board["wall"], row, color)
        return gain - lost

    def best_points(self, wall, row, color):
        """Points of this color in this row: in its own cell; on the gray wall in the best open one, else 0."""
        if self.wall == "fixed":
            return tile_points(wall, row, wall_column(row, color))
        return max((tile_points(wall, row, column) for column in open_columns(wall, row, color)), default=0)

    def choice_points(self, move):
        """What this gray-wall choice scores now; a line that must go to the floor scores nothing."""
        line, column = move.split("=")
        if column == "F":
            return 0
        return tile_points(self.boards[self.turn]["wall"], int(line) - 1, int(column) - 1)

    # ---- counting the tiles --------------------------------------------------------------------------------

    def census(self):
        """All tiles of each color, wherever they lie; 20 of each, always."""
        count = no_tiles()
        for heap in (self.bag, self.lid, self.removed):
            for color in COLORS:
                count[color] += heap[color]
        places = [self.center, *self.factories]
        for board in self.boards:
            places += [board["floor"], *board["lines"], *board["wall"]]
        for place in places:
            for tile in place:
                if tile in count:
                    count[tile] += 1
        return count

    def check(self):
        """Raise RefereeError unless everything on the table is as it can be in a game of Azul."""

        def claim(truth, complaint):
            if not truth:
                raise RefereeError(complaint)

        for color, count in self.census().items():
            claim(count == TILES_PER_COLOR, f"census: {count} {COLOR_NAMES[color]} tiles")
        for name in ("bag", "lid", "removed"):
            claim(all(count >= 0 for count in getattr(self, name).values()), f"{name}: a negative count")
        claim(self.overflow == "removed" or not any(self.removed.values()), "removed: not in this game")

        markers = self.center.count(MARKER) + sum(board["floor"].count(MARKER) for board in self.boards)
        claim(markers == 1, f"marker: {markers} of them")

        claim(len(self.factories) == FACTORIES[self.players], f"factories: {len(self.factories)}")
        for number, factory in enumerate(self.factories, start=1):
            claim(MARKER not in factory, f"factory {number}: holds the marker")
            claim(len(factory) <= TILES_PER_FACTORY, f"factory {number}: {len(factory)} tiles")
        most = TILES_PER_FACTORY * len(self.factories)
        claim(self.tiles_on_offer() <= most, "center: more tiles than were dealt")

        claim(len(self.boards) == self.players, f"boards: {len(self.boards)}")
        for seat, board in enumerate(self.boards):
            where = f"seat {seat}, "
            claim(board["score"] >= 0, where + "score: negative")
            claim(len(in_order(board["floor"])) <= len(FLOOR_COSTS), where + "floor: more than seven tiles")
            for row, line in enumerate(board["lines"]):
                claim(len(line) <= row + 1, where + f"line {row + 1}: longer than it can be")
                claim(len(set(line)) <= 1, where + f"line {row + 1}: two colors")
                claim(not set(line) & set(board["wall"][row]), where + f"line {row + 1}: its row has the color")
            for row in range(SIZE):
                in_row = in_order(board["wall"][row])
                claim(len(in_row) == len(set(in_row)), where + f"row {row + 1}: a color twice")
                for column, tile in enumerate(board["wall"][row]):
                    if self.wall == "fixed" and tile is not None:
                        at_home = wall_column(row, tile) == column
                        claim(at_home, where + f"row {row + 1}: a color in a wrong cell")
            for column in range(SIZE):
                in_column = in_order(board["wall"][row][column] for row in range(SIZE))
                claim(len(in_column) == len(set(in_column)), where + f"column {column + 1}: a color twice")

        claim(0 <= self.turn < self.players, f"turn: {self.turn}")
        claim(0 <= self.starter < self.players, f"starter: {self.starter}")
        claim(0 <= self.round <= self.max_rounds, f"round: {self.round}")
        claim(self.round >= 1 or self.phase == "deal", "round: 0 before the first deal only")

        drawable = sum(self.bag.values()) + sum(self.lid.values())
        if self.phase == "offer":
            claim(self.tiles_on_offer() > 0, "phase offer: nothing is on offer")
        else:
            claim(self.tiles_on_offer() == 0, f"phase {self.phase}: tiles are on offer")
        if self.phase == "tile":
            claim(self.wall == "free", "phase tile: on the colored wall nobody chooses")
            claim(self.next_full_line() is not None, "phase tile: no line is full")
            claim(self.next_full_line()[0] == self.turn, "phase tile: another seat has to choose")
        if self.phase in ("offer", "deal"):
            claim(not any(self.rows), f"phase {self.phase}: the game ended with the complete row")
        if self.phase in ("deal", "over"):
            claim(self.center == [MARKER], f"phase {self.phase}: the marker is not in the center")
            claim(self.next_full_line() is None, f"phase {self.phase}: a line is full")
        if self.phase == "deal":
            claim(drawable > 0, "phase deal: bag and lid are empty")
            claim(self.round < self.max_rounds, "phase deal: the last round has been played")
        if self.phase == "over":
            claim(any(self.rows) == (self.end == "row"), f"end {self.end}: the walls say otherwise")
            claim(self.end != "exhausted" or drawable == 0, "end exhausted: there are tiles to deal")
            claim(self.end != "stalled" or self.round == self.max_rounds, "end stalled: rounds are left")
            claim(self.end != "stalled" or drawable > 0, "end stalled: it is exhausted")

    # ---- the position as one line of text ------------------------------------------------------------------

    def to_text(self):
        side = {"fixed": "c", "free": "g"}[self.wall] + str(self.players)
        side += {"lid": "", "removed": "r"}[self.overflow]
        factories = ",".join("".join(in_order(factory)) or "-" for factory in self.factories)
        boards = ";".join(
            ":".join(
                [
                    str(board["score"]),
                    "/".join("".join(cell or "." for cell in row) for row in board["wall"]),
                    ",".join(f"{line[0]}{len(line)}" if line else "-" for line in board["lines"]),
                    write_with_marker(board["floor"]),
                ]
            )
            for board in self.boards
        )
        words = ["azul1", side, factories, write_with_marker(self.center), boards]
        words += ["b" + write_counts(self.bag), "l" + write_counts(self.lid)]
        if any(self.removed.values()):
            words.append("x" + write_counts(self.removed))
        words += [f"t{self.turn}", f"s{self.starter}", f"r{self.round}"]
        if self.max_rounds != ROUND_LIMIT:
            words.append(f"m{self.max_rounds}")
        words.append(f"over-{self.end}" if self.is_over else self.phase)
        return " ".join(words)

    @classmethod
    def from_text(cls, text):
        words = POSITION.fullmatch(text.strip())
        if words is None:
            raise RefereeError(f"not a position: {text!r}")
        game = cls(
            players=int(words["players"]),
            wall={"c": "fixed", "g": "free"}[words["side"]],
            overflow="removed" if words["removed_rule"] else "lid",
            max_rounds=int(words["cap"] or ROUND_LIMIT),
        )
        game.factories = [read_tiles(factory) for factory in words["factories"].split(",")]
        game.center = read_tiles(words["center"])
        game.boards = []
        for board in words["boards"].split(";"):
            score, wall, lines, floor = board.split(":")
            game.boards.append(
                {
                    "score": int(score),
                    "wall": [[None if cell == "." else cell for cell in row] for row in wall.split("/")],
                    "lines": [[] if line == "-" else [line[0]] * int(line[1:]) for line in lines.split(",")],
                    "floor": read_tiles(floor),
                }
            )
        game.turn, game.starter, game.round = int(words["turn"]), int(words["starter"]), int(words["round"])
        game.phase, _, end = words["phase"].partition("-")
        game.end = end or None

        heaps = {"bag": words["bag"], "lid": words["lid"], "removed": words["removed"] or "0.0.0.0.0"}
        for name, counts in heaps.items():
            if counts == "?":
                setattr(game, name, no_tiles())
            else:
                setattr(game, name, dict(zip(COLORS, map(int, counts.split(".")), strict=True)))
        if words["bag"] == "?" and words["lid"] == "?":
            raise RefereeError("bag and lid: only one of them may be ?")
        for name, counts in heaps.items():
            if counts == "?":  # what the census leaves; an excess shows as a negative count below
                missing = {color: TILES_PER_COLOR - count for color, count in game.census().items()}
                setattr(game, name, missing)
        game.check()
        return game


_COUNTS = r"(\d+\.\d+\.\d+\.\d+\.\d+)"
_TILES = r"(-|\*?[BYRKW]+|\*)"
_BOARD = rf"(\d+:[BYRKW.]{{5}}(/[BYRKW.]{{5}}){{4}}:(-|[BYRKW][1-5])(,(-|[BYRKW][1-5])){{4}}:{_TILES})"
POSITION = re.compile(
    rf"azul1 (?P<side>[cg])(?P<players>[234])(?P<removed_rule>r?)"
    rf" (?P<factories>(-|[BYRKW]+)(,(-|[BYRKW]+))*) (?P<center>{_TILES}) (?P<boards>{_BOARD}(;{_BOARD})*)"
    rf" b(?P<bag>{_COUNTS}|\?) l(?P<lid>{_COUNTS}|\?)( x(?P<removed>{_COUNTS}))?"
    r" t(?P<turn>\d+) s(?P<starter>\d+) r(?P<round>\d+)( m(?P<cap>\d+))?"
    r" (?P<phase>deal|offer|tile|over-(row|exhausted|stalled))"
)


def read_tiles(text):
    """The tiles of a factory, the center or a floor, and the marker; "-" is nothing."""
    return [] if text == "-" else list(text)


def write_with_marker(place):
    return ("*" if MARKER in place else "") + "".join(in_order(place)) or "-"


def write_counts(heap):
    return ".".join(str(heap[color]) for color in COLORS)


# ------------------------------------------------------------------------------------------------------------
# Whole games


def replay(record):
    """Play a recorded game again, and check it.

    Yields the referee and the text of the coming move before every move, choices of a column included. It is
    the same referee every time, moved on between two yields: look at it, but leave it alone. It is also what
    the generator returns in the end (the value of `yield from`, or of StopIteration).
    """
    if record.get("format") != "azul-record/1":
        raise RefereeError(f"unknown format {record.get('format')!r}")
    rules = record["rules"]
    game = Referee(
        players=rules["players"],
        wall=rules["wall"],
        overflow=rules.get("overflow", "lid"),
        max_rounds=rules.get("max_rounds", ROUND_LIMIT),
        first_player=record.get("first_player", 0),
    )
    for number, played in enumerate(record["rounds"], start=1):

        def objection(reason, number=number):
            return RefereeError(f"round {number}: {reason}")

        try:
            game.deal(played["deal"])
        except RefereeError as reason:
            raise objection(f"deal: {reason}") from None

        for nth, move in enumerate(played["moves"].split(), start=1):
            if game.phase != "offer":
                raise objection(f"move {nth} ({move}): the offer has ended")
            yield game, move
            try:
                game.play(move)
            except RefereeError as reason:
                raise objection(f"move {nth}, {reason}") from None
        if game.phase == "offer":
            raise objection("the moves stop while tiles are on offer")

        choices_by_seat = played.get("tiles", [""] * game.players)
        if len(choices_by_seat) != game.players:
            raise objection(f"tiles: {len(choices_by_seat)} texts for {game.players} seats")
        for seat, choices in enumerate(choices_by_seat):
            for choice in choices.split():
                if game.phase != "tile" or game.turn != seat:
                    raise objection(f"tiles: {choice}: seat {seat} has nothing to choose")
                yield game, choice
                try:
                    game.play(choice)
                except RefereeError as reason:
                    raise objection(f"tiles of seat {seat}, {reason}") from None
        if game.phase == "tile":
            raise objection(f"tiles: seat {game.turn} has a full line left")

        if "scores" in played and played["scores"] != game.round_scores:
            raise objection(f"scores: {played['scores']} recorded, {game.round_scores} played")

    last = f"round {game.round}: "
    if not game.is_over:
        raise RefereeError(last + "the record stops before the game is over")
    for key, value in game.result().items():
        if record["result"].get(key) != value:
            raise RefereeError(f"{last}result: {key} {record['result'].get(key)} recorded, {value} played")
    return game


def perft(game, depth):
    """The leaves of the tree of legal moves, `depth` deep; a line of play that ends the round is one leaf."""
    if depth == 0 or game.phase in ("deal", "over"):
        return 1
    moves = game.legal_moves()
    if depth == 1:
        return len(moves)
    leaves = 0
    for move in moves:
        after = game.copy()
        after.play(move)
        leaves += perft(after, depth - 1)
    return leaves
