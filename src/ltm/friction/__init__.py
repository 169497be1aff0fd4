"""Sessions → what went wrong in them: signals, scores, antigens, and evidence for preferences."""
