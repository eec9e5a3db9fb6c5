import os
import subprocess
from dataclasses import replace

import pytest

from evalsuite import cli
from evalsuite.contracts.adapter import Recipe
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch.provision import checkouts
from evalsuite.launch.provision.git import CannotFetch
from evalsuite.plan import repositories
from evalsuite.plan.repositories import Repository
from tests import sources


def git(folder, *arguments):
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "commit.gpgsign=false")
    answer = subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder of clones with one repository of two commits, and the first commit's number."""
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "mirror" / "lab+toynet"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    for text in ("first", "second"):
        (folder / "train").mkdir(exist_ok=True)
        (folder / "train" / "train.py").write_text(f"print('{text}')\n")
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / "page.md").write_text("words\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", text)
    return folder


@pytest.fixture
def repository(mirror):
    commit = git(mirror, "rev-parse", "HEAD~1")
    return Repository(name="toynet", repository="https://host.invalid/lab/toynet", commit=commit, licence="MIT")


@pytest.fixture
def got(mirror, repository):
    return checkouts.get(repository, mirror=str(mirror.parent))


RECIPE = Recipe(name="official", model="toy", dialect="pytorch_examples", checkout="toynet", command=lambda case: None)


def test_a_checkout_stands_at_the_pinned_commit_and_a_run_records_it(got, repository):
    facts = checkouts.facts(RECIPE, {"toynet": repository})

    assert (got / "train" / "train.py").read_text() == "print('first')\n"
    assert checkouts.state(repository).clean
    assert checkouts.refusal(RECIPE, {"toynet": repository}) is None
    assert (facts.repository, facts.commit, facts.clean) == (repository.repository, repository.commit, True)


def test_only_the_folders_that_are_needed_are_checked_out(mirror, repository):
    part = replace(repository, paths=("train",))

    folder = checkouts.get(part, mirror=str(mirror.parent))

    assert (folder / "train").is_dir()
    assert not (folder / "docs").exists()
    assert checkouts.state(part).clean


def test_a_missing_checkout_is_a_refusal_that_names_the_command(repository):
    assert checkouts.refusal(RECIPE, {"toynet": repository}) == (
        "the repository https://host.invalid/lab/toynet is not here; run `evalsuite env repositories toynet`"
    )


def test_a_changed_script_is_no_longer_the_official_one(got, mirror, repository):
    (got / "train" / "train.py").write_text("print('faster')\n")

    assert "has changes (train/train.py)" in checkouts.refusal(RECIPE, {"toynet": repository})
    with pytest.raises(CannotFetch, match="does not undo changes that may be yours"):
        checkouts.get(repository, mirror=str(mirror.parent))


