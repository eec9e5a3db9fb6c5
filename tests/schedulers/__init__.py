"""What each scheduler sets and prints, a module for each; `tests/unit/test_schedulers.py` asks for them."""
