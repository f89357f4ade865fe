"""Which options of `netloom optimize` do not fit together: the whole table, looked through in one place.

Only one thing that matters here is known later: whether the traffic has phases. `--objective sum` is then
meant where nobody says otherwise, and the same table is asked again.
"""

from __future__ import annotations

from netloom.session.unfit import exclude, need

PHASES = "--objective sum"
"""What is meant where the traffic has phases and no objective is given."""

_SEVERAL = ("--also", "--error")
_BY_PHASE = ("--objective sum", "--objective worst")
_LIMITS = ("--max-changes", "--penalty-per-change", "--keep-jobs", "--front")
_ONE = "{option} is about the largest load of one matrix"
_HOSE = "{other} is about one matrix, --hose about all with some sums: expected one"

TABLE = (
    *exclude("--islands", _BY_PHASE, "{option} is about one matrix: expected --objective total"),
    *exclude("--islands", _SEVERAL, "{option} is about one matrix, {other} about several: expected one"),
    *exclude("--hose", ("--islands",), _HOSE),
    *exclude(
        "--hose",
        ("--objective", *_SEVERAL),
        "--hose is about all traffic with some sums, {other} is not: expected one",
    ),
    *need(
        ("--samples",),
        ("--error",),
        "--samples needs to know how rough the traffic is: --error PERCENT or FILE",
    ),
    *need(("--robust",), _SEVERAL, "--robust needs other traffic: --also TRAFFIC, or --error PERCENT"),
    *exclude(
        "--objective",
        _SEVERAL,
        "--objective is about the phases of one traffic, {other} about several: expected one",
    ),
    *need((*_LIMITS, "--repair"), ("--from",), "{option}: expected today's routes too, --from FILE"),
    *exclude(
        "--from", ("--background",), "--from and --background both say what unused entries are: expected one"
    ),
    *exclude(
        "--front",
        ("--max-changes", "--penalty-per-change"),
        "--front tries every number of changes, {other} asks for one: expected one",
    ),
    *need(
        ("--write-paths",),
        ("--lmc",),
        "--write-paths is about several addresses a host: expected --lmc 1 or more",
    ),
    *exclude("--lmc", ("--from",), "--lmc makes tables anew, --from changes those in force: expected one"),
    *exclude(
        "--lmc",
        ("--islands", "--depth"),
        "--lmc and {other}: only the search for one address a host has it; expected one",
    ),
    *need(
        ("--threshold", "--write-model"),
        ("--exact",),
        "{option} is about a model: expected --exact MODEL too",
    ),
    *need(("--threshold",), ("--exact few-hot",), "--threshold belongs to --exact few-hot, no other model"),
    *exclude("--exact", ("--lmc",), "--exact is about one address a host, --lmc about several: expected one"),
    *exclude("--exact", _LIMITS, "--exact and {other}: a model may change every entry; expected one"),
    *(
        row
        for model in ("partitioned", "multilevel", "combined")
        for row in exclude(
            f"--exact {model}",
            ("--write-model",),
            "{option} is a sequence of models, which {other} cannot hold: expected basic, product, "
            "productless or few-hot",
        )
    ),
    *exclude(
        "--judge",
        ("--hose", *_SEVERAL, *_BY_PHASE, "--lmc", "--front", "--exact"),
        "--judge is about one traffic and one table, {other} is not: expected one of both",
    ),
    *exclude(
        "--avoid",
        ("--write-certificate", "--lmc", "--exact", "--judge"),
        "{other} is about all of the fabric, --avoid about a part: expected one",
    ),
    *exclude(
        "--hose", ("--write-certificate", "--compare", "--front", "--keep-jobs", "--lmc", "--exact"), _HOSE
    ),
    *(
        row
        for option in ("--lmc", "--exact", "--compare", "--front")
        for row in (
            *exclude(option, _BY_PHASE, f"{_ONE}: expected --objective total"),
            *exclude(option, _SEVERAL, f"{_ONE} (--objective total), {{other}} about several: expected one"),
        )
    ),
)
"""What excludes what, and what needs what; the first row that applies is told."""
