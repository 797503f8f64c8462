"""What a method costs, what it changes, and which one to take home."""
