"""What data sets hold, from one seed: pictures, faces, sentences, documents, clicks and digits.

An item depends on the seed, its split and its number alone, so that every format holds the same ones. The bits come
from PCG64 itself, whose stream NumPy does not change (NEP 19), and JPEG from the one Pillow that all writers'
environments hold. Python 3.8 reads this file.
"""

from __future__ import annotations

import functools
import hashlib
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy
from PIL import Image

QUALITY = 95
SPLITS = {"train": 0, "validation": 1}
SIDE = 256  # of a small picture: the least that loaders of ImageNet crop 224 from
FACE_SIDE = 112
NOISE = 32  # grey levels; a picture of 256 × 256 takes some 40 KB
FULL = 128  # tokens of a sequence, none of them padding
PREDICTIONS = 20
MASKED = 19  # 15 % of 128, as BERT's own create_pretraining_data.py counts them
PAD, UNKNOWN, CLS, SEP, MASK = 0, 100, 101, 102, 103  # of bert-base-uncased
VOCABULARY = 30_522
FIRST_WORD = 2000  # ids below have a meaning of their own, or are letters
WORDS = 21_128 - FIRST_WORD  # that texts are made of: those that Paddle's smaller vocabulary of 2020 has too
END_OF_TEXT = 50_256
DENSE = 13  # numbers of a click, as Criteo's have
# samples/wdl/wdl_8gpu.py of HugeCTR: rows of two pairs of categories taken together, and of the 26
WIDE = (278_899, 355_877)
ROWS = (203_750, 18_573, 14_082, 7_020, 18_966, 4, 6_382, 1_246, 49, 185_920, 71_354, 67_346, 11, 2_166, 7_340, 60, 4,
        934, 15, 204_208, 141_572, 199_066, 60_940, 9_115, 72, 34)  # fmt: skip


