"""The coins: SplitMix64 as published, any word at once, and the probability that was asked for."""

import numpy as np
import pytest
from helpers import GOLDEN, M64, SplitMix64, plain_coins, plain_lane_key, plain_words, seeds
from hypothesis import example, given
from hypothesis import strategies as st

from eller_stream import coins

# The first outputs of SplitMix64 seeded with 0, as its authors' C code prints them.
PUBLISHED = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B]
LARGEST = 2**48 * 2**25  # words: more than the row cap and the width cap together can ask for


def test_mix_is_the_published_generator():
    assert [coins.mix((i + 1) * GOLDEN & M64) for i in range(5)] == PUBLISHED


def test_the_plain_generator_is_the_published_one():
    generator = SplitMix64(0)
    assert [generator.next() for _ in range(5)] == PUBLISHED


@given(z=st.integers(0, M64))
@example(z=0)
@example(z=M64)
def test_mix_equals_the_plain_output_function(z):
    assert coins.mix(z) == SplitMix64((z - GOLDEN) & M64).next()


@given(seed=seeds, lane=st.integers(0, 200))
def test_a_lane_has_a_key_of_its_own(seed, lane):
    assert coins.lane_key(seed, lane) == plain_lane_key(seed, lane)


@given(seed=seeds, lane=st.integers(0, 111), first=st.integers(0, LARGEST), count=st.integers(0, 20))
@example(seed=1, lane=0, first=0, count=5)
@example(seed=2, lane=15, first=2**64 - 3, count=6)
@example(seed=M64, lane=111, first=LARGEST, count=3)
def test_words_at_any_offset(seed, lane, first, count):
    words = coins.lane_words(seed, lane, first, count)
    assert words.dtype == np.uint64
    assert words.tolist() == plain_words(seed, lane, first, count)


@given(seed=seeds, first=st.integers(0, LARGEST), cut=st.integers(0, 12))
def test_words_do_not_depend_on_the_piece_they_are_drawn_in(seed, first, cut):
    whole = coins.lane_words(seed, 3, first, 12).tolist()
    pieces = coins.lane_words(seed, 3, first, cut).tolist() + coins.lane_words(seed, 3, first + cut, 12 - cut).tolist()
    assert pieces == whole


@pytest.mark.parametrize("lane", range(coins.BRAID_EVEN + 16))
def test_no_two_lanes_and_seeds_share_their_first_words(lane):
    words = {tuple(coins.lane_words(seed, other, 0, 2).tolist()) for seed in (0, 1, M64) for other in (lane, lane + 1)}
    assert len(words) == 6


@given(
    seed=seeds, base=st.sampled_from([0, 16, 32, 48, 64, 80, 96]), n=st.integers(0, 65_536), row=st.integers(0, 2**48)
)
@example(seed=1, base=0, n=32_768, row=0)
@example(seed=1, base=16, n=65_535, row=2**48 - 1)
@example(seed=1, base=16, n=1, row=2**32)
@example(seed=1, base=80, n=21_845, row=7)
def test_coins_equal_the_plain_ones(seed, base, n, row):
    words = coins.coin_words(seed, base, n, row * 2, 2)
    bools = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little").astype(bool)
    assert bools.tolist() == plain_coins(seed, base, n, row, 128)


def test_an_even_coin_is_one_word():
    assert coins.coin_words(5, 16, 32_768, 100, 9).tolist() == plain_words(5, 16 + 15, 100, 9)


def test_never_and_always():
    assert coins.coin_words(7, 0, 0, 3, 4).tolist() == [0] * 4
    assert coins.coin_words(7, 0, 65_536, 3, 4).tolist() == [M64] * 4


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 6554, 16_384, 21_845, 32_768, 40_000, 43_691, 58_982, 65_534, 65_535])
def test_coins_fall_with_the_probability_asked_for(n):
    """Within 4 standard deviations, which one n in 16,000 would miss by chance; the seed is fixed."""
    tosses = 2**24
    words = coins.coin_words(2026, 0, n, 0, tosses // 64)
    ones = np.unpackbits(words.view(np.uint8)).sum(dtype=np.int64)
    p = n / 65_536
    assert abs(ones - tosses * p) <= 4 * (tosses * p * (1 - p)) ** 0.5


def test_the_lanes_of_a_row_are_independent_of_each_other():
    """East and south coins of the same cells agree in half of the cases, within 4 standard deviations."""
    east, south = (coins.coin_words(11, base, 32_768, 0, 2**16) for base in (coins.EAST, coins.SOUTH))
    agree = np.unpackbits((~(east ^ south)).view(np.uint8)).sum(dtype=np.int64)
    assert abs(agree - 2**21) <= 4 * 2**10
