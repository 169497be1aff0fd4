"""The work that hooks leave for later."""
