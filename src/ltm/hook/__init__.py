"""The program that clients run for each event."""
