"""The golden files of commands show what differs only, and yet every change of a command changes them."""

import re

from hypothesis import given
from hypothesis import strategies as st
from toys import CASE, toynet

from evalsuite.adapter import Command
from tests import goldens

lines = st.lists(st.sampled_from(["--a", "--b 1", "--b 2", "--c", "- x", "+ x"]), max_size=8)


def applied(before, differences):
    """The lines that *differences* make of *before*."""
    going, coming = set(), {}
    for one in differences:
        number, sign, line = re.fullmatch(r" *(\d+) ([+-]) (.*)", one).groups()
        if sign == "-":
            going.add(int(number))
        else:
            coming.setdefault(int(number), []).append(line)
    found = []
    for number, line in enumerate([*before, None], 1):
        found += coming.get(number, [])
        found += [line] if line is not None and number not in going else []
    return found


@given(lines, lines)
def test_what_is_shown_of_a_further_command_is_enough_to_make_it_again(before, after):
    assert applied(before, goldens.differences(before, after)) == after


def test_the_first_command_is_shown_whole_and_a_further_one_by_what_differs():
    def command(case):
        return Command(argv=("{python}", "train.py", "-b", str(case.batch_per_device)), environment={"A": "x y"})

    recipe = toynet(command=command).recipes[0]

    text = goldens.commands([("1x1", recipe, CASE), ("1x1 more", recipe, CASE.at_scale(1, 2))])

    assert text == "== 1x1\nA='x y'\n{python}\ntrain.py\n-b 32\n\n== 1x1 more, beside 1x1\nthe same\n"
