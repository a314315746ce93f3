"""What can be looked at: boards and solutions drawn, solutions played in the terminal, and what notebooks show."""
