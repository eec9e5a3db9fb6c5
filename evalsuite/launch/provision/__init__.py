"""What a run needs to be there: environments, checkouts, images and data."""
