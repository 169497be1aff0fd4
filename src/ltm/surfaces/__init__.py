"""Where people, agents and clients meet the product: command line, hooks, servers."""
