"""The streams of `azul_fast.engine.rng` again, in Python's whole numbers, and games of the referee played by them."""

from referee import COLORS

DEALS = 0x6A09E667F3BCC909
POLICIES = 0xBB67AE8584CAA73B
GOLDEN_64, GOLDEN_32 = 0x9E3779B97F4A7C15, 0x9E3779B9
BITS_64, BITS_32 = 2**64 - 1, 2**32 - 1


def splitmix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & BITS_64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & BITS_64
    return z ^ z >> 31


def mix32(z):
    z = (z ^ z >> 16) * 0x7FEB352D & BITS_32
    z = (z ^ z >> 15) * 0x846CA68B & BITS_32
    return z ^ z >> 16


def stream_key(seed, index, domain):
    start = splitmix(seed + domain & BITS_64)
    return splitmix(start + index * GOLDEN_64 & BITS_64)


def round_stream(key, round_number):
    x = mix32((key & BITS_32) + round_number * GOLDEN_32 & BITS_32)
    return x, mix32(key >> 32 ^ x) | 1


def word(x, y, k):
    return mix32(x + k * y & BITS_32) >> 8


def below(random_word, count):
    return random_word * count >> 24


class Stream:
    """The draws of one game's stream, round by round."""

    def __init__(self, seed, index, domain):
        self.key = stream_key(seed, index, domain)

    def draw(self, round_number, k, count):
        return below(word(*round_stream(self.key, round_number), k), count)


def in_draw_order(moves):
    """Moves of the offer as the kernels number them: by line, the floor last; then color; then source, center first."""
    return sorted(moves, key=lambda move: ("12345F".index(move[2]), COLORS.index(move[1]), "C123456789".index(move[0])))


def deal_by(stream, game):
    """The next deal, tile by tile, of a referee's game."""
    bag = [color for color in COLORS for _ in range(game.bag[color])]
    lid = [color for color in COLORS for _ in range(game.lid[color])]
    deal = []
    for factory in range(len(game.factories)):
        tiles = ""
        for q in range(4):
            if not bag:
                bag, lid = lid, []
            if bag:
                tiles += bag.pop(stream.draw(game.round + 1, 4 * factory + q, len(bag)))
        deal.append("".join(sorted(tiles, key=COLORS.index)) or "-")
    return deal


def play_random(game, seed, number, rotations=1):
    """Play a referee's game to its end: game `number` of a batch, `random` in every seat."""
    deals, moves = Stream(seed, number // rotations, DEALS), Stream(seed, number, POLICIES)
    ply = 0
    while not game.is_over:
        if game.phase == "deal":
            game.deal(deal_by(deals, game))
            ply = 0
        legal = in_draw_order(game.legal_moves())
        game.play(legal[moves.draw(game.round, ply, len(legal))])
        ply += 1
    return game
