"""CUDA's Python package, of which scripts import `cudart`."""
