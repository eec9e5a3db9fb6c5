"""What an evaluation tells those who operate it: CI services, monitors, certificates."""
