"""The evaluation put in the order of the page: what stands at each point of the matrix, and why."""
