"""LTM and other memory servers, measured in turn in one run."""
