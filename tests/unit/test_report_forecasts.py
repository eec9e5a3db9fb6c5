"""The section on extrapolation: what it says, and that nothing of it leaves it (docs/numbers.md#extrapolation)."""

import pages
import pytest


@pytest.fixture(scope="module")
def page(built):
    return built("ladder").page


def test_every_forecast_carries_its_sign_its_interval_and_its_distance(page):
    rows = pages.rows(page.one("section", id="forecasts").all("table")[0])

    assert [(row[0], row[2], row[3], row[4]) for row in rows] == [("PyTorch", "4×8", "8×8", "2×")]
    assert all(cell.startswith("≈") and "–" in cell for row in rows for cell in row[5:])


@pytest.mark.parametrize(
    ("language", "reasons"),
    [
        ("en", ("At the last step throughput falls", "2 scales were", "31.2 times the largest measured scale")),
        ("zh-CN", ("最后一步吞吐率下降", "只实测了 2 个规模", "距离为实测最大规模的 31.2 倍；超过 2 倍")),
    ],
)
def test_where_nothing_is_offered_the_reason_stands(page, language, reasons):
    rows = pages.rows(page.one("section", id="forecasts").all("table")[-1], language)

    said = {row[0]: row[-1] for row in rows}
    assert said["PaddlePaddle"].startswith(reasons[0])
    assert said["MXNet"].startswith(reasons[1])
    assert said["PyTorch"].startswith(reasons[2])


def test_no_forecast_stands_anywhere_else(page, built):
    section = page.one("section", id="forecasts")
    numbers = {row[5].split()[0].split("–")[0].lstrip("≈") for row in pages.rows(section.all("table")[0])}
    numbers = {number[: number.index(".") + 3] for number in numbers}

    elsewhere = [each for each in page.one("main").all("section") if each["id"] in ("verdict", "problems")]
    elsewhere += [element for element in page.one("main").all("section") if (element["id"] or "").startswith("model-")]
    data = (built("ladder").folder / "summary.json").read_text(encoding="utf-8")
    tables = "".join(path.read_text(encoding="utf-8-sig") for path in (built("ladder").folder / "tables").glob("*.csv"))

    assert not [number for number in numbers for line in elsewhere if number in line.text("en")]
    assert not [number for number in numbers if number.replace(",", "") in data + tables]
