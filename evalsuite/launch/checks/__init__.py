"""What is looked at before and between runs: nodes, network, disk, time left, drift, and the doctor."""
