"""The doors to evidence: audit, archive, and figures that others published."""
