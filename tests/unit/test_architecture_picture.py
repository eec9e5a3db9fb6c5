from tools import draw_architecture


def test_the_picture_shows_the_arrows_as_they_are():
    assert draw_architecture.PICTURE.read_text(encoding="utf-8") == draw_architecture.picture()
