"""The sections of the report: a folder for each chapter, with its template and what only it needs."""