class Bits:
    """A stream of random bits that belongs to one item."""

    def __init__(self, seed: int, source: str, split: str, number: int) -> None:
        key = [seed, int.from_bytes(hashlib.sha256(source.encode()).digest()[:4], "little"), SPLITS[split], number]
        self.generator = numpy.random.PCG64(numpy.random.SeedSequence(key))

    def words(self, count: int) -> numpy.ndarray:
        return numpy.asarray(self.generator.random_raw(count), dtype=numpy.uint64)

    def octets(self, count: int) -> numpy.ndarray:
        return self.words(-(-count // 8)).view(numpy.uint8)[:count]

    def below(self, limit: int, count: int) -> numpy.ndarray:
        """Whole numbers from 0; limits are so small against 2^64 that none is favoured."""
        return (self.words(count) % numpy.uint64(limit)).astype(numpy.int64)

    def order(self, count: int) -> numpy.ndarray:
        return numpy.argsort(self.words(count), kind="stable")


@dataclass(frozen=True)
class Picture:
    label: int
    jpeg: bytes

    def digest(self) -> bytes:
        with Image.open(io.BytesIO(self.jpeg)) as image:
            pixels = numpy.asarray(image.convert("RGB"))
        shape = numpy.asarray([self.label, *pixels.shape], dtype="<i8")
        return hashlib.sha256(shape.tobytes() + pixels.tobytes()).digest()


def encoded(pixels: numpy.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def _pixels(bits: Bits, width: int, height: int, colours: int) -> numpy.ndarray:
    """Soft patches of colour with noise on them: neither flat nor pure noise, so that JPEG has something to do."""
    coarse = Image.fromarray(bits.octets(colours * colours * 3).reshape(colours, colours, 3))
    smooth = numpy.asarray(coarse.resize((width, height), Image.BILINEAR), dtype=numpy.int16)
    noise = bits.octets(height * width * 3).reshape(height, width, 3) % NOISE
    return numpy.clip(smooth + noise - NOISE // 2, 0, 255).astype(numpy.uint8)


def images(seed: int, split: str, count: int, *, classes: int, varied: bool = False) -> Iterator[Picture]:
    """*varied*: of the shape that most of ImageNet has, upright or not; else small squares."""
    for number in range(count):
        bits = Bits(seed, "images", split, number)
        width, height = ((500, 375), (375, 500))[int(bits.below(4, 1)[0]) == 0] if varied else (SIDE, SIDE)
        yield Picture(number % classes, encoded(_pixels(bits, width, height, 16)))


def faces(seed: int, split: str, count: int, *, classes: int) -> Iterator[Picture]:
    """Ordered by identity, as InsightFace's records are."""
    for number in range(count):
        bits = Bits(seed, "faces", split, number)
        yield Picture(number * classes // count, encoded(_pixels(bits, FACE_SIDE, FACE_SIDE, 8)))


@dataclass(frozen=True)
class Digit:
    label: int
    pixels: numpy.ndarray  # uint8

    def digest(self) -> bytes:
        shape = numpy.asarray([self.label, *self.pixels.shape], dtype="<i8")
        return hashlib.sha256(shape.tobytes() + self.pixels.tobytes()).digest()


def digits(seed: int, split: str, count: int) -> Iterator[Digit]:
    return _small(seed, "digits", split, count, (28, 28))


def small_images(seed: int, split: str, count: int) -> Iterator[Digit]:
    return _small(seed, "small_images", split, count, (32, 32, 3))


def _small(seed: int, source: str, split: str, count: int, shape: tuple[int, ...]) -> Iterator[Digit]:
    for number in range(count):
        bits = Bits(seed, source, split, number)
        yield Digit(number % 10, bits.octets(int(numpy.prod(shape))).reshape(shape))


# words


@functools.lru_cache(maxsize=None)
def syllables() -> tuple[str, ...]:
    return tuple(a + b for a, b in itertools.product("bcdfghjklmnpqrstvwxz", "aeiou"))


@functools.lru_cache(maxsize=None)
def vocabulary() -> tuple[str, ...]:
    """Of BERT's size, with its special words at its places; a whole word is one token."""
    head = ["[PAD]", *(f"[unused{n}]" for n in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    pieces = [*letters, *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    unused = [f"[unused{n}]" for n in range(99, 99 + FIRST_WORD - len(head) - len(pieces))]
    words = ("".join(parts) for length in (2, 3) for parts in itertools.product(syllables(), repeat=length))
    return (*head, *unused, *pieces, *itertools.islice(words, VOCABULARY - FIRST_WORD))


@dataclass(frozen=True)
class Sentences:
    """Two sentences that fill a sequence of 128: ids of words, and whether the second does not follow the first."""

    first: numpy.ndarray
    second: numpy.ndarray
    random_next: int
    positions: numpy.ndarray  # of the words to predict
    shown: numpy.ndarray  # what stands there instead

    def digest(self) -> bytes:
        """Of the words: some loaders choose by themselves which of them are hidden, and mix the pairs anew."""
        parts = (self.first, [-1], self.second, [-1])
        return hashlib.sha256(numpy.concatenate(parts).astype("<i8").tobytes()).digest()

    def tokens(self, cls: int = CLS, sep: int = SEP) -> numpy.ndarray:
        return numpy.concatenate(([cls], self.first, [sep], self.second, [sep])).astype(numpy.int64)

    def masked(self) -> numpy.ndarray:
        tokens = self.tokens()
        tokens[self.positions] = self.shown
        return tokens

    def segments(self) -> numpy.ndarray:
        return numpy.repeat([0, 1], (len(self.first) + 2, len(self.second) + 1))

    def row(self) -> dict[str, numpy.ndarray]:
        """As create_pretraining_data.py of BERT names its columns."""
        wanted = self.tokens()[self.positions]
        left = PREDICTIONS - len(self.positions)
        return {
            "input_ids": self.masked(),
            "input_mask": numpy.ones(FULL, dtype=numpy.int64),
            "segment_ids": self.segments(),
            "masked_lm_positions": numpy.pad(self.positions, (0, left)),
            "masked_lm_ids": numpy.pad(wanted, (0, left)),
            "masked_lm_weights": numpy.pad(numpy.ones(len(wanted)), (0, left)),
            "next_sentence_labels": numpy.asarray([self.random_next]),
        }


def sentences(seed: int, split: str, count: int) -> Iterator[Sentences]:
    words = FULL - 3
    first = words // 2
    at = numpy.asarray([place for place in range(1, FULL - 1) if place != first + 1])
    for number in range(count):
        bits = Bits(seed, "sentences", split, number)
        ids = FIRST_WORD + bits.below(WORDS, words)
        positions = numpy.sort(at[bits.order(len(at))[:MASKED]])
        whole = numpy.concatenate(([CLS], ids[:first], [SEP], ids[first:], [SEP]))
        dice, other = bits.below(10, MASKED), FIRST_WORD + bits.below(WORDS, MASKED)
        shown = numpy.where(dice < 8, MASK, numpy.where(dice == 8, other, whole[positions]))  # 80, 10, 10 %
        yield Sentences(ids[:first], ids[first:], int(bits.below(2, 1)[0]), positions, shown)


# documents


@functools.lru_cache(maxsize=None)
def byte_letters() -> dict[int, str]:
    """How GPT-2's tokeniser writes each byte, in the order of its vocabulary."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [code for code in range(256) if code not in plain]
    return {**{code: chr(code) for code in plain}, **{code: chr(256 + n) for n, code in enumerate(moved)}}


@functools.lru_cache(maxsize=None)
def merges() -> tuple[tuple[str, str], ...]:
    """GPT-2's 50,000: letters to syllables, syllables to words, each word with a space before it (Ġ); the words of
    three syllables only fill the vocabulary."""
    pairs = list(itertools.product(syllables(), repeat=2))
    words = [a + b for a, b in pairs]
    left = 50_000 - len(syllables()) - 2 * len(words)
    longer = list(itertools.islice(itertools.product(words, syllables()), left - left // 2))
    return (
        *((syllable[0], syllable[1]) for syllable in syllables()),
        *pairs,
        *(("Ġ", word) for word in words),
        *longer,
        *(("Ġ", a + b) for a, b in longer[: left // 2]),
    )


@functools.lru_cache(maxsize=None)
def gpt2_tokens() -> dict[str, int]:
    names = [*byte_letters().values(), *(a + b for a, b in merges()), "<|endoftext|>"]
    return {name: number for number, name in enumerate(names)}


@dataclass(frozen=True)
class Document:
    words: numpy.ndarray  # places in the product of two syllables

    def digest(self) -> bytes:
        return hashlib.sha256(self.words.astype("<i8").tobytes()).digest()

    def text(self) -> str:
        return " ".join(syllables()[each // 100] + syllables()[each % 100] for each in self.words.tolist())

    def tokens(self) -> numpy.ndarray:
        """By the vocabulary of `gpt2_tokens`, with the end of the text."""
        bare = 256 + len(syllables()) + self.words
        spaced = bare + len(syllables()) ** 2
        return numpy.concatenate((bare[:1], spaced[1:], [END_OF_TEXT]))


def documents(seed: int, split: str, count: int) -> Iterator[Document]:
    """512 to 1,536 words each."""
    for number in range(count):
        bits = Bits(seed, "documents", split, number)
        yield Document(bits.below(len(syllables()) ** 2, 512 + int(bits.below(1025, 1)[0])))


# clicks


@dataclass(frozen=True)
class Click:
    label: int
    dense: numpy.ndarray  # 13 float32 from 0 to 1
    categories: numpy.ndarray  # a row number for each of ROWS

    def digest(self) -> bytes:
        dense = numpy.asarray(self.dense, dtype="<f4").tobytes()
        whole = numpy.concatenate(([self.label], self.categories)).astype("<i8")
        return hashlib.sha256(dense + whole.tobytes()).digest()

    def crossed(self) -> numpy.ndarray:
        """The first two categories taken together, and the next two."""
        first, second, third, fourth = (int(category) for category in self.categories[:4])
        return numpy.array([(first * ROWS[1] + second) % WIDE[0], (third * ROWS[3] + fourth) % WIDE[1]])

    def wide_rows(self) -> numpy.ndarray:
        return self.crossed() + _starts(WIDE)

    def deep_rows(self) -> numpy.ndarray:
        """Of one table that holds all categories, one after the other."""
        return self.categories + _starts(ROWS)


def _starts(sizes: tuple[int, ...]) -> numpy.ndarray:
    return numpy.concatenate(([0], numpy.cumsum(sizes)[:-1]))


def clicks(seed: int, split: str, count: int) -> Iterator[Click]:
    for number in range(count):
        bits = Bits(seed, "clicks", split, number)
        dense = (bits.below(1 << 24, DENSE) / (1 << 24)).astype(numpy.float32)
        # squared: a few rows are met often, as in every log of clicks
        categories = (bits.below(1 << 20, len(ROWS)) / (1 << 20)) ** 2 * ROWS
        yield Click(int(bits.below(4, 1)[0] == 0), dense, categories.astype(numpy.int64))


SOURCES = {
    "images": images,
    "faces": faces,
    "sentences": sentences,
    "documents": documents,
    "clicks": clicks,
    "digits": digits,
    "small_images": small_images,
}
