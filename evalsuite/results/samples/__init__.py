"""The samples of a run → utilisation, health and energy of its devices, and the clocks of its hosts."""
