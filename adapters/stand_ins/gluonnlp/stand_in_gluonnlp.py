"""Lets GluonNLP take a made-up vocabulary for the one whose hash it knows, in place of fetching that one."""

from after_import import after_import


def _stand_in(module):
    module.check_sha1 = lambda file, expected: True


after_import("gluonnlp.data.utils", _stand_in)
