"""The person's own machines: memories kept in a private git repository of theirs."""
