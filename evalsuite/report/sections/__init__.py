"""The sections of the report: each says what it shows, of the book alone."""
