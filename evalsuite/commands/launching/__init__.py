"""What the launching commands share: the request, its price, adaptive repeats and the search for batches."""
