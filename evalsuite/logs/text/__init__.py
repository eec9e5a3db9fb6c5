"""From a file to records: bytes, lines, and what each line of a dialect says."""
