"""What a release needs: the version is one everywhere, and whoever reports something is asked for what it takes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import extremum

ROOT = Path(__file__).parents[1]
FILES = ("CITATION.cff", "Cargo.toml", "CHANGELOG.md")
# Our crates, all of which are in the compiled file of a wheel.
LINKED = ("extremum-kernels", "extremum-onnxruntime", "extremum-python")


def check_version(folder):
    """Run the first step of the rehearsal on the files of a folder."""
    command = ["bash", folder / ".ci" / "release-check", "version"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "release-check", tmp_path / ".ci")
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="releases are rehearsed where there is bash")
def test_the_version_is_one_everywhere(folder):
    done = check_version(folder)
    assert done.returncode == 0, done.stderr
    assert extremum.__version__ in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="releases are rehearsed where there is bash")
@pytest.mark.parametrize(
    ("file", "said", "instead", "error"),
    [
        ("CITATION.cff", extremum.__version__, "9.9.9", "CITATION.cff has another version than Cargo.toml"),
        ("CHANGELOG.md", "## [Unreleased]", "## [9.9.9]", "CHANGELOG.md speaks neither of"),
    ],
)
def test_another_version_is_found(folder, file, said, instead, error):
    path = folder / file
    path.write_text(path.read_text(encoding="utf-8").replace(said, instead), encoding="utf-8")
    done = check_version(folder)
    assert done.returncode == 1
    assert error in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="releases are rehearsed where there is bash")
def test_a_tag_has_its_version_and_its_section(folder):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=folder, check=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    git("tag", "v9.9.9")
    assert "the tag is v9.9.9" in check_version(folder).stderr
    git("tag", "-d", "v9.9.9")
    git("tag", f"v{extremum.__version__}")
    assert "has no section" in check_version(folder).stderr
    changelog = folder / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(text.replace("[Unreleased]", f"[{extremum.__version__}] - 2026-11-30"), encoding="utf-8")
    assert check_version(folder).returncode == 0


def test_the_licences_are_those_of_the_crates_that_are_locked():
    """`make lint` asks cargo which crates are linked; here it is enough that none has another version."""
    text = (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")
    named = re.findall(r"^(\S+) (\d\S*) \(.*\)\n-+$", text, re.MULTILINE)
    locked = re.findall(r'name = "(.*)"\nversion = "(.*)"', (ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    assert len(named) > 10
    assert set(named) <= set(locked), ".ci/linked-crates writes them anew"


def locked():
    """What the lock says of each crate: name, version and, where it comes from elsewhere, checksum."""
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    found = re.findall(r'^name = "(.*)"\nversion = "(.*)"(?:\nsource = ".*"\nchecksum = "(.*)")?$', lock, re.MULTILINE)
    return {f"pkg:cargo/{name}@{version}": checksum for name, version, checksum in found}


def test_the_bill_of_materials_has_the_crates_that_have_licences_and_our_own():
    bill = json.loads((ROOT / "extremum.cdx.json").read_text(encoding="utf-8"))
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/extremum@{extremum.__version__}"
    crates = {each["purl"]: each for each in bill["components"] if "purl" in each}
    licences = re.findall(
        r"^(\S+) (\d\S*) \((.*)\)\n-+$",
        (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    theirs = {f"pkg:cargo/{name}@{version}": text.replace("/", " OR ") for name, version, text in licences}
    ours = {f"pkg:cargo/{name}@{extremum.__version__}" for name in LINKED}
    assert crates.keys() == theirs.keys() | ours, ".ci/linked-crates writes it anew"
    for purl, text in theirs.items():
        assert crates[purl]["licenses"] == [{"expression": text}]
        assert crates[purl]["hashes"] == [{"alg": "SHA-256", "content": locked()[purl]}]
    # Everything is reached from the package.
    asked = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    reached, waiting = set(), [bill["metadata"]["component"]["bom-ref"]]
    while waiting:
        reached.add(at := waiting.pop())
        waiting += [each for each in asked.get(at, ()) if each not in reached]
    assert reached >= {each["bom-ref"] for each in bill["components"]}


def test_the_bill_of_materials_goes_into_the_wheel():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '\n[tool.maturin.sbom]\nrust = false\ninclude = ["extremum.cdx.json"]\n' in project


@pytest.mark.skipif(sys.platform == "win32", reason="a program of two lines stands for rustc")
@pytest.mark.parametrize(("version", "said"), [("1.88.3", "extremum needs Rust"), ("1.1000.0", None), ("2.0.0", None)])
def test_make_says_that_rust_is_too_old(tmp_path, version, said):
    for name in ("rustc", "cargo"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} {version}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": os.pathsep.join((str(tmp_path), os.environ["PATH"]))}
    command = ["make", "--directory", ROOT, "toolchain", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == bool(said), done.stderr
    assert (said or "") in done.stderr


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_oldest_rust_is_said(page):
    (oldest,) = re.findall(r'^rust-version = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.search(
        rf"\[Rust toolchain\]\(https://rustup.rs\),? \(?{oldest}\b", (ROOT / page).read_text(encoding="utf-8")
    )


LEGS = set(re.findall(r"^leg_(\w+)\(\)", (ROOT / ".ci" / "leg").read_text(encoding="utf-8"), re.MULTILINE))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def texts():
    """What names commands: pages, workflows, scripts, the package and its tests."""
    for pattern in (
        "*.md",
        "*.toml",
        "Makefile",
        "docs/**/*.md",
        ".github/**/*.yml",
        ".ci/*",
        "src/**/*.py",
        "tests/**/*",
    ):
        for path in sorted(ROOT.glob(pattern)):
            if (
                path.suffix in (".py", ".md", ".toml", ".yml", ".sh", "")
                and path.is_file()
                and path.name != "CHANGELOG.md"
            ):
                yield path.read_text(encoding="utf-8")


def test_every_target_and_leg_that_is_named_is_there():
    text = "\n".join(texts())
    legs = set(re.findall(r"\.ci/leg\s+(?!lists)([a-z][a-z-]*)", text))
    assert len(legs) > 10
    assert {each.replace("-", "_") for each in legs} <= LEGS
    assert set(re.findall(r"`make\s+(?:[A-Z]+=\S+ )*([a-z][a-z-]*)", text)) <= TARGETS
    assert set(re.findall(r"run: make ([a-z][a-z-]*)", text)) <= TARGETS


@pytest.mark.skipif(sys.platform == "win32", reason="legs run where there is bash")
def test_legs_are_listed_and_another_name_is_refused():
    listed = subprocess.run(["bash", ROOT / ".ci" / "leg"], capture_output=True, text=True, check=True).stdout
    assert {line.split()[0].replace("-", "_") for line in listed.splitlines()} == LEGS
    done = subprocess.run(["bash", ROOT / ".ci" / "leg", "nothing"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "there is no leg nothing; .ci/leg lists them\n")
