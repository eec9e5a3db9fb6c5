"""What one changed option does."""
