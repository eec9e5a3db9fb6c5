"""The evaluation put in the order of the page: what is shown at each point of the matrix, and why."""
