"""The data rules: what makes a number doubtful, and how grave that is."""
