"""The built-in log dialects: one module for each family of training scripts, each with DIALECTS."""
