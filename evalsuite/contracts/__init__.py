"""What the author of an adapter or of a dialect writes against."""
