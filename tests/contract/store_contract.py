"""What every store must do, whatever keeps the memories. A backend's test module adds a fixture.

A backend proves itself with about twenty lines: subclass `StoreContract`, give a `reopen` fixture
that returns a fresh store each time it is called, all of them on the same data.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from ltm.decisions import (
    DISPUTED,
    Add,
    Adopt,
    Contradict,
    Copy,
    Forget,
    Merge,
    Purge,
    Reduce,
    Reinforce,
    Restore,
    Revise,
    Settle,
    Supersede,
)
from ltm.errors import Ambiguous, Conflict, NotFound, Refused
from ltm.model import Filter, Impact, Phase, Scope, Source, Status, Trust, new_id
from ltm.store.store import Store
from tests.stores import START, make

Open = Callable[[], Store]
ANY_STATUS = Filter(statuses=tuple(Status))


class StoreContract:
    """Sentences about a store's behaviour."""

    def test_a_created_memory_reads_back_equal_in_another_store(self, reopen: Open) -> None:
        memory = make(
            "Retries back off",
            "We retry 3 times.\n\n## Content\n\nwith “jitter” 重试 🎇\n",
            kind="decision",
            tags=("http", "résilience"),
            impact=Impact.CRITICAL,
            pinned=True,
            difficulty=0.25,
            source=Source(Trust.ASSISTANT, "s-1", "10-20", "Bash"),
            reason="the gateway drops 1 %",
            links=("mem_other",),
        )
        reopen().create(memory)
        assert reopen().read(memory.id).memory == memory

    def test_a_created_memory_names_the_previous_one_of_its_kind(self, reopen: Open) -> None:
        store = reopen()
        first = store.create(make("one thing", kind="decision"))
        second = store.create(make("another matter", kind="decision"))
        assert second.memory.previous == first.memory.id
        assert store.create(make("unrelated", kind="gotcha")).memory.previous == ""

    def test_an_id_can_be_used_once(self, reopen: Open) -> None:
        memory = make()
        reopen().create(memory)
        with pytest.raises(Refused, match=memory.id):
            reopen().create(memory)

    def test_short_ids_are_accepted_when_only_one_memory_fits(self, reopen: Open) -> None:
        store = reopen()
        one = store.create(make(id="mem_000aaa111")).memory
        store.create(make("two", id="mem_000bbb222"))
        assert store.read("aaa111").memory == one
        assert store.read("mem_000a").memory == one
        assert store.read("000a").memory == one
        with pytest.raises(Ambiguous, match="mem_000aaa111, mem_000bbb222"):
            store.read("mem_000")
        with pytest.raises(NotFound, match="zzz"):
            store.read("zzz")
        with pytest.raises(NotFound):
            store.read("%")

    def test_an_update_changes_what_it_names_and_counts_a_version(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make(tags=("a",))).memory
        after = store.update(memory.id, {"content": "new words", "tags": ("b",)}).memory
        assert (after.content, after.tags, after.version) == ("new words", ("b",), 2)
        assert after.title == "new words"  # as the former title was made from the former text
        assert after.impact is memory.impact
        assert reopen().read(memory.id).memory == after

    def test_the_former_text_is_kept_as_a_version(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make(content="first wording")).memory
        store.update(memory.id, {"content": "second wording"})
        store.update(memory.id, {"content": "third wording"})
        kept = reopen().versions(memory.id)
        assert [(each.version, each.memory.content) for each in kept] == [
            (1, "first wording"),
            (2, "second wording"),
        ]
        restored = store.apply(Restore(memory.id, version=1)).stored.memory
        assert restored.content == "first wording"
        with pytest.raises(NotFound, match="no kept version 9"):
            store.apply(Restore(memory.id, version=9))

    def test_memories_can_be_asked_for_by_their_ids(self, reopen: Open) -> None:
        store = reopen()
        one, two, _ = (store.create(make(title)).memory for title in ("one", "two", "three"))
        wanted = Filter(ids=(one.id, two.id, "mem_nobody"))
        assert {each.memory for each in store.list(wanted).items} == {one, two}
        assert store.list(wanted).total == 2
        assert store.list(Filter(ids=())).items == ()

    def test_critical_and_pinned_memories_can_be_asked_for(self, reopen: Open) -> None:
        store = reopen()
        critical = store.create(make("one", impact=Impact.CRITICAL)).memory
        pinned = store.create(make("two", pinned=True)).memory
        store.create(
            make("three", 'It says {"pinned":true,"impact":"critical"}.', tags=("pinned",))
        )
        assert {each.memory for each in store.list(Filter(spared=True)).items} == {critical, pinned}

    def test_a_row_of_changes_sees_what_it_and_other_stores_did(self, reopen: Open) -> None:
        one, two = reopen(), reopen()
        first = one.create(make("first")).memory
        with one.in_a_row():
            assert one.list(Filter()).total == 1
            second = one.create(make("second")).memory
            one.update(first.id, {"content": "new words"})
            third = two.create(make("third")).memory
            two.update(second.id, {"content": "other words"})
            assert one.read(first.id).memory.content == "new words"
            assert one.read(second.id).memory.content == "other words"
            assert one.read(third.id).memory == third
            with pytest.raises(Conflict):
                one.update(second.id, {"content": "mine"}, expected="an older etag")
        assert two.read(first.id).memory.content == "new words"

    def test_only_a_use_after_the_last_change_of_phase_is_a_use_again(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make()).memory
        assert list(store.used_again()) == []
        store.used([memory.id])
        assert list(store.used_again()) == [memory.id]
        store.apply(Reduce(memory.id, Phase.ARCHIVED))
        assert list(store.used_again()) == []
        store.used([memory.id])
        assert list(reopen().used_again()) == [memory.id]

    def test_changing_nothing_writes_nothing(self, reopen: Open) -> None:
        store = reopen()
        stored = store.create(make())
        again = store.update(stored.memory.id, {"title": stored.memory.title})
        assert again.etag == stored.etag

    def test_what_a_memory_is_cannot_be_changed(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make()).memory
        for field in ("id", "created", "version", "nonsense"):
            with pytest.raises(Refused, match=field):
                store.update(memory.id, {field: "x"})

    def test_a_change_based_on_an_old_reading_is_refused(self, reopen: Open) -> None:
        one, two = reopen(), reopen()
        stored = one.create(make())
        two.update(stored.memory.id, {"content": "theirs"}, expected=stored.etag)
        for decision in (
            Revise(stored.memory.id, {"content": "mine"}, expected=stored.etag),
            Reinforce(stored.memory.id, expected=stored.etag),
            Forget(stored.memory.id, expected=stored.etag),
            Purge(stored.memory.id, expected=stored.etag),
            Restore(stored.memory.id, expected=stored.etag),
            Supersede((stored.memory.id,), make("newer"), expected=stored.etag),
            Contradict((name := stored.memory.id,), make("otherwise"), {name: stored.etag}),
        ):
            with pytest.raises(Conflict, match=stored.memory.id):
                one.apply(decision)
        assert reopen().read(stored.memory.id).memory.content == "theirs"
        assert reopen().list(ANY_STATUS).total == 1

    def test_what_was_done_is_said_by_its_name(self, reopen: Open) -> None:
        store = reopen()
        added = store.apply(Add(make()))
        memory = added.stored.memory
        revised = store.apply(Revise(memory.id, {"content": "Other words."}))
        reinforced = store.apply(Reinforce(memory.id))
        assert (added.action, revised.action, reinforced.action) == (
            "added",
            "revised",
            "reinforced",
        )

    def test_a_forgotten_memory_is_out_of_sight_and_comes_back_whole(self, reopen: Open) -> None:
        """traps 2.3 #3: forgotten text must not be listed, searched or shown."""
        store = reopen()
        memory = store.create(make("The xylophone is broken", "xylophone facts")).memory
        assert store.apply(Forget(memory.id)).action == "forgotten"
        assert store.list(Filter()).total == 0
        assert store.search("xylophone", Filter(), 10).total == 0
        assert store.read(memory.id).memory.text == ""
        assert store.apply(Forget(memory.id)).stored.memory.status is Status.FORGOTTEN
        back = reopen().apply(Restore(memory.id)).stored.memory
        assert (back.title, back.summary, back.content) == (
            memory.title,
            memory.summary,
            memory.content,
        )
        assert reopen().search("xylophone", Filter(), 10).total == 1

    def test_a_purged_memory_is_gone(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make("secret thing", "hunter2hunter2")).memory
        store.update(memory.id, {"content": "hunter3hunter3"})
        store.used([memory.id])
        store.delete(memory.id, purge=True)
        for each in (store, reopen()):
            with pytest.raises(NotFound):
                each.read(memory.id)
            assert each.list(ANY_STATUS).total == 0
            assert each.search("hunter2hunter2 hunter3hunter3", ANY_STATUS, 5).total == 0
            assert each.usage([memory.id]) == {}

    def test_a_newer_memory_takes_the_place_of_older_ones(self, reopen: Open) -> None:
        store = reopen()
        old = [store.create(make(f"old {n}")).memory.id for n in range(2)]
        applied = store.apply(Supersede(tuple(old), make("new")))
        assert applied.superseded == tuple(old)
        assert applied.stored.memory.supersedes == tuple(old)
        for each in old:
            memory = reopen().read(each).memory
            assert (memory.status, memory.superseded_by) == (
                Status.SUPERSEDED,
                applied.stored.memory.id,
            )
        assert [each.memory.title for each in reopen().list(Filter()).items] == ["new"]
        assert store.apply(Restore(old[0])).stored.memory.status is Status.ACTIVE

    def test_seeing_it_again_confirms_a_memory(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make(confidence=0.4)).memory
        after = store.apply(Reinforce(memory.id)).stored.memory
        assert (after.observations, after.confidence) == (2, 1.0)
        assert after.confirmed > memory.confirmed

    def test_memories_in_conflict_name_each_other_and_are_less_sure(self, reopen: Open) -> None:
        store = reopen()
        one, two = (store.create(make(f"port {n}")).memory.id for n in (1, 2))
        applied = store.apply(Contradict((one, two), make("port 3")))
        new = applied.stored.memory
        assert (applied.action, new.conflicts) == ("contradicted", (one, two))
        found = {each.memory.id: each.memory for each in reopen().list(Filter()).items}
        assert {found[one].conflicts, found[two].conflicts} == {(new.id,)}
        assert {each.confidence for each in found.values()} == {DISPUTED}
        assert store.apply(Reinforce(one)).stored.memory.confidence == DISPUTED
        store.apply(Contradict((two,), found[one]))
        both = [reopen().read(each).memory.conflicts for each in (one, two)]
        assert both == [(new.id, two), (new.id, one)], "also between two that are stored by now"

    def test_a_conflict_ends_when_the_other_side_is_gone(self, reopen: Open) -> None:
        for end in (Forget, Purge, lambda name: Supersede((name,), make("newest"))):
            store = reopen()
            one = store.create(make("port 1")).memory.id
            two = store.apply(Contradict((one,), make("port 2"))).stored.memory.id
            store.apply(end(two))
            left = reopen().read(one).memory
            assert (left.conflicts, left.confidence) == ((), 1.0)

    def test_a_conflict_is_settled_for_one_memory_or_for_all(self, reopen: Open) -> None:
        store = reopen()
        one = store.create(make("port 1")).memory.id
        two = store.apply(Contradict((one,), make("port 2"))).stored.memory.id
        done = store.apply(Settle(two, (one,)))
        assert (done.action, done.superseded) == ("settled", (one,))
        kept, gone = (reopen().read(each).memory for each in (two, one))
        assert (kept.conflicts, kept.confidence, kept.supersedes) == ((), 1.0, (one,))
        assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, two)
        three = store.apply(Contradict((two,), make("port 3"))).stored.memory.id
        assert store.apply(Settle(three, (two,), all_hold=True)).superseded == ()
        both = [reopen().read(each).memory for each in (two, three)]
        assert [each.distinct for each in both] == [(three,), (two,)]
        assert {each.confidence for each in both} == {1.0}
        assert all(each.status is Status.ACTIVE and not each.conflicts for each in both)

    def test_other_words_for_the_same_are_kept_as_a_version(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make("Do not push", "Do not push.", summary="Do not push.")).memory
        said = make("Don't push", "Don't push!", summary="Don't push!")
        for _ in range(2):  # the second time there is nothing new to keep
            after = store.apply(Reinforce(memory.id, wording=said)).stored.memory
        assert (after.text, after.observations, after.version) == (memory.text, 3, 3)
        texts = [each.memory.text for each in reopen().versions(memory.id)]
        assert texts == [said.text]
        back = store.apply(Restore(memory.id, version=2)).stored.memory
        assert back.text == said.text

    def test_what_is_given_with_a_confirmation_is_applied(self, reopen: Open) -> None:
        store = reopen()
        memory = store.create(make()).memory
        changes = {"impact": Impact.HIGH, "pinned": True, "tags": ("x",)}
        after = store.apply(Reinforce(memory.id, changes=changes)).stored.memory
        assert (after.impact, after.pinned, after.tags) == (Impact.HIGH, True, ("x",))
        assert after.observations == 2

    def test_merging_keeps_one_and_marks_the_others(self, reopen: Open) -> None:
        store = reopen()
        one, two, three = (store.create(make(f"number {n}", tags=(str(n),))) for n in range(3))
        ids = (two.memory.id, three.memory.id)
        applied = store.apply(Merge(one.memory.id, ids, "all of it"))
        assert applied.superseded == ids
        kept = reopen().read(one.memory.id).memory
        assert (kept.tags, kept.content, kept.merged_from) == (("0", "1", "2"), "all of it", ids)
        assert [each.memory.id for each in reopen().list(Filter()).items] == [one.memory.id]
        with pytest.raises(Conflict):
            store.apply(Merge(one.memory.id, (), "late", {one.memory.id: one.etag}))

    def test_a_listing_is_newest_first_and_knows_the_whole(self, reopen: Open) -> None:
        """traps 2.1 #10: the total is counted before paging."""
        store = reopen()
        for n in range(7):
            at = START + timedelta(days=n)
            store.create(make(f"day {n}", id=new_id(at), created=at))
        page = store.list(Filter(), limit=3, offset=2)
        assert [each.memory.title for each in page.items] == ["day 4", "day 3", "day 2"]
        assert page.total == 7
        assert store.list(Filter(), limit=3, offset=9) == page._replace(items=())
        assert len(store.list(Filter()).items) == 7

    def test_filters_narrow_listing_and_search_alike(self, reopen: Open) -> None:
        store = reopen()
        store.create(make("alpha decision", kind="decision", tags=("Web", "api")))
        store.create(make("alpha fact", tags=("web",), state="open"))
        store.create(make("alpha agent", scope=Scope.AGENT))
        forgotten = store.create(make("alpha gone")).memory.id
        store.delete(forgotten)
        for wanted, expected in (
            (Filter(), {"alpha decision", "alpha fact", "alpha agent"}),
            (Filter(kinds=("decision",)), {"alpha decision"}),
            (Filter(kinds=("decision", "fact")), {"alpha decision", "alpha fact", "alpha agent"}),
            (Filter(tags=("WEB",)), {"alpha decision", "alpha fact"}),
            (Filter(tags=("web", "api")), {"alpha decision"}),
            (Filter(scopes=(Scope.AGENT,)), {"alpha agent"}),
            (Filter(state="open"), {"alpha fact"}),
            (Filter(state="resolved"), set()),
            (Filter(statuses=(Status.FORGOTTEN,)), {"alpha gone"}),
            (Filter(phases=(Phase.HINT,)), set()),
            (Filter(phases=(Phase.FULL,), kinds=("decision",)), {"alpha decision"}),
        ):
            listed = {each.memory.title for each in store.list(wanted).items}
            found = store.search("alpha", wanted, 10)
            assert listed == expected
            assert {each.stored.memory.title for each in found.items} == expected
            assert found.total == len(expected)

    def test_search_looks_into_the_reason_and_the_state(self, reopen: Open) -> None:
        store = reopen()
        made = store.create(make("One", reason="the walrus said so", state="resolved")).memory
        store.create(make("Two", reason="nothing", state="open"))
        for word in ("walrus", "resolved"):
            found = store.search(word, Filter(), 10).items
            assert [each.stored.memory.id for each in found] == [made.id]
        store.update(made.id, {"reason": "the heron said so"})
        assert store.search("walrus", Filter(), 10).items == ()
        assert [each.stored.memory.id for each in store.search("heron", Filter(), 10).items] == [
            made.id
        ]

    def test_what_names_a_memory_can_be_listed(self, reopen: Open) -> None:
        store = reopen()
        one = store.create(make("one")).memory
        two = store.create(make("two", kind="decision", links=(one.id,))).memory
        store.create(make("three", kind="gotcha"))
        named = store.list(Filter(naming=one.id)).items
        assert [each.memory.id for each in named] == [two.id]

    @pytest.mark.parametrize(
        ("question", "title"),
        [
            ("getUserById", "camel"),
            ("get user by id", "camel"),
            ("user_store.py", "path"),
            ("src/app/user_store.py", "path"),
            ("ERR_MODULE_NOT_FOUND", "code"),
            ("TS2345", "typescript"),
            ("数据库", "cjk"),
            ("running migration", "stem"),
            ("CAFE", "accent"),
        ],
    )
    def test_search_finds_code_paths_errors_and_other_scripts(
        self, reopen: Open, question: str, title: str
    ) -> None:
        store = reopen()
        for name, text in (
            ("camel", "call getUserById before the cache is warm"),
            ("path", "the bug sits in src/app/user_store.py"),
            ("code", "node says ERR_MODULE_NOT_FOUND when the extension is missing"),
            ("typescript", "TS2345 means the argument type is wrong"),
            ("cjk", "我们的数据库每晚备份"),
            ("stem", "migrations run before the server starts"),
            ("accent", "the café printer needs a reset"),
        ):
            store.create(make(name, text))
        best = store.search(question, Filter(), 5).items[0].stored
        assert best.memory.title == title

    @pytest.mark.parametrize(
        "question",
        ["", " ", '"', "'; DROP TABLE memories;--", "a AND OR NOT (", "*", "NEAR(", "\0"],
    )
    def test_any_text_is_a_legal_question(self, reopen: Open, question: str) -> None:
        store = reopen()
        store.create(make())
        assert store.search(question, Filter(), 5).total >= 0

    def test_a_title_weighs_more_than_the_text(self, reopen: Open) -> None:
        store = reopen()
        store.create(make("something else", "it mentions kubernetes once in passing " * 3))
        store.create(make("kubernetes ingress", "rules of the road for the cluster"))
        best = store.search("kubernetes", Filter(), 5).items[0].stored
        assert best.memory.title == "kubernetes ingress"

    def test_uses_are_counted_and_reading_is_not_a_use(self, reopen: Open) -> None:
        """traps 2.1 #8: internal reads never touch usage."""
        store = reopen()
        memory = store.create(make()).memory
        store.read(memory.id)
        store.list(Filter())
        store.search("ruff", Filter(), 5)
        store.update(memory.id, {"tags": ("x",)})
        assert reopen().usage([memory.id]) == {}
        store.used([memory.id])
        reopen().used([memory.id])
        usage = reopen().usage([memory.id, "mem_unknown"])
        assert usage.keys() == {memory.id}
        assert usage[memory.id].uses == 2

    def test_counts_say_what_is_there(self, reopen: Open) -> None:
        store = reopen()
        store.create(make(kind="decision"))
        store.delete(store.create(make("two")).memory.id)
        assert sorted(store.counts()) == [
            ("decision", "project", "active", 0, 1),
            ("fact", "project", "forgotten", 0, 1),
        ]

    def test_adding_through_the_door_is_the_same_as_creating(self, reopen: Open) -> None:
        memory = make()
        assert reopen().apply(Add(memory)).action == "added"
        assert reopen().read(memory.id).memory == memory

    def test_a_walk_over_all_meets_each_once_in_the_order_of_ids(self, reopen: Open) -> None:
        store = reopen()
        made = [
            store.create(make(f"thing {n}", scope=(Scope.PROJECT, Scope.AGENT)[n % 2])).memory.id
            for n in range(7)
        ]
        store.delete(made[3])
        assert [each.memory.id for each in reopen().every(ANY_STATUS)] == sorted(made)
        assert [each.memory.id for each in store.every(Filter())] == sorted(set(made) - {made[3]})
        agents = [each.memory.id for each in store.every(Filter(scopes=(Scope.AGENT,)))]
        assert agents == sorted({made[1], made[5]})

    def test_memories_from_elsewhere_are_taken_as_they_are(self, reopen: Open) -> None:
        reopen().create(make("older one of the kind"))
        full = make("Long story", "first\n\nsecond", version=3, confidence=0.5)
        short = full._replace(content="first", phase=Phase.HINT)
        gone = make("Gone", summary="", content="").id
        tombstone = make("Gone", id=gone, status=Status.FORGOTTEN, scope=Scope.AGENT)
        copies = (Copy(short, (full,)), Copy(tombstone._replace(summary="", content="")))
        assert reopen().apply(Adopt(copies)).action == "adopted"
        assert reopen().read(full.id).memory == short
        assert [each.memory for each in reopen().versions(full.id)] == [full]
        histories = reopen().histories([full.id, gone, "mem_unknown"])
        assert {each: len(kept) for each, kept in histories.items()} == {full.id: 1}
        assert list(histories[full.id]) == list(reopen().versions(full.id))
        assert reopen().read(gone).memory == copies[1].memory
        restored = reopen().apply(Restore(full.id)).stored.memory
        assert restored.content == full.content

    def test_a_copy_takes_the_place_of_the_memory_it_was_compared_with(self, reopen: Open) -> None:
        store = reopen()
        here = store.create(make(content="mine"))
        newer = here.memory._replace(content="theirs", updated=START + timedelta(days=1), version=5)
        with pytest.raises(Refused, match=here.memory.id):
            store.apply(Adopt((Copy(make("new")), Copy(newer))))
        assert store.list(ANY_STATUS).total == 1, "nothing is taken when one is refused"
        with pytest.raises(Conflict, match=here.memory.id):
            store.apply(Adopt((Copy(newer, over="0" * 32),)))
        store.apply(Adopt((Copy(newer, over=here.etag),)))
        assert reopen().read(newer.id).memory == newer
        assert [each.memory.content for each in reopen().versions(newer.id)] == ["mine"]
