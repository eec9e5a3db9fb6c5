"""Use of the devices: utilisation, memory, power and energy."""
