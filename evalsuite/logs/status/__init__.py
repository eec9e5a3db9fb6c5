"""What a reading is worth: its status with the reason, and how sure its throughput is."""
