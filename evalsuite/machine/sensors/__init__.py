"""The one door to the sensors of this machine: a module for each thing that is read, a file for each vendor.

What a sensor cannot say is None. How to write one for another vendor: docs/adding-a-sensor.md.
"""
