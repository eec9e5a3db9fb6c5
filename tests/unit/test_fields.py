"""Numbers of many lines are read together: each must be what it is when read alone."""

import pytest

from evalsuite.logs.text.fields import PLACES, columns_of, numbers, values, wholes
from evalsuite.logs.text.records import number, whole

ODD = (b"", b"nan", b"inf", b"-1", b"0", b"1e400", b"1_000", b"5,868", b"1.2.3", b"0" * 20 + b"7", b"9" * 17, b"+5")
NAMES = ("step", "seconds", "loss", "ms", "rate", "rate_k")  # the last two say the same: the one that is there counts
PLAIN = (b"12", b"0.25", b"-6.9", b"500", b"480.5", None)


@pytest.mark.parametrize("odd", [*ODD, None])
def test_a_number_that_is_none_leaves_those_above_and_below_it_as_they_are(odd):
    for place in range(len(NAMES)):
        lines = [PLAIN, (*PLAIN[:place], odd, *PLAIN[place + 1 :]), PLAIN]

        together = [*map(list, zip(*columns_of(NAMES, lines), strict=True))]

        assert repr(together) == repr([values(NAMES, line) for line in lines])
        assert together[0][PLACES["step_s"]] == 0.5  # of seconds and ms the later
        assert together[2][PLACES["rate"]] == 480.5


def test_no_line_makes_no_record():
    assert [*zip(*columns_of(NAMES, []), strict=True)] == []


@pytest.mark.parametrize("odd", ODD)
def test_a_column_is_read_as_its_numbers_one_by_one(odd):
    column = [b"7", odd, b"12"]

    assert repr(wholes(column)) == repr([*map(whole, column)])
    assert repr(numbers(column)) == repr([*map(number, column)])


def test_plain_columns_are_whole_numbers_and_decimals():
    assert wholes([b"7", b"007"]) == [7, 7]
    assert numbers([b"7", b"0.5"]) == [7.0, 0.5]
