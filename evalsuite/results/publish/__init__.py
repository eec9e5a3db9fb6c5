"""What is handed to others: an evaluation and its logs without secrets."""
