"""Sensors: a module for each thing that is read. What one cannot say is None. See docs/adding-a-framework.md."""
