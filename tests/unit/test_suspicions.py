"""What a reviewer would ask: each rule with what breaks it and what comes close, and that nothing follows from one."""

from evalsuite.results.compare import published_rates


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in published_rates.figures() if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice
