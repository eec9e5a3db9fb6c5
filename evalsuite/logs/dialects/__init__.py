"""The log dialects of the house: one module for each family of training scripts, each with DIALECTS."""
