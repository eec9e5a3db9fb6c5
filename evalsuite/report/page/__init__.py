"""The page: sections in their order, filled into templates."""
