"""Forecasts: speeds at scales that were not measured."""
