"""A sweep that is ready to run: its keys are ones of the scenario, and every run has its content's sum.

Invariant: a run's sum covers all that its result depends on: netloom's version, the scenario's text, the
values of the keys, the content of every file that the scenario then names, and the error that is allowed
where iterations are not simulated again.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.errors import FormatError, NetloomError
from netloom.manifest import digest
from netloom.sweeps import spec as specs
from netloom.sweeps.private import private
from netloom.sweeps.spec import ROUTES, Spec, texts
from netloom.sweeps.toml import inline

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from netloom._core import Scenario
    from netloom.sweeps.work import Plan

_UNKNOWN = (
    'has no key "',
    "no job is called",
    "expected a key of job",
    "expected a job and its key",
    "not keys",
)
"""What the core says of a key that no scenario has, not of its value."""
_KEY_DIGITS = 32


@dataclass(frozen=True)
class Prepared:
    """A sweep whose runs can be handed out.

    Attributes
    ----------
    name : str
        Of the scenario.
    spec : Spec
        The sweep; `routes` is among its keys.
    plan : Plan
        What workers are told.
    keys : list of str
        The sums of its runs, by number.
    about : mapping
        What the manifest of its folder says.
    files : list of (str, str)
        Other files that the scenario names: role and path.
    """

    name: str
    spec: Spec
    plan: Plan
    keys: Sequence[str]
    about: Mapping[str, Any]
    files: Sequence[tuple[str, str]]

    @property
    def sum(self) -> str:
        """What is run: `A-B`; `A` is of the sweep and its scenario, `B` of all that results depend on."""
        return f"{_named_sum(self.about)}-{digest(json.dumps(list(self.keys)).encode())[:_KEY_DIGITS]}"


def prepare(
    text: str, path: Path, expected: str | None = None, *, skip_repeats: float | None = None
) -> Prepared:
    """Reads a sweep and its scenario, and looks whether the scenario has all keys.

    Parameters
    ----------
    text : str
        The sweep's file.
    path : Path
        Its name; the scenario is beside it.
    expected : str, optional
        Its `sum`, as the user was told it: nothing that another scenario names is opened, and what a file
        holds that is another by now is not told.
    skip_repeats : float, optional
        The error allowed where iterations are not simulated again; None: all are.

    Raises
    ------
    FormatError
        With file and line.
    NetloomError, OSError
        If the scenario itself cannot be read.
    """
    try:
        prepared = _prepared(text, path, expected, skip_repeats)
    except NetloomError as error:
        if expected is None:
            raise
        raise _changed(path, private(error)) from None
    if expected is not None and prepared.sum != expected:
        raise _changed(path)
    return prepared


def _changed(path: Path, why: str = "") -> FormatError:
    told = f"{path}: it, its scenario or a file that they name has changed since the job script was written"
    return FormatError(
        f"{told}{why and f' ({why})'}: netloom sweep run --slurm writes another script", str(path)
    )


def _named_sum(about: Mapping[str, Any]) -> str:
    """Of the sweep's text and the scenario's: they say which files there are."""
    told = [about["netloom"], about["sweep"]["text"], about["scenario"]]
    return digest(json.dumps(told).encode())[:_KEY_DIGITS]


def _prepared(text: str, path: Path, expected: str | None, skip_repeats: float | None) -> Prepared:
    from netloom import __version__, _core

    spec = dataclasses.replace(specs.parse(text, path), skip_repeats=skip_repeats)
    try:
        reading.refuse_links_of_others(spec.scenario)
        scenario = reading.whole(spec.scenario)
    except OSError as error:
        raise spec.error("scenario", f"scenario: {spec.written}: {error.strerror or error}") from None
    about: dict[str, Any] = {
        "netloom": __version__,
        "scenario": digest(scenario),
        "sweep": {"text": text, "path": str(path.absolute())},
    }
    if expected is not None and not expected.startswith(f"{_named_sum(about)}-"):
        raise _changed(path)
    folder = spec.scenario.absolute().parent
    label = str(spec.scenario)
    given = _core.Scenario.parse(scenario, label=label, folder=folder, name=spec.scenario.stem)
    if ROUTES not in spec.varied:
        spec = dataclasses.replace(spec, over={**spec.over, ROUTES: given.routings})
    elif len(given.routings) == 0:
        raise FormatError(f"{label}: expected routings", label)
    read = _Reader(scenario, label, folder)
    _check(spec, read)
    plan: Plan = {
        "netloom": __version__,
        "text": scenario.decode(errors="replace"),
        "label": spec.written,
        "folder": str(folder),
        "keep": list(spec.keep),
        "skip_repeats": skip_repeats,
    }
    about |= {"varied": spec.varied, "keep": list(spec.keep)}
    if skip_repeats is not None:
        about["skip_repeats"] = skip_repeats
    return Prepared(given.name, spec, plan, list(_keys(spec, plan, read)), about, given.files)


class _Reader:
    """Reads a scenario with keys set."""

    def __init__(self, data: bytes, label: str, folder: Path) -> None:
        self.data, self.label, self.folder = data, label, folder

    def __call__(self, values: Mapping[str, Any]) -> Scenario:
        from netloom import _core

        overrides = [f"{key}={inline(value)}" for key, value in values.items()]
        return _core.Scenario.parse(self.data, label=self.label, folder=self.folder, overrides=overrides)


def _check(spec: Spec, read: _Reader) -> None:
    """Refuses keys that the scenario has not, and routings that there are not."""
    from netloom import _core

    for key in spec.varied:
        if key == ROUTES:
            continue
        try:
            read({key: spec.of(key)[0]})
        except NetloomError as error:
            said = str(error).removeprefix(f"--set {key}={inline(spec.of(key)[0])}: ")
            if any(word in said for word in _UNKNOWN):
                raise spec.error(key, f"{key}: {said}") from None
        except OSError:
            pass  # A file that is not there is no key's fault.
    engines = [name for name, _ in _core.engines()]
    for word in spec.of(ROUTES):
        if word in engines:
            continue
        try:
            read({ROUTES: [word]})
        except NetloomError as error:
            said = str(error).partition(": ")[2] or str(error)
            raise spec.error(ROUTES, f"{ROUTES}: {said.removeprefix(f'{ROUTES}: ')}") from None
        except OSError as error:
            raise spec.error(ROUTES, f"{ROUTES}: {word}: {error.strerror or error}") from None


def _keys(spec: Spec, plan: Plan, read: _Reader) -> Iterator[str]:
    """The sums of all runs, in their order."""
    files = _Files(plan, read)
    for number in range(spec.size):
        values = spec.values(number)
        told: list[Any] = [plan["netloom"], plan["text"], sorted(values.items()), files.sums(values)]
        told += [] if spec.skip_repeats is None else [spec.skip_repeats]
        yield digest(json.dumps(told).encode())[:_KEY_DIGITS]


class _Files:
    """Sums of the files that a scenario names, with keys set; each is read once."""

    def __init__(self, plan: Plan, read: _Reader) -> None:
        self._read = read
        self._folder = Path(plan["folder"])
        self._there: dict[str, bool] = {}
        self._sums: dict[str, str] = {}
        self._found: dict[str, list[list[str]]] = {}
        document = tomllib.loads(plan["text"])
        self._own = any(map(self._is_file, texts(document)))

    def sums(self, values: Mapping[str, Any]) -> list[list[str]]:
        """Paths as given and sums, sorted."""
        naming = {key: value for key, value in values.items() if any(map(self._is_file, texts(value)))}
        if not naming and not self._own:
            return []
        key = json.dumps(sorted(naming.items()))
        if key not in self._found:
            self._found[key] = self._of(naming)
        return self._found[key]

    def _of(self, naming: Mapping[str, Any]) -> list[list[str]]:
        asked = {key: [value] if key == ROUTES else value for key, value in naming.items()}
        try:
            paths = [str(path) for _, path in self._read(asked).files]
        except (NetloomError, OSError):
            # Such runs fail; what they name decides whether they are the same.
            paths = []
        paths += [str(self._folder / text) for text in texts(list(naming.values())) if self._is_file(text)]
        return [[path, self._sum(path)] for path in sorted(set(paths))]

    def _is_file(self, text: str) -> bool:
        if text not in self._there:
            try:
                self._there[text] = any(
                    (self._folder / name).exists() for name in {text, text.rpartition("#")[0]} if name
                )
            except (OSError, ValueError):
                self._there[text] = False
        return self._there[text]

    def _sum(self, path: str) -> str:
        if path not in self._sums:
            try:
                reading.refuse_links_of_others(path)
                self._sums[path] = digest(reading.whole(path))
            except OSError as error:
                self._sums[path] = type(error).__name__
        return self._sums[path]
