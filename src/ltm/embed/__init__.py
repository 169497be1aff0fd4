"""Texts as directions: what says the same in other words lies near. Optional, and offline."""
