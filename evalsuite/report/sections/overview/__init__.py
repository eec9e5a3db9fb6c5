"""All models side by side."""
