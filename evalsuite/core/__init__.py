"""The nouns of the house and the means that every room may use."""
