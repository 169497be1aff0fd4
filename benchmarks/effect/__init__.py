"""Does memory help? Scripted agents work through development sessions with and without LTM."""
