"""Every promise, row by row: what is tried, the figure to hit, and the commands that try it.

R rows are about losing nothing, S rows about letting nobody in. A row that cannot be tried says
why: none is missing.
"""

from __future__ import annotations

from benchmarks.soak.row import Row, program, tried

README: dict[str, tuple[str, ...]] = {
    "Offline, no key, no account, no daemon.": ("S4", "R14"),
    "Files are the truth.": ("R8", "R10", "R11"),
    "Merges like code.": ("R9",),
    "Nothing is lost.": ("R1", "R2", "R3", "R4", "R6", "R25", "R26", "R27"),
}
"""What the README promises in bold, and the rows that prove it."""

ROWS: tuple[Row, ...] = (
    Row(
        "R1",
        "killed at each system call of every command that writes",
        "0 acknowledged lost, 0 torn, 0 temporary files after the next look; 150 points in CI,"
        " 1,000 in all",
        quick=(tried("tests/faults/test_kill.py"),),
        full=(program("benchmarks.crashes", "--kills", "50", minutes=20),),
    ),
    Row(
        "R2",
        "commands, hooks, the MCP server and the drain killed at random under load",
        "500 kills: 0 acknowledged lost, 0 duplicates",
        quick=(tried("tests/store/test_processes.py", words="killed"),),
        full=(program("benchmarks.soak.kills", minutes=20),),
    ),
    Row(
        "R3",
        "the power cut while memories, edits, consolidation and events are written",
        "800 cuts: 0 acknowledged lost, 0 torn, the index rebuilds itself",
        quick=(tried("tests/faults/test_power.py"),),
        full=(program("benchmarks.soak.powercut", minutes=15),),
    ),
    Row(
        "R4",
        "the disk refuses, interrupts or cuts short any call of any write",
        "500 points: an error that names the cause, the old file intact byte for byte, 0"
        " acknowledged lost, usable afterwards",
        quick=(tried("tests/faults/test_refusing_disk.py", minutes=15, more=True),),
    ),
    Row(
        "R5",
        "a disk that is really full, has no inodes left or is read-only",
        "no partial memory, hooks end with 0, works again with room",
        quick=(tried("tests/faults/test_disks.py", "tests/faults/test_import_disks.py"),),
    ),
    Row(
        "R6",
        "16 writers at once, 250 changes each, by the library, commands, MCP and HTTP; and one that"
        " is stopped in the middle of its work",
        "4,000 acknowledged, 0 lost, 0 reverted, 0 duplicate ids, 0 'database is locked', 0 hang",
        quick=(
            tried("tests/store/test_processes.py", "tests/faults/test_mixed_writers.py"),
            tried("tests/faults/test_frozen_writer.py", more=True),
        ),
        full=(program("benchmarks.writers", minutes=15),),
    ),
    Row(
        "R7",
        "a model that thinks for minutes while 200 changes land",
        "0 lost, 0 reverted",
        quick=(
            tried(
                "tests/capture/test_model_extract.py",
                "tests/faults/test_slow_model.py",
                words="slow",
            ),
        ),
    ),
    Row(
        "R8",
        "files edited, replaced, truncated and checked out under an open store, an MCP and an HTTP"
        " server",
        "500 edits: the next answer is what the files say; nothing newer is overwritten",
        quick=(
            tried("tests/faults/test_outside_edits.py"),
            tried("tests/faults/test_edits_under_servers.py", more=True),
        ),
    ),
    Row(
        "R9",
        "two branches and five clones that change the same memories",
        "0 conflicts, 0 markers, 0 facts lost, all readable, with our driver and without",
        quick=(tried("tests/vault/test_git_merge.py", more=True),),
    ),
    Row(
        "R10",
        "200 damages to the index",
        "100 % seen or harmless, rebuilt by itself, the same answers; 10,000 memories in 10 s",
        quick=(tried("tests/faults/test_damage.py", "tests/index/test_index.py", more=True),),
        most={"rebuild_of_10000_cpu_s": 10},
        alone=True,
    ),
    Row(
        "R11",
        "300 damages to memory files, and hostile ones",
        "0 crashes; the file is named and left as it is; all others load",
        quick=(
            tried("tests/vault/test_hostile_files.py"),
            tried("tests/faults/test_damaged_files.py", more=True),
        ),
    ),
    Row(
        "R12",
        "29 states of the world and of the server, each hook",
        "exit 0 always, nothing or valid JSON, 1 s at the most (0.5 s at a session's end),"
        " 0 events lost; 150 ms for 99 of 100 when all is well",
        quick=(
            tried("tests/hook/test_worlds.py"),
            tried("tests/http/test_worlds.py", more=True),
            tried("tests/http/test_sh.py"),
        ),
        full=(program("benchmarks.hooks", "--turns", "100"),),
        instead="a frozen file system is not among them: that is R26",
        most={"slowest_ms": 1_000, "session_end_ms": 500, "healthy_p99_ms": 150},
        alone=True,
    ),
    Row(
        "R13",
        "a hook whose background work goes on",
        "it returns at once and holds no pipe",
        quick=(tried("tests/hook/test_hook.py", words="drain or stdin"),),
        most={"returned_after_ms": 200},
        alone=True,
    ),
    Row(
        "R14",
        "servers started, killed and restarted together",
        "of 50 exactly one serves; in 200 lives ended, killed and upgraded 0 orphans, 0 inherited"
        " listeners, open files flat",
        quick=(tried("tests/http/test_serve.py", "tests/mcp/test_lifetime.py"),),
        full=(program("benchmarks.soak.lifecycle", minutes=15),),
    ),
    Row(
        "R15",
        "200 events a second at the server for a minute, with questions at the same time",
        "12,000 requests, 0 errors, 0 lost, p99 50 ms, 150 MB; 1,500 a second when pressed",
        full=(program("benchmarks.soak.load"),),
        alone=True,
    ),
    Row(
        "R16",
        "1,000 sessions of 53 events, with upkeep",
        "after 100 memory 10 % more at the most, open files flat, logs 20 MB, journals 64 MB, index"
        " twice the files, 20 % free pages; every injection within its budget",
        full=(program("benchmarks.soak.sessions", minutes=30),),
    ),
    Row(
        "R17",
        "transcripts of 1 GiB, torn, rotated, replaced, replayed",
        "100 MB of memory, 1 GiB in 60 s, resumed exactly, 0 lost, 0 duplicates",
        quick=(tried("tests/sessions"),),
        full=(program("benchmarks.soak.transcripts", minutes=15),),
        instead="of the drain's memory, about 25 MB are the optional vectors' library and table",
        alone=True,
    ),
    Row(
        "R18",
        "models that answer with prose, half JSON, refusals, 10 MB or nothing",
        "0 events lost; tried again later, then shown; nothing false is stored; no run replaces,"
        " drops or rewords more than 20 % of the memories",
        quick=(
            tried(
                "tests/llm",
                "tests/worker/test_models.py",
                "tests/capture/test_model_extract.py",
                "tests/upkeep/test_consolidate.py",
            ),
        ),
    ),
    Row(
        "R19",
        "clocks that are wrong by decades, jump and go back",
        "0 negative ages, unique ids, order kept, the same memories give way; a jump of 10 years"
        " archives nothing by itself",
        quick=(tried("tests/faults/test_clocks.py", "tests/upkeep/test_masses.py"),),
    ),
    Row(
        "R20",
        "no home, other locales, umask 000, any path, other users",
        "each has a stated outcome, 0 tracebacks",
        quick=(tried("tests/faults/test_surroundings.py"),),
    ),
    Row(
        "R21",
        "10,000 memories exported, imported, upgraded",
        "equal to the byte; every schema opens; a newer one is refused without a write; what would"
        " put 30 % of a store out of use needs consent",
        quick=(
            tried("tests/transfer/test_round_trip.py", "tests/transfer/test_merging.py"),
            tried("tests/index/test_newer_schema.py", "tests/index/test_index.py"),
            tried("tests/upkeep/test_masses.py"),
        ),
    ),
    Row(
        "R22",
        "a team's PostgreSQL behind the same store port; server and database killed between a"
        " decision and its answer",
        "the whole contract suite on PostgreSQL 15 and 18; 1,000 kills: 0 acknowledged lost, 0"
        " doubled; 16 clients converge to what the merge of files gives; 0 leaks by either guard",
        quick=(tried("tests/postgres", minutes=60, more=True),),
    ),
    Row(
        "R23",
        "random changes and a model of them, crashes included",
        "0 divergences in 500 runs of 50 steps",
        quick=(tried("tests/contract/test_oracle.py", minutes=15, more=True),),
    ),
    Row(
        "R24",
        "150 faults put into core, storage and the HTTP guard, one at a time",
        "75 % noticed by a test; 95 % of lines and branches run by one",
        full=(program("benchmarks.soak.mutants", minutes=30),),
    ),
    Row(
        "R25",
        "statements that differ in a number, a name, a denial or their order, said one after the"
        " other through every surface, then twenty sessions of upkeep, an export and an import",
        "every acknowledged text word for word on the disk, active or one restore away: 0 lost; the"
        " right outcome for 90 % of 780 pairs in nine languages",
        quick=(
            tried(
                "tests/capture/test_statement_pairs.py",
                "tests/capture/test_nothing_lost.py",
                more=True,
            ),
        ),
    ),
    Row(
        "R26",
        "slow and frozen disks: a file system that stops while hooks write to it, once and often;"
        " folders for temporary files that are gone, read-only or full; exports killed at"
        " each system call",
        "hooks end in 1 s (0.5 s at a session's end) with 0 and valid output; 0 events lost, 0 done"
        " twice; nothing is left next to an export",
        quick=(
            tried("tests/faults/test_frozen_disk.py", "tests/faults/test_export_kill.py"),
            tried("tests/faults/test_disks.py", words="temporary_files or tmpdir"),
        ),
        instead="a disk that also stops reading is not among them: no program can start from it",
        most={"slowest_ms": 1_000, "session_end_ms": 500},
        alone=True,
    ),
    Row(
        "R27",
        "lone and late events: hooks killed at each system call and in a storm, sessions of which"
        " one event arrived, Pythons that crash or hang",
        "0 events lost that were written whole, 0 done twice, 0 transcripts unread",
        quick=(
            tried("tests/faults/test_killed_hooks.py"),
            tried("tests/worker/test_drain.py", words="little_arrived"),
            tried("tests/plugin/test_launch.py", words="broken_python"),
        ),
    ),
    Row(
        "S1",
        "every route × Host × Origin × token × content type × method",
        "only allowed cells answer; 0 routes without the guard",
        quick=(tried("tests/http/test_guard.py"),),
    ),
    Row(
        "S2",
        "a real browser on a hostile page",
        "0 state changes, 0 bytes readable",
        full=(program("benchmarks.soak.browser"),),
    ),
    Row(
        "S3",
        "each operation through MCP, HTTP and the command line",
        "identical verdicts",
        quick=(tried("tests/security/test_parity.py", "tests/security/test_agents_tools.py"),),
    ),
    Row(
        "S4",
        "what listens, and who is spoken to by any command, hook or server",
        "loopback only, and only where a server was asked for; 0 connections to anybody",
        quick=(
            tried("tests/security/test_listening.py", "tests/security/test_offline.py"),
            tried("tests/http/test_serve.py", words="listen"),
        ),
    ),
    Row(
        "S5",
        "200 hostile ids, paths and tags in every field; links and devices in the store, swapped",
        "0 reads or writes outside, 0 hangs",
        quick=(
            tried("tests/security/test_paths.py", more=True),
            tried(
                "tests/security/test_fuzz.py", "tests/index/test_index.py", words="path or links"
            ),
        ),
        most={"slowest_call_s": 1, "slowest_trap_s": 1},
    ),
    Row(
        "S6",
        "bombs and nonsense for every parser",
        "1 s and 100 MB at the most, a typed error",
        quick=(tried("tests/security/test_parsers.py", "tests/vault/test_hostile_files.py"),),
        alone=True,
    ),
    Row(
        "S7",
        "bombs and traps in what is imported",
        "refused before anything is written: 100 MB, 100 times its size, 100,000 entries",
        quick=(
            tried("tests/transfer/test_unpacking.py", more=True),
            tried("tests/transfer/test_hostile_sources.py"),
        ),
    ),
    Row(
        "S8",
        "random input to every tool, route and parser",
        "0 crashes, 0 hangs, 0 answers of 5xx; 99 % of arguments outside of a schema refused",
        quick=(tried("tests/security/test_fuzz.py", more=True),),
        full=(program("benchmarks.soak.fuzz", minutes=15),),
    ),
    Row(
        "S9",
        "file modes under any umask",
        "0600 and 0700",
        quick=(
            tried("tests/security/test_modes.py"),
            tried(
                "tests/faults/test_surroundings.py",
                "tests/http/test_serve.py",
                words="umask",
            ),
        ),
    ),
    Row(
        "S10",
        "secrets of 367 kinds in 29 languages, by an author nothing was learned from, alone and"
        " in 30 contexts; of 1,473 kinds in these contexts by four authors whose texts were learned"
        " from; of 60 kinds in 50 contexts; by eleven doors, every byte of every file searched",
        "recall 0.97 of the first (each family 0.90, 0.1 % of look-alikes changed), 0.95 of each"
        " family of the second and 0.98 of the third (each kind 0.90), precision 0.97, benign"
        " 0.1 %, 2 MB/s of code and prose, 0 of all and of 1,000 canaries found in any file",
        quick=(
            tried("tests/security/test_canaries.py", more=True),
            tried("tests/security/test_secret_doors.py", more=True, minutes=20),
            tried("tests/redact/test_secret_set.py", more=True),
            tried("tests/redact/test_redact.py"),
        ),
        full=(program("benchmarks.redaction"),),
        alone=True,
    ),
    Row(
        "S11",
        "200 poisoned texts, ten ways of keeping one on purpose, and 1,252 poisoned sessions by"
        " authors who knew no rule when they wrote them, but for 56, of which they knew some",
        "0 told without approval, 0 break the fence; of what users said themselves, 95 % of what is"
        " kept without these checks is still kept, as a memory or to be confirmed",
        quick=(
            tried("tests/security/test_poisoning.py"),
            tried("tests/security/test_poison_scenarios.py"),
        ),
        instead="the judge of what is worth keeping was trained on what users say in 660 of these"
        " sessions, and rules followed what was missed in all of them: only an author who comes"
        " later tells how far they carry. Offered are two sentences that users said in jest,"
        " four in which they reject a poison by name and six in which they report what another"
        " says. Of the last 93 at first sight 18 were told: 17 of 40 texts pasted without head or"
        " frame, for which rules followed, and one of 53 of all other ways; of 18 such texts more,"
        " written after the rules, nine, of which none still is. Of 30 more by another author nine"
        " were told at first sight, of which three still are and 16 are offered; of 30 by people"
        " who know the rules, in ten languages, two, then none, and four are offered. A search in"
        " sessions quotes what an agent said there, as its words, unless what waits says the same",
    ),
    Row(
        "S12",
        "scripts in memories: 200 poisoned texts on every page of `ltm ui`, in a real browser",
        "0 executed, 0 requests to another address",
        quick=(tried("tests/web/test_poison.py"),),
    ),
    Row(
        "S13",
        "control bytes, shell words and forged lines",
        "0 raw control bytes on a terminal, shellcheck clean",
        quick=(
            tried("tests/security/test_terminal.py"),
            tried(
                "tests/text/test_display.py",
                *("tests/cli", "tests/hook", "tests/http", "tests/mcp", "tests/notes"),
                words="control or shellcheck or neutral or hostile",
            ),
        ),
    ),
    Row(
        "S14",
        "a purged text: files, archives, indexes and their logs, sessions, notes, stashes, ledger",
        "0 hits in any file, also after the session it came from is read once more",
        quick=(
            tried("tests/security/test_purge.py"),
            tried("tests/index/test_index.py", "tests/history/test_db.py", words="purged"),
        ),
    ),
    Row(
        "S15",
        "floods of handshakes, slow clients, huge bodies",
        "memory flat, others served",
        full=(program("benchmarks.soak.flood"),),
        alone=True,
    ),
    Row(
        "S16",
        "dependencies, dangerous calls, and what the wheel holds",
        "0 high, 0 dangerous calls, 0 strange files, every pin with its hash and none stale",
        quick=(
            tried("tests/security/test_supply.py"),
            tried("tests/plugin/test_launch.py", words="pins"),
        ),
        full=(program("benchmarks.soak.supply"),),
        instead="advisories are looked up online: what could not be is counted as not audited",
    ),
    Row(
        "S17",
        "the server in a container without rights",
        "the contract suite passes inside, 0 writes outside /data",
        full=(
            tried(
                "tests/http/test_image.py",
                "tests/e2e/test_product_container.py",
                needs="LTM_IMAGE",
            ),
        ),
        alone=True,
        instead="on amd64; `dev/image` builds the image and tries it, which needs podman or docker",
        most={"written_outside_data": 0},
    ),
    Row(
        "S18",
        "identity and agent forging: bare repositories in a clone, unpacked archives, copied"
        " settings, links and git files that say to be another project; files that name an agent",
        "0 told to a forger, 0 written by one; the user's own clones, work trees and renamed"
        " folders share one memory",
        quick=(tried("tests/security/test_identity.py"),),
        most={"told_to_a_forger": 0, "written_by_a_forger": 0, "own_copies_refused": 0},
    ),
    Row(
        "S19",
        "settings of a repository that run programs, and every command that runs git there",
        "0 programs started",
        quick=(tried("tests/security/test_git_settings.py"),),
        most={"programs_started": 0},
    ),
    Row(
        "S20",
        "hostile databases: computed columns, views, patterns and texts that ask for gigabytes; and"
        " notes of 60 MB, of one word, of lines, of nothing",
        "nothing of a foreign schema is run; the file or row is named, all others are read; 150 MB",
        quick=(tried("tests/transfer/test_giants.py"),),
        most={"peak_mb": 150, "slowest_s": 10},
        alone=True,
    ),
    Row(
        "S21",
        "a stranger who takes the port of a server that was killed, in seven manners, each event",
        "neither the token nor a word of an event is told it; 0 events lost",
        quick=(
            tried(
                "tests/http/test_strangers.py",
                words="stranger_at or stranger_hears",
                more=True,
            ),
        ),
        instead="a server killed between its proof and the message is not tried",
    ),
    Row(
        "S22",
        "300 clients that never finish their head or body, 128 handles, then none",
        "others are answered, slow ones ended, 1 line in the log, a tenth of a processor, served"
        " again when there are handles",
        quick=(tried("tests/http/test_strangers.py", words="slow or handle or none_fill"),),
        most={"log_lines": 1, "processor_share": 0.1},
        alone=True,
    ),
)
