"""Everything a person can do on the page, in a real browser, with scripts and without.

Every act is taken back by its button, and what the files say is looked at after both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ltm.capture.remember import RememberRequest, remember
from ltm.decisions import Reduce
from ltm.model import Filter, Phase, Status, now
from ltm.state.candidates import Candidates
from ltm.store.revision import changes_of, revise
from ltm.upkeep import plan
from ltm.vault import codec
from ltm.web.app import ACTS
from tests.stores import make
from tests.web.conftest import entered, unfold
from tests.web.scene import FIRST, SECOND, Scene, Served, active, build, served


@dataclass
class Person:
    """Somebody at the page."""

    tab: Page
    site: Served
    scene: Scene

    def open(self, path: str) -> None:
        """Go to a page, and open all that can be unfolded."""
        self.tab.goto(self.site.address + path)
        unfold(self.tab)

    def press(self, name: str | re.Pattern[str], within: Locator | None = None) -> None:
        """Press the first button of a name, and wait for the page that answers."""
        button = (within or self.tab).get_by_role("button", name=name, exact=True)
        self.follow(button.first)

    def follow(self, link: Locator) -> None:
        """Click what leads to another page, and wait for that: to what htmx notes in the history of
        a page, `expect_navigation` would answer too."""
        with self.tab.expect_event("domcontentloaded"):
            link.click()

    def told(self, words: str | re.Pattern[str]) -> None:
        """What the page says that was done."""
        expect(self.tab.locator(".banner")).to_contain_text(words)

    def undo(self) -> None:
        """Take back what was just done."""
        self.press("Undo")
        self.told("Undone")

    def memory(self, name: str) -> Any:
        """A memory as it is on the disk."""
        return self.scene.read(name)


@pytest.fixture
def person(tab: Page, site: Served, scene: Scene) -> Person:
    return Person(tab, site, scene)


def same(before: Any, after: Any) -> bool:
    """Whether a memory says the same as it did, whatever happened in between."""
    fields = ("title", "content", "kind", "impact", "tags", "pinned", "status", "reason", "state")
    links = ("superseded_by", "conflicts", "merged_from", "confidence", "observations")
    return all(getattr(before, name) == getattr(after, name) for name in (*fields, *links))


DONE: set[str] = set()
"""The acts that the tests below did."""


def act(path: str) -> Callable[[Any], Any]:
    """Note that a test does an act."""
    DONE.add(path)
    return lambda function: function


@act("/m/{name}/edit")
@act("/undo")
def test_a_wrong_memory_is_found_corrected_and_undone_in_three_clicks(person: Person) -> None:
    before = person.memory("decision")
    person.tab.get_by_label("Search memories and sessions").fill("PostgreSQL orders")
    with person.tab.expect_event("domcontentloaded"):
        person.tab.keyboard.press("Enter")
    person.follow(person.tab.get_by_role("link", name=re.compile("Edit We chose PostgreSQL")))
    person.tab.locator("#edit-text").fill(
        "We chose MariaDB over SQLite for orders, because several workers write"
    )
    person.press("Save")
    person.told("Changed")
    assert person.memory("decision").content.startswith("We chose MariaDB")
    assert person.memory("decision").title.startswith("We chose MariaDB")
    person.undo()
    assert same(before, person.memory("decision"))


def test_an_edit_of_something_changed_meanwhile_shows_both_texts(person: Person) -> None:
    before = person.memory("pattern")
    person.open(f"/m/{before.id}")
    with person.scene.open() as project:
        stored = project.store.read(before.id)
        given = {"content": "Feature flags live in src/toggles.py"}
        revise(project.store, stored, changes_of(stored.memory, given, project.store.kinds))
    person.tab.locator("#edit-text").fill("Feature flags live in src/switches.py")
    person.press("Save")
    expect(person.tab.locator("h1")).to_have_text("It was changed elsewhere meanwhile")
    for card, text, other in ((0, "src/toggles.py", "switches"), (1, "src/switches.py", "toggles")):
        expect(person.tab.locator("main .two .card").nth(card)).to_contain_text(text)
        expect(person.tab.locator("main .two .card").nth(card)).not_to_contain_text(other)
    assert "toggles" in person.memory("pattern").content
    person.press("Save")
    assert "switches" in person.memory("pattern").content
    assert "switches" in person.memory("pattern").title  # nobody gave it another one
    person.undo()
    assert "toggles" in person.memory("pattern").content
    with person.scene.open() as project:
        revise(project.store, project.store.read(before.id), {"content": before.content})


@pytest.mark.parametrize(
    ("name", "path", "button"),
    [
        ("waits", "/review", re.compile("^Keep.*Deploys are approved")),
        ("waits", "/review", re.compile("^Keep all 3")),
        ("waits", "/find?status=quarantined", "Approve"),
    ],
)
def test_what_was_changed_since_it_was_shown_is_not_approved(
    person: Person, name: str, path: str, button: str | re.Pattern[str]
) -> None:
    before = person.memory(name)
    person.open(path)
    if button == "Approve":
        person.tab.get_by_label(f"Select {before.title}").check()
    with person.scene.open() as project:
        other = f"{before.content} by mail"
        revise(project.store, project.store.read(before.id), {"content": other})
    person.press(button)
    expect(person.tab.get_by_role("alert")).to_contain_text("was changed elsewhere meanwhile")
    assert person.memory(name).status is Status.QUARANTINED
    with person.scene.open() as project:
        revise(project.store, project.store.read(before.id), {"content": before.content})


@act("/m/{name}/pin")
@act("/m/{name}/unpin")
@act("/m/{name}/promote")
@act("/m/{name}/forget")
@pytest.mark.parametrize(
    ("name", "button", "changed"),
    [
        ("architecture", "Pin", {"pinned": True}),
        ("port", "Unpin", {"pinned": False}),
        ("pattern", "Promote to high", {"impact": "high"}),
        ("issue", "Forget", {"status": Status.FORGOTTEN}),
    ],
)
def test_one_press_changes_a_memory_and_one_takes_it_back(
    person: Person, name: str, button: str, changed: dict[str, object]
) -> None:
    before = person.memory(name)
    person.open(f"/m/{before.id}")
    person.press(button)
    after = person.memory(name)
    assert {field: getattr(after, field) for field in changed} == changed
    person.undo()
    assert same(before, person.memory(name))


def test_the_first_page_pins_and_forgets_too(person: Person) -> None:
    before = person.memory("architecture")
    for button, field in (("Pin", "pinned"), ("Forget", "status")):
        person.open("/")
        person.press(f"{button} {before.title}")
        assert getattr(person.memory("architecture"), field) != getattr(before, field)
        assert person.tab.url.startswith(f"{person.site.address}/?done=")
        # It leads back to the line or the next one, and what undoes it is in sight there.
        expect(person.tab.locator(f"#{person.tab.url.partition('#')[2]}")).to_be_in_viewport()
        expect(person.tab.get_by_role("button", name="Undo")).to_be_in_viewport()
        person.undo()
        assert same(before, person.memory("architecture"))


def test_a_change_can_be_undone_from_another_page_but_not_from_another_project(
    person: Person,
) -> None:
    before = person.memory("architecture")
    person.open(f"/m/{before.id}")
    person.press("Pin")
    person.follow(person.tab.get_by_role("navigation").get_by_role("link", name="Time"))
    person.follow(person.tab.get_by_role("link", name=re.compile("recent change")))
    person.tab.locator("summary", has_text="shop").click()
    person.follow(person.tab.get_by_role("link", name="site", exact=True))
    expect(person.tab.get_by_role("link", name=re.compile("recent change"))).to_have_count(0)
    person.open("/changes")
    entry = person.tab.locator("main li", has_text="Pinned “Orders pass").first
    person.press(re.compile("^Undo"), entry)
    person.told("Undone")
    assert same(before, person.memory("architecture"))


def test_after_ten_minutes_the_history_undoes(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm.web.site.UNDO", -1.0)
    before = person.memory("decision 3")
    person.open(f"/m/{before.id}")
    person.tab.locator("#edit-text").fill("The API speaks XML only")
    person.press("Save")
    person.told("Changed")
    expect(person.tab.get_by_role("button", name="Undo")).to_have_count(0)
    person.press(re.compile("Go back to this"))
    assert same(before, person.memory("decision 3"))


def test_a_memory_is_used_in_all_projects(person: Person) -> None:
    before = person.memory("pattern")
    person.open(f"/m/{before.id}")
    person.tab.get_by_label("Used in").select_option("all my projects")
    person.press("Save")
    person.told("Changed")
    expect(person.tab.locator("main .chips").first).to_contain_text("all projects")
    assert person.memory("pattern").status is Status.SUPERSEDED
    person.undo()
    assert same(before, person.memory("pattern"))


@act("/m/{name}/restore")
def test_what_was_forgotten_and_any_version_come_back(person: Person) -> None:
    person.open(f"/m/{person.scene.ids['gone']}")
    person.press("Bring it back")
    assert person.memory("gone").status is Status.ACTIVE
    assert "closed on Fridays" in person.memory("gone").content
    person.undo()
    assert person.memory("gone").status is Status.FORGOTTEN
    now = person.memory("gotcha")
    person.open(f"/m/{now.id}")
    person.press(re.compile("Go back to this"))
    assert "ahead of the host" in person.memory("gotcha").content
    person.undo()
    assert same(now, person.memory("gotcha"))


def test_a_shortened_memory_gets_its_whole_text_back(person: Person) -> None:
    said = "The importer read the whole file at once.\n\nIt now writes every article by itself."
    with person.scene.open() as project:
        made = remember(project.store, RememberRequest(said, kind="fact", apart=True))
        person.scene.ids["short"] = made.applied.stored.memory.id
        project.store.apply(Reduce(person.scene.ids["short"], Phase.ARCHIVED))
    short = person.memory("short")
    assert short.text != said
    person.open("/")
    person.follow(person.tab.get_by_role("link", name="Archived memories"))
    person.follow(person.tab.get_by_role("link", name=re.compile("^The importer read")).first)
    person.press("Bring back the whole text")
    assert person.memory("short").text == said
    person.undo()
    assert person.memory("short").text == short.text
    assert person.memory("short").phase is Phase.ARCHIVED
    person.press("Forget")


@act("/m/{name}/purge")
def test_erasing_takes_the_title_and_leaves_no_byte(person: Person) -> None:
    with person.scene.open() as project:
        wish = RememberRequest("The key of the cupboard is under zanzibar", kind="fact")
        made = remember(project.store, wish).applied.stored
    person.open(f"/m/{made.memory.id}")
    person.press("Pin")
    person.open(f"/m/{made.memory.id}")
    person.press("Erase for good")
    expect(person.tab.get_by_role("alert")).to_contain_text("not the title")
    person.follow(person.tab.get_by_role("link", name="Back", exact=True))
    person.open(f"/m/{made.memory.id}")
    person.tab.get_by_label(re.compile("Type its title")).fill(made.memory.title)
    person.press("Erase for good")
    person.told("for good")
    assert not person.tab.get_by_role("button", name="Undo").count()
    person.open("/changes")
    assert "zanzibar" not in person.tab.content()
    home = person.scene.home / ".ltm"
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if b"zanzibar" in path.read_bytes()]


@act("/m/{name}/approve")
def test_what_waits_is_approved(person: Person) -> None:
    before = person.memory("waits")
    person.open(f"/m/{before.id}")
    person.press("Approve")
    assert person.memory("waits").status is Status.ACTIVE
    person.undo()
    assert same(before, person.memory("waits"))


@act("/m/{name}/merge")
def test_two_memories_become_one(person: Person) -> None:
    with person.scene.open() as project:
        texts = ("Backups run at 02:00", "Backups run at night and are kept for 30 days")
        made = [
            remember(project.store, RememberRequest(text, kind="fact", apart=True))
            for text in texts
        ]
    into, other = (each.applied.stored.memory for each in made)
    person.scene.ids |= {"into": into.id, "other": other.id}
    into, other = person.memory("into"), person.memory("other")
    person.open(f"/m/{into.id}")
    person.tab.get_by_label("The other one").select_option(value=other.id)
    person.press("Compare both")
    expect(person.tab.get_by_label("The text for both")).to_have_value(
        f"{into.content}\n\n{other.content}"
    )
    with person.scene.open() as project:
        stored = project.store.read(other.id)
        revise(project.store, stored, {"content": "Backups run at night, are kept for 30 days"})
    person.press("Merge")
    expect(person.tab.get_by_role("alert")).to_contain_text("was changed elsewhere meanwhile")
    other = person.memory("other")
    person.open(f"/m/{into.id}?with={other.id}")
    both = "Backups run at 02:00 and are kept for 30 days"
    person.tab.get_by_label("The text for both").fill(both)
    person.press("Merge")
    assert person.memory("into").content == both
    assert person.memory("other").superseded_by == into.id
    expect(person.tab.locator("main")).to_contain_text("This replaced")
    person.undo()
    assert same(into, person.memory("into"))
    assert same(other, person.memory("other"))
    for name in ("into", "other"):
        person.open(f"/m/{person.scene.ids[name]}")
        person.press("Forget")


@act("/m/{name}/settle")
@pytest.mark.parametrize("button", ["Keep this one", "Keep the other one", "Keep both"])
def test_a_conflict_is_settled_side_by_side(person: Person, button: str) -> None:
    old, new = person.memory("old"), person.memory("new")
    person.open(f"/m/{old.id}")
    person.press(button)
    gone = {"Keep this one": "new", "Keep the other one": "old"}.get(button)
    for name in ("old", "new"):
        wanted = Status.SUPERSEDED if name == gone else Status.ACTIVE
        assert person.memory(name).status is wanted, name
    person.undo()
    assert same(old, person.memory("old"))
    assert same(new, person.memory("new"))


@act("/find/remember")
def test_what_is_typed_is_remembered_and_what_is_wrong_with_it_is_said(person: Person) -> None:
    before = active(person.scene)
    person.open("/find")
    person.tab.get_by_label("What is to be remembered").fill("Invoices are numbered per year")
    person.press("Remember")
    person.told("Remembered: “Invoices are numbered per year”")
    expect(person.tab.locator("h1")).to_have_text("Invoices are numbered per year")
    assert sorted(active(person.scene)) == sorted([*before, "Invoices are numbered per year"])
    person.undo()
    assert active(person.scene) == before
    person.open("/find")
    person.press("Remember")
    expect(person.tab.get_by_role("alert")).to_contain_text("nothing to remember")


@act("/find/selected")
@pytest.mark.parametrize("button", ["Pin", "Forget", "Add tag"])
def test_several_are_changed_at_once(person: Person, button: str) -> None:
    names = ("preference", "preference 1")
    before = {name: person.memory(name) for name in names}
    person.open("/find?kind=preference")
    for each in before.values():
        person.tab.get_by_label(f"Select {each.title}").check()
    person.tab.get_by_label("Tag to add").fill("house")
    person.press(button)
    person.told("2 memories")
    assert not any(same(each, person.memory(name)) for name, each in before.items())
    person.undo()
    assert all(same(each, person.memory(name)) for name, each in before.items())


@act("/review/decide")
def test_statements_of_sessions_are_kept_and_dropped(person: Person) -> None:
    before = active(person.scene)
    for button, text, gained in (("Keep", "Prices are integers", 1), ("Drop", "The worker is", 0)):
        person.open("/review")
        item = person.tab.locator("li", has_text=text)
        person.press(re.compile(f"^{button}"), item)
        person.told("Kept" if gained else "Dropped")
        assert len(active(person.scene)) == len(before) + gained
        assert not person.tab.locator("li[data-item]", has_text=text).count()
        person.undo()
        assert active(person.scene) == before
        expect(person.tab.locator("li[data-item]", has_text=text)).to_have_count(1)


def test_all_of_a_session_are_decided_at_once(person: Person) -> None:
    person.open("/review")
    person.press(re.compile("^Drop all 3"))
    person.told("Dropped 3 statements")
    assert person.memory("waits").status is Status.FORGOTTEN
    expect(person.tab.locator("li[data-item]")).to_have_count(1)
    person.undo()
    assert person.memory("waits").status is Status.QUARANTINED
    expect(person.tab.locator("li[data-item]")).to_have_count(4)


def test_a_team_is_chosen_and_its_memories_change_with_the_rights_of_a_person(
    person: Person,
) -> None:
    said, gateway = "We deploy on Tuesdays", "The gateway times out after 30 s"
    for team, may in (("acme", 1), ("guild", 0)):
        person.open("/")
        person.tab.locator("summary", has_text="shop").click()
        person.follow(person.tab.get_by_role("link", name=team, exact=True))
        expect(person.tab.locator("main")).to_contain_text(said)
        expect(person.tab.locator("main")).not_to_contain_text("Payments run on port 7431")
        expect(person.tab.get_by_role("button", name="Forget")).to_have_count(may)
        for name in (f"{team} decision", f"{team} waits"):
            person.follow(person.tab.get_by_role("link", name=re.compile("^Review")))
            expect(person.tab.locator("main li", has_text=gateway)).to_have_count(1)
            expect(person.tab.get_by_role("button", name=re.compile("^Keep"))).to_have_count(may)
            before, unsent = person.scene.of_team(name)
            person.open(f"/m/{before.id}?team={team}")
            buttons = person.tab.locator("main form")
            if not may:
                expect(buttons).to_have_count(0)
                continue
            person.press("Approve" if name.endswith("waits") else "Pin")
            after, sent_later = person.scene.of_team(name)
            assert not same(before, after)
            assert sent_later > unsent
            person.undo()
            assert same(before, person.scene.of_team(name)[0])
            assert f"team={team}" in person.tab.url


def test_a_memory_of_a_team_leads_to_the_team_and_no_page_of_a_project_is_shown_there(
    person: Person,
) -> None:
    person.open("/find?q=deploy+on+Tuesdays")
    person.follow(person.tab.get_by_role("link", name=re.compile("^We deploy on Tuesdays")))
    assert "team=acme" in person.tab.url
    person.open(f"/m/{person.scene.ids['acme decision']}")
    expect(person.tab.get_by_text("This is a memory of the team acme")).to_be_visible()
    person.open("/settings?team=acme")
    expect(person.tab.get_by_role("alert")).to_contain_text("about a project")


@act("/teams/{name}/trust")
@act("/teams/{name}/dismiss")
@act("/teams/{name}/sync")
def test_a_team_is_trusted_asked_and_what_its_server_refused_put_aside(person: Person) -> None:
    person.open("/teams")
    card = person.tab.locator("section", has_text="guild")
    for button, told in (
        ("Trust its memories", "are found, and told"),
        ("Put these aside", "1 refused change"),
    ):
        person.press(button, card)
        person.told(told)
        expect(card.get_by_role("button", name=button)).to_have_count(0)
        person.undo()
        expect(card.get_by_role("button", name=button)).to_have_count(1)
    person.press("Send and receive now", card)
    _finished(person)
    expect(person.tab.locator("#work")).to_contain_text("cannot be reached")


@act("/settings/set")
def test_an_option_is_set_and_goes_back(person: Person) -> None:
    person.open("/settings")
    person.tab.get_by_label("recall.limit", exact=True).fill("25")
    person.press("Set recall.limit")
    person.told("recall.limit is 25 now")
    expect(person.tab.get_by_label("recall.limit", exact=True)).to_have_value("25")
    person.press("Default for recall.limit")
    person.told("back at its default")
    person.undo()
    expect(person.tab.get_by_label("recall.limit", exact=True)).to_have_value("25")
    person.press("Default for recall.limit")
    person.tab.get_by_label("recall.limit", exact=True).fill("many")
    person.press("Set recall.limit")
    expect(person.tab.get_by_role("alert")).to_contain_text("recall.limit cannot be 'many'")
    assert not person.tab.get_by_label("llm.base_url").count()


@act("/friction/read")
@act("/friction/{name}")
def test_friction_is_read_and_a_correction_becomes_a_memory(person: Person) -> None:
    person.open("/friction")
    person.press(re.compile("^Read the sessions"))
    _finished(person)
    expect(person.tab.locator("main")).to_contain_text("sessions read")
    person.follow(person.tab.get_by_role("link", name="Look at the result"))
    expect(person.tab.get_by_role("heading", name="Trend per week")).to_be_visible()
    before = active(person.scene)
    person.press(re.compile("^Make it a memory"))
    person.told("Sessions are told")
    person.undo()
    assert active(person.scene) == before
    person.open("/friction")
    person.press(re.compile("^Never"))
    expect(person.tab.get_by_text("never told")).to_be_visible()
    person.undo()
    expect(person.tab.get_by_role("button", name=re.compile("^Make it a memory"))).to_be_visible()


@act("/import/sessions")
@act("/import/path")
@act("/review/stashes")
def test_long_work_says_how_far_it_is(person: Person, request: pytest.FixtureRequest) -> None:
    person.open("/import")
    person.press("Read them all")
    _finished(person)
    expect(person.tab.locator("#work")).to_contain_text("Read 2 sessions")
    person.open("/import")
    person.tab.get_by_label("Path on this machine").fill(str(person.scene.home / "nothing.json"))
    person.press("Import")
    _finished(person)
    expect(person.tab.locator("#work")).to_contain_text("nothing.json")
    # What was imported from a file is known: another file for each.
    name, words = "lamp", "The lamp in the hall is green"
    if "without" in request.node.name:
        name, words = "park", "Visitors park behind the mill"
    source = person.scene.home / f"{name}.md"
    source.write_text(f"# Of the {name}\n\n- {words}\n")
    before = active(person.scene)
    person.open("/import")
    person.tab.get_by_label("Path on this machine").fill(str(source))
    person.press("Import")
    _finished(person)
    expect(person.tab.locator("#work")).to_contain_text("Would import")
    person.press("Import it now")
    _finished(person)
    expect(person.tab.locator("#work")).to_contain_text(re.compile("Imported from .*: 1 added"))
    assert len(active(person.scene)) == len(before) + 1
    with person.scene.open() as project:
        waiting = len(Candidates(project.places.private).waiting())
    person.open("/review")
    if person.tab.get_by_role("button", name="Make memories of them").count():
        person.press("Make memories of them")
        _finished(person)
        expect(person.tab.locator("#work")).to_contain_text("read")
    assert waiting == 3


def _finished(person: Person) -> None:
    """Wait for work that is under way: the page renews itself with scripts; without, by itself."""
    assert "/work/" in person.tab.url
    over = person.tab.locator("#work :is(strong, .note.ill)")
    expect(over).to_be_attached(timeout=120_000)


# -- a repository that brings memories, and a mass that waits --------------------------------------


@pytest.fixture
def brought(browser: Browser, tmp_path: Path) -> Iterator[list[Person]]:
    """A person whose repository came with memories, with scripts and without."""
    scene = build(tmp_path)
    folder = scene.project / ".claude" / "ltm" / "memories"
    folder.mkdir(parents=True)
    (folder.parent / "config.toml").write_text("")
    theirs = make("Releases are cut on Thursdays", "Releases are cut on Thursdays")
    (folder / codec.file_name(theirs)).write_bytes(codec.to_bytes(theirs))
    with served(scene) as site:
        contexts = [browser.new_context(java_script_enabled=each) for each in (True, False)]
        yield [Person(entered(each, site), site, scene) for each in contexts]
        for each in contexts:
            each.close()


def hold_back(scene: Scene, first: int) -> None:
    """Have forty memories that are out of date, which upkeep leaves alone."""
    (private,) = (scene.home / ".ltm" / "projects").glob("shop-*/memories")
    for number in range(first, first + 40):
        text = f"amber{number} basil{number} cedar{number} delta{number}"
        old = make(text, text, kind="issue", state="resolved")
        (private / codec.file_name(old)).write_bytes(codec.to_bytes(old))
    with scene.open() as project:
        outcome = plan.run(project.store, now=now(), limits=plan.limits_of(project.config))
        plan.note_masses_in(project.places, plan.UPKEEP, outcome.held)
        assert outcome.held


@act("/review/trust")
@act("/review/consent")
@act("/s/{name}/purge")
def test_what_a_repository_brings_what_was_held_back_and_a_session_are_decided(
    brought: list[Person],
) -> None:
    theirs, scene = "Releases are cut on Thursdays", brought[0].scene

    def archived() -> int:
        with scene.open() as project:
            return project.store.list(Filter(phases=(Phase.ARCHIVED,))).total

    for number, (person, session) in enumerate(zip(brought, (FIRST, SECOND), strict=True)):
        assert theirs not in active(scene)
        person.open("/review")
        person.press("Trust them")
        assert theirs in active(scene)
        person.undo()
        assert theirs not in active(scene)

        hold_back(scene, 40 * number)
        person.open("/review")
        expect(person.tab.get_by_text("resolved more than 14 days ago")).to_have_count(40)
        person.press("Let it happen")
        person.told("that waited for your consent")
        assert archived() == 40
        expect(person.tab.get_by_role("button", name="Let it happen")).to_have_count(0)
        person.undo()
        assert archived() == 0

        person.open(f"/s/{session}")
        title = person.tab.locator("h1").inner_text()
        person.press("Erase for good")
        expect(person.tab.get_by_role("alert")).to_contain_text("nothing was erased")
        person.open(f"/s/{session}")
        person.tab.get_by_label(re.compile("Type the first 8 characters")).fill(session[:8])
        person.press("Erase for good")
        person.told("Erased")
        assert "/time" in person.tab.url
        expect(person.tab.get_by_role("link", name=title)).to_have_count(0)


def test_every_act_is_done_in_a_test() -> None:
    assert set(ACTS) == DONE


def test_a_selection_of_nothing_says_so(person: Person) -> None:
    person.open("/find")
    person.press("Pin")
    expect(person.tab.get_by_role("alert")).to_contain_text("no memory is selected")
