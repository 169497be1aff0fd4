"""The clusters for a person to read: `antigen_review.md`.

Pure; imports this package.
"""

from __future__ import annotations

from ltm.core.counting import counted
from ltm.friction.analyse import Analysis
from ltm.friction.antigens import Cluster
from ltm.friction.markdown import block, code, header, plain, row

_SHOWN = 25


def review(found: Analysis) -> str:
    """The clusters that weigh most, with what users said and what failed."""
    bad = sum(each.is_bad for each in found.sessions)
    parts = [
        "# Friction Antigen Clusters",
        f"Generated: {found.summary['analyzed_at']}",
        f"BAD sessions: {bad} | Raw candidates: {len(found.candidates)}"
        f" | Clusters: {len(found.clusters)}",
        "## Cluster Summary",
        "\n".join(
            [
                header("#", "Signal", "Tool Pattern", "Count", "Sessions", "Score", "Median Peak"),
                *(
                    row(
                        number,
                        each.signal,
                        code(each.pattern, 120),
                        len(each.members),
                        len(each.sessions),
                        f"{each.score:g}",
                        f"{each.median_peak:g}",
                    )
                    for number, each in enumerate(found.clusters[:_SHOWN], start=1)
                ),
            ]
        ),
        *(_cluster(number, each) for number, each in enumerate(found.clusters[:_SHOWN], start=1)),
    ]
    return "\n\n".join(parts) + "\n"


def _cluster(number: int, cluster: Cluster) -> str:
    record = cluster.record()
    parts = [
        f"## Cluster {number}: {cluster.signal} | {code(cluster.pattern, 120)}",
        f"Occurrences: {len(cluster.members)} in {counted(len(cluster.sessions), 'session')},"
        f" score {cluster.score:g}, median peak {cluster.median_peak:g}",
        "### User Context (what the user said)",
        "\n>\n".join(f"> {plain(text, 300)}" for text in cluster.contexts[:3]) or "(nothing)",
    ]
    if record["errors"]:
        parts += ["### Errors", block(record["errors"][:3])]
    if record["top_files"]:
        parts += ["### Files involved", "\n".join(f"- {code(f)}" for f in record["top_files"])]
    if record["top_keywords"]:
        parts.append(f"**Keywords:** {', '.join(map(plain, record['top_keywords']))}")
    return "\n\n".join(parts)
