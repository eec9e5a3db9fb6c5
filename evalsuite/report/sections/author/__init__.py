"""Chapters and sections that the author of an evaluation wrote, with numbers computed for them."""
