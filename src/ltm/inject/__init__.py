"""Injection: what the next session is told, and the files that tell it to agents without hooks.

`select` picks under a budget, `render` writes, `compose` does both for a store; `views` and `block`
write Markdown for people and agents, `markers` puts it into a file that others own,
`publish` does so on the disk. Nothing here counts as a use of a memory. Imports core, and from
storage the port and the durable write; the standard library otherwise, because hooks run it.
"""