MINE = "echo \"print('mine')\" > train/train.py"
PASSED_OVER = f'git update-index $0 train/train.py; {MINE}; test -z "$(git status --porcelain)"'  # git sees nothing
CHANGES = {  # what somebody does in a checkout; $1 is a folder elsewhere
    "assumed unchanged": PASSED_OVER.replace("$0", "--assume-unchanged"),
    "skipped": PASSED_OVER.replace("$0", "--skip-worktree"),
    "removed": "git update-index --skip-worktree train/train.py; rm train/train.py",
    "script linked": 'mv train/train.py "$1"; ln -s "$1/train.py" train/train.py',
    "folder linked": 'mv train "$1"; ln -s "$1/train" train',
    "pointed elsewhere": f'git worktree add --quiet "$1/clean" HEAD; git config core.worktree "$1/clean"; {MINE}',
    "filtered back": (  # git reads the script through a program that gives the official text
        'cp train/train.py "$1/official.py"; git config filter.x.clean "touch $1/hit; cat $1/official.py"; '
        f'echo "*.py filter=x" > .git/info/attributes; {MINE}'
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_git_is_talked_out_of_is_seen_and_starts_nothing(change, got, repository, tmp_path):
    subprocess.run(["sh", "-ec", CHANGES[change], "sh", tmp_path], cwd=got, check=True)

    assert any(path.startswith("train") for path in checkouts.state(repository).changed)
    assert "has changes (train" in checkouts.refusal(RECIPE, {"toynet": repository})
    assert not (tmp_path / "hit").exists()


@pytest.mark.parametrize("which", ["", "^{tree}", ":train", ":train/train.py"])
@pytest.mark.parametrize("how", ["forged", "missing", "broken", "pipe"])
def test_a_mirror_over_a_damaged_object_gives_no_checkout_and_the_object_is_named(how, which, mirror, repository):
    wanted, other = (git(mirror, "rev-parse", f"{name}{which}") for name in (repository.commit, "HEAD"))
    file, instead = (mirror / ".git/objects" / name[:2] / name[2:] for name in (wanted, other))
    file.unlink()
    if how == "pipe":
        os.mkfifo(file)
    elif how != "missing":
        file.write_bytes(instead.read_bytes() if how == "forged" else b"broken")

    with pytest.raises(CannotFetch, match=wanted[2:]):
        checkouts.get(repository, mirror=str(mirror.parent))

    assert not checkouts.state(repository).present and not list(repository.folder.parent.glob("*.making"))


def test_a_mirror_that_lacks_a_file_is_taken_where_that_is_asked_for_and_the_file_is_recorded(mirror, repository):
    absent = git(mirror, "rev-parse", f"{repository.commit}:train/train.py")
    (mirror / ".git/objects" / absent[:2] / absent[2:]).unlink()

    checkouts.get(repository, mirror=str(mirror.parent), incomplete=True)

    assert checkouts.state(repository).absent == ("train/train.py",)


def test_another_commit_in_the_place_of_the_pinned_one_is_seen_and_refused(got, mirror, repository):
    git(got, "replace", repository.commit, git(mirror, "rev-parse", "HEAD"))
    git(got, "checkout", "--quiet", "--force", repository.commit)
    assert (got / "train" / "train.py").read_text() == "print('second')\n"
    assert not checkouts.state(repository).clean

    git(got, "checkout", "--quiet", git(mirror, "rev-parse", "HEAD"))
    assert f"the recipe is for {repository.commit[:10]}" in checkouts.refusal(RECIPE, {"toynet": repository})


def test_what_importing_leaves_behind_is_no_change_and_is_not_run(got, repository):
    (got / "train" / "__pycache__").mkdir()
    (got / "train" / "__pycache__" / "train.cpython-311.pyc").write_bytes(b"\0")

    assert checkouts.state(repository).clean
    checkouts.without_bytecode(RECIPE, {"toynet": repository})
    assert not (got / "train" / "__pycache__").exists()


SMUGGLED = sources.table("checkouts.toml")["smuggled"]


@pytest.mark.parametrize("what", SMUGGLED)
def test_a_module_that_is_smuggled_beside_the_script_is_a_change(what, got, repository):
    for name, text in SMUGGLED[what].items():
        (got / name).parent.mkdir(exist_ok=True)
        (got / name).write_text(text)

    assert not checkouts.state(repository).clean


SETTINGS = sources.text("checkouts_settings.txt")


def test_settings_that_somebody_left_in_a_checkout_start_nothing(got, mirror, repository, tmp_path):
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "watcher"):
        sources.program(tmp_path / "hooks" / hook, f"touch {tmp_path}/hit")
    (tmp_path / "hooks" / "attributes").write_text("* filter=x diff=x\n")
    with open(got / ".git" / "config", "a") as config:
        config.write(SETTINGS.format(hit=tmp_path / "hit", hooks=tmp_path / "hooks"))

    assert checkouts.state(repository).clean
    assert checkouts.get(repository, mirror=str(mirror.parent)) == got
    assert not (tmp_path / "hit").exists()


def test_a_pin_that_names_a_tag_or_a_tree_gives_no_checkout(mirror, repository):
    git(mirror, "tag", "-a", "v1", "-m", "one")
    for name in ("v1", "HEAD^{tree}"):
        pin = replace(repository, commit=git(mirror, "rev-parse", name))

        with pytest.raises(CannotFetch):
            checkouts.get(pin, mirror=str(mirror.parent))
        assert not pin.folder.exists()


@pytest.fixture
def with_submodule(mirror, repository):
    """The repository of a commit that names another repository's first commit as its submodule `parts/tracker`."""
    tracker = mirror.parent / "lab+tracker"
    git(mirror.parent, "clone", "--quiet", str(mirror), str(tracker))
    url = "https://host.invalid/lab/tracker.git"
    (mirror / ".gitmodules").write_text(f'[submodule "parts/tracker"]\n\tpath = parts/tracker\n\turl = {url}\n')
    git(mirror, "update-index", "--add", "--cacheinfo", f"160000,{repository.commit},parts/tracker")
    git(mirror, "add", ".gitmodules")
    git(mirror, "commit", "--quiet", "-m", "with its tracker")
    head = git(mirror, "rev-parse", "HEAD")
    return replace(repository, commit=head, paths=("train", "parts/tracker"), submodules=("parts/tracker",))


def test_a_submodule_stands_at_the_commit_that_the_repository_names_and_a_change_in_it_is_seen(mirror, with_submodule):
    folder = checkouts.get(with_submodule, mirror=str(mirror.parent))
    script = folder / "parts" / "tracker" / "train" / "train.py"

    assert (folder / "train" / "train.py").read_text() == "print('second')\n"
    assert script.read_text() == "print('first')\n"
    assert checkouts.state(with_submodule).clean
    assert checkouts.refusal(RECIPE, {"toynet": with_submodule}) is None
    script.write_text("print('faster')\n")
    assert "has changes (parts/tracker)" in checkouts.refusal(RECIPE, {"toynet": with_submodule})


def test_a_checkout_from_before_its_submodule_was_needed_gets_it(mirror, with_submodule):
    checkouts.get(replace(with_submodule, paths=("train",), submodules=()), mirror=str(mirror.parent))
    reason = checkouts.refusal(RECIPE, {"toynet": with_submodule})

    checkouts.get(with_submodule, mirror=str(mirror.parent))

    assert "lacks its submodule parts/tracker; run `evalsuite env repositories toynet`" in reason
    assert checkouts.refusal(RECIPE, {"toynet": with_submodule}) is None


def test_a_mirror_without_the_repository_or_its_commit_says_so_and_leaves_no_half_made_checkout(mirror, repository):
    other = replace(repository, repository="https://host.invalid/lab/othernet")
    absent = replace(repository, commit="0" * 40)

    with pytest.raises(CannotFetch, match=r"no clone of lab/othernet; expected lab\+othernet"):
        checkouts.get(other, mirror=str(mirror.parent))
    with pytest.raises(CannotFetch, match="git checkout"):
        checkouts.get(absent, mirror=str(mirror.parent))
    assert not checkouts.state(absent).present
    assert not list(absent.folder.parent.glob("*.making"))


def test_another_host_serves_the_same_owner_and_name_and_an_unknown_name_gets_the_nearest(repository):
    source = checkouts.source(repository, "https://git.example.org/mirrors/")

    assert source == "https://git.example.org/mirrors/lab/toynet"
    with pytest.raises(EvalsuiteError, match="Did you mean pytorch-examples"):
        repositories.named("pytorch-exampels", repositories.known())


def test_a_profile_names_the_repositories_that_it_needs_and_reference_workloads_need_none(mirror, capsys):
    code = cli.main(["env", "repositories", "--profile", "official-cpu", "--mirror", str(mirror.parent)])

    said = capsys.readouterr().err
    assert code == Exit.USAGE  # the mirror has none of them
    assert "bluefog: " in said and "mxnet-examples: " in said and "hugectr" not in said
    assert cli.main(["env", "repositories", "--profile", "quick"]) == Exit.USAGE
    assert "its recipes are of no official repository" in capsys.readouterr().err
