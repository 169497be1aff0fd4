"""A small team in a real database."""

from __future__ import annotations

from ltm_server.postgres.database import Database, Person
from ltm_server.postgres.people import ROLES, People, TeamProject
from ltm_server.postgres.store import PostgresStore
from tests.postgres.cluster import Cluster


class Team:
    """A tenant with a project, and a person of each role in it."""

    def __init__(self, cluster: Cluster, name: str, tenant: str = "acme") -> None:
        self.cluster = cluster
        self.name = name
        self.database = Database(cluster.url(name), most=40)
        self.operator = People(self.database)
        self.tenant = self.operator.create_tenant(tenant)
        self.project = self.add_project("shop")
        self.people: dict[str, Person] = {}
        for role in ROLES:
            person = self.add_person(f"{tenant}-{role}")
            self.operator.set_role(self.project, person.id, role)
            self.people[role] = person

    def add_project(self, slug: str) -> TeamProject:
        return self.operator.create_project(self.tenant, slug)

    def add_person(self, name: str) -> Person:
        return self.operator.add_person(self.tenant, name)

    def store(self, role: str = "owner", project: TeamProject | None = None) -> PostgresStore:
        return PostgresStore(self.database, self.people[role], project or self.project)

    def close(self) -> None:
        self.database.close()
