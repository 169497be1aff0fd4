"""Memories of teams in PostgreSQL: schema, people, store and the server's side of sync.

Nothing else of LTM imports it before a database is asked for, since few have its driver.
"""

from ltm.errors import NotFound
from ltm.project.installation import adding

DRIVER = "'psycopg[binary,pool]'"

try:
    import psycopg  # noqa: F401
    import psycopg_pool  # noqa: F401
except ImportError as error:
    raise NotFound(
        f"memories in PostgreSQL need more packages: {error}",
        hint=f"install them: {adding([DRIVER])}",
    ) from error
