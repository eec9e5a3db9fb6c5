"""Beside the folders of the same name that CUDA's own wheels bring."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
