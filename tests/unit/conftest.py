"""The unit floor writes nothing into the user's cache."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _cache_of_the_session(figure_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALSUITE_CACHE", str(figure_cache))
        yield
