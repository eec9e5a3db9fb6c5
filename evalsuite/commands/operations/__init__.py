"""What an evaluation tells those who operate it: CI services, monitors, a page of what goes on, hooks, room."""
