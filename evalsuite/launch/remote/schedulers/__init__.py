"""One module a scheduler: nodes, time left, jobs and how one is submitted."""
