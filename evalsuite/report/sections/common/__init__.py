"""What several chapters share: the shape of a section, Markdown, figures and their titles."""
