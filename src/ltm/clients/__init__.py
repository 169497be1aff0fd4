"""The clients LTM serves: their settings, hooks and events."""
