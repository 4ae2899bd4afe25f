"""
Breaks the library in small ways, one at a time, and sees whether a test notices: `make mutants`.

    mutants.py [--check]

A break is an operator, a constant or a condition that is changed, or a statement that is left out.
SEED draws COUNT of them from all that can be broken in lib (MODULES='stream elf': in these
modules), so a run can be repeated; SKIP leaves out so many of them first.  Each is made in a
private copy of the tree (COPY, build/mutants): only its file is compiled, and the tests that know
the file run (tests/mutants.table), until one fails that passes without the break.  The tests have
limits of CPU time and memory.  For root they run in namespaces of their own, where only /tmp and
the copy can be written, and no process outside can be hurt.

A survivor is printed as a diff.  tests/mutants.reasons lists breaks that change no result, by
their lines, each with the reason.  Exits 1 if fewer than 80 % of all others were killed.

Results are kept for the same seed: a break whose line and tests have not changed is not tried
again, so that a run can be continued.  AGAIN=1 tries survivors again.  --check: only check the
table.
"""
import difflib
import fnmatch
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
home = os.path.join(root, os.environ.get("COPY", "build/mutants"))
tree = os.path.join(home, "tree")
recordings = os.environ.get("SHARED", os.path.join(root, "../shared/data"))
seed = os.environ.get("SEED", "1")
count = int(os.environ.get("COUNT", "200"))
skipped = int(os.environ.get("SKIP", "0"))
modules = os.environ.get("MODULES", "").split()
GOAL = 80	# % of the breaks without a reason that tests must notice
CPU_LIMIT, MEMORY_LIMIT, FILE_LIMIT = 60, 4 << 30, 2 << 30	# of a process: s, bytes, bytes
LIMIT = 400	# s of a test file


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# The table

def table():
    """Return the lines of the table as (patterns, tests)."""
    text = re.sub(r"^#.*\n|\\\n", "", read(f"{root}/tests/mutants.table"), flags=re.M)
    rows = [line.split(":") for line in text.splitlines() if line]
    return [(patterns.split(), tests.split()) for patterns, tests in rows]


def test_files(name):
    """Return the tests that the table calls NAME: a unit test, or the files of a number."""
    if name.startswith("test-"):
        return ["build/release/tests/unit/" + name] if os.path.exists(
            f"{root}/tests/unit/{name}.c") else []
    found = sorted(glob.glob(f"{root}/tests/{name}-*.sh") + glob.glob(f"{root}/tests/{name}.sh"))
    return [os.path.relpath(path, root) for path in found]


def unit_tests():
    """Return the headers of lib that each unit test includes."""
    return {path: re.findall(r'^#include "(\w+/[\w-]+)\.h"', read(path), flags=re.M)
            for path in sorted(glob.glob(f"{root}/tests/unit/test-*.c"))}


def knows(header, path):
    """Return whether who includes HEADER, without .h, may test the source PATH, without .c."""
    module, name = header.split("/")
    return path.split("/")[-2] == module and (
        name == "internal" or path.endswith("/" + name) or
        re.search(r"/" + re.sub("-internal$", "", name) + r"(-\w+)*$", path) is not None)


def tests_of(path, rows, units):
    """Return the tests of the source PATH: unit tests, then test files, each once."""
    path = path[:-len(".c")]
    tests = []
    for unit, headers in units.items():
        if any(knows(header, path) for header in headers):
            tests.append("build/release/" + os.path.relpath(unit, root)[:-len(".c")])
    for patterns, names in rows:
        if any(fnmatch.fnmatch(os.path.basename(path), pattern) for pattern in patterns):
            tests += [file for name in names for file in test_files(name)]
    return list(dict.fromkeys(tests))


def sources():
    found = [os.path.relpath(path, root) for path in glob.glob(f"{root}/lib/*/*.c")]
    return sorted(found, key=os.path.basename)


def check_table():
    """Print what is wrong with the table, and return whether it is right."""
    rows, units, bad = table(), unit_tests(), 0
    for path in sources():
        if not any(fnmatch.fnmatch(os.path.basename(path)[:-2], p) for row in rows for p in row[0]):
            print(f"tests/mutants.table has no tests for {path}")
            bad += 1
    for name in sorted({name for _, names in rows for name in names}):
        if not test_files(name):
            print(f"tests/mutants.table names {name}, but tests has no such file")
            bad += 1
    return bad == 0


# Breaks

def masked(text):
    """Return TEXT with spaces in place of comments, strings and directives."""
    tokens = r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:\\\n|.)*?$'
    return re.sub(tokens, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


swaps = [(r" (<|<=|>|>=|==|!=) ", {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="],
                                   ">=": [">", "<"], "==": ["!="], "!=": ["=="]}),
         (r" (&&|\|\|) ", {"&&": ["||"], "||": ["&&"]}),
         (r" ([-+*/%&|^]|<<|>>) ", {"+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"],
                                    "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"],
                                    ">>": ["<<"]}),
         (r" ([-+|&^]=|<<=|>>=) ", {"+=": ["-=", "="], "-=": ["+="], "|=": ["=", "&="],
                                    "&=": ["=", "|="], "^=": ["="], "<<=": [">>="],
                                    ">>=": ["<<="]}),
         (r"(\+\+|--)", {"++": ["--"], "--": ["++"]}),
         (r"\b(true|false)\b", {"true": ["false"], "false": ["true"]})]
# Whether all memory is released is for the build with sanitizers to see.
keywords = r"free|\w+_(?:release|free)|munmap|return|goto|case|default|else|if|for|while|do" \
    r"|switch|struct|static|const|enum|typedef"


def breaks_of_line(line, mask):
    """Return what LINE may become; MASK is LINE without comments and strings."""
    found = []
    for pattern, swap in swaps:
        for m in re.finditer(pattern, mask):
            for to in swap[m.group(1)]:
                found.append(line[:m.start(1)] + to + line[m.end(1):])
    for m in re.finditer(r"(?<![\w.])(0x[0-9a-f]+|\d+)(?=[ULul]*\b)(?!\.)", mask):
        value = int(m.group(1), 16 if m.group(1).startswith("0x") else 10)
        for to in {value + 1, abs(value - 1)}:
            to = hex(to) if m.group(1).startswith("0x") else str(to)
            found.append(line[:m.start(1)] + to + line[m.end(1):])
    m = re.match(r"(\s*(?:\} else )?(?:if|while) \()(.*)(\)(?: \{)?\s*)$", mask)
    if m and m.group(2).count("(") == m.group(2).count(")"):
        condition = line[m.start(2):m.end(2)]
        found.append(line[:m.end(1)] + "!(" + condition + ")" + line[m.start(3):])
    m = re.match(r"(\t+)([\w*(][^{};]*;)\s*$", mask)
    if m and not re.match(rf"(?:{keywords})\b|\w+ (\*+)?\w+( =|;|\[|,)", m.group(2)) and \
            m.group(2).count("(") == m.group(2).count(")"):
        found.append(m.group(1) + ";")
    return found


def bodies(mask):
    """Return the numbers of the lines in bodies of functions; the first line is 0."""
    inside, found = False, []
    for number, line in enumerate(mask.split("\n")):
        if line in ("{", "}"):
            inside = line == "{"
        elif inside and line.strip():
            found.append(number)
    return found


def begins(mask, number):
    """Return whether line NUMBER begins a statement, and is not the rest of one."""
    before = number - 1
    while before > 0 and not mask[before].strip():
        before -= 1
    return re.search(r"[{};:)]\s*$|\belse\s*$", mask[before]) is not None


def all_breaks(path):
    """Return the breaks of a file, as (path, number of the line, line, what it becomes)."""
    text = read(f"{root}/{path}")
    lines, mask = text.split("\n"), masked(text).split("\n")
    return [(path, number, lines[number], to) for number in bodies("\n".join(mask))
            for to in sorted(set(breaks_of_line(lines[number], mask[number])))
            if to.strip() != ";" or begins(mask, number)]


def number_of(*words):
    """Return a random number that depends on SEED and WORDS only."""
    return int(hashlib.sha256(repr((seed, words)).encode()).hexdigest()[:16], 16)


def draw():
    """
    Return the breaks of this run: no line has two.  Which lines are drawn depends on their text, so
    that other changes of the library leave most of the breaks as they are.
    """
    places = {}
    for path in sources():
        if not modules or path.split("/")[1] in modules:
            for mutant in all_breaks(path):
                places.setdefault(mutant[:2], []).append(mutant)
    seen, ranks = {}, []
    for at, mutants in places.items():
        key = os.path.basename(at[0]), mutants[0][2].strip()
        seen[key] = seen.get(key, 0) + 1
        rank = number_of(*key, seen[key])
        ranks.append((rank, mutants[number_of(rank) % len(mutants)]))
    return [mutant for _, mutant in sorted(ranks)[skipped:skipped + count]]


def key_of(path, _, line, to):
    return os.path.basename(path), line.strip(), to.strip()


def reasons():
    """Return the reason of each listed break that changes no result."""
    found, key = {}, [None] * 3
    for text in read(f"{root}/tests/mutants.reasons").splitlines():
        if text.startswith("\t- "):
            key[1] = text[3:]
        elif text.startswith("\t+ "):
            key[2] = text[3:]
        elif text.startswith("\t"):
            found[tuple(key)] = (found.get(tuple(key), "") + " " + text.strip()).strip()
        elif text and not text.startswith("#"):
            key = [text, None, None]
    return found


# The copy of the tree

def make(*targets):
    """Build TARGETS in the copy.  Return whether that worked."""
    done = subprocess.run(["make", "-s", "-j2", "CFLAGS=-O1 -g", *targets], cwd=tree,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode and len(targets) > 1:
        print(done.stderr[-2000:])
    return done.returncode == 0


def prepare():
    """Copy what git knows of the tree, where it differs, and build the copy."""
    os.makedirs(home + "/tmp", exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    wanted = {path for path in listed if path and os.path.lexists(f"{root}/{path}")}
    for path in wanted:
        source, to = f"{root}/{path}", f"{tree}/{path}"
        if os.path.lexists(to) and not os.path.islink(to) and os.path.isfile(source):
            with open(source, "rb") as a, open(to, "rb") as b:
                if a.read() == b.read() and os.stat(source).st_mode == os.stat(to).st_mode:
                    continue
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.lexists(to):
            os.unlink(to)
        shutil.copy(source, to, follow_symlinks=False)
    for folder, _, names in os.walk(tree):
        here = os.path.relpath(folder, tree)
        for name in names:
            path = os.path.normpath(os.path.join(here, name))
            if path not in wanted and not path.startswith("build/"):
                os.unlink(f"{tree}/{path}")
    if not make("tests"):
        sys.exit("mutants: the copy of the tree in build/mutants cannot be built")


def enter_namespaces():
    """For root: go on in namespaces, as process 1, where little can be written."""
    if os.getuid() != 0 or "MUTANTS_INSIDE" in os.environ:
        return
    os.environ["MUTANTS_INSIDE"] = "1"
    go_cache = subprocess.run("go env GOCACHE || echo /nonexistent", shell=True, text=True,
                              capture_output=True).stdout.strip()
    script = f"""
        set -e
        mount --make-rprivate /
        mount --bind '{home}' '{home}'
        mount -o remount,bind,ro /
        for d in $(awk '$3 !~ /^(proc|sysfs|tmpfs|devpts|mqueue|cgroup2?)$/ {{ print $2 }}' \\
                /proc/mounts); do
            test "$d" = '{home}' || mount -o remount,bind,ro "$d" 2>/dev/null || :
        done
        mount -t tmpfs -o mode=1777 tmpfs /tmp
        mount -t tmpfs -o mode=1777 tmpfs /var/tmp
        if test -d '{go_cache}'; then
            mkdir /var/tmp/upper /var/tmp/work
            upper=upperdir=/var/tmp/upper,workdir=/var/tmp/work
            mount -t overlay -o "lowerdir={go_cache},$upper" overlay '{go_cache}' || :
        fi
        exec "$@"
    """
    os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                          "sh", "-c", script, "sh", sys.executable, *sys.argv])


# Tests

def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def clean_up():
    """Remove what tests left, and reap what they orphaned."""
    for path in glob.glob("/tmp/*") if "MUTANTS_INSIDE" in os.environ else []:
        if os.path.basename(path) != "once":
            shutil.rmtree(path, ignore_errors=True)
            if os.path.lexists(path) and not os.path.isdir(path):
                os.unlink(path)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def run(test, wanted=None):
    """
    Run TEST in the copy until a check fails, or WANTED has passed.  Return the sentence of the
    check that failed, or how the test ended; None: all is well.
    """
    once = "/tmp/once" if "MUTANTS_INSIDE" in os.environ else home + "/tmp/once"
    os.makedirs(once, exist_ok=True)
    env = dict(os.environ, BIN=tree + "/build/release/bin", HELP=tree + "/build/release/tests/bin",
               SHARED=recordings, KIND="release", ONCE=once, PATIENCE="90")
    command = [f"{tree}/build/release/tests/bin/confine", "-t", str(LIMIT)]
    command += ["sh", "./" + test] if test.endswith(".sh") else ["./" + test]
    child = subprocess.Popen(command, cwd=tree, env=env, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors="replace",
                             preexec_fn=limits)
    failed, is_skipped, is_over = None, False, False
    for line in child.stdout:
        m = re.match(r"(not )?ok \d+ - (.*?)( # SKIP.*)?$", line)
        if m and (m.group(1) or m.group(2) == wanted):
            failed, is_skipped, is_over = m.group(2) if m.group(1) else None, m.group(3), True
            break
    if is_over:
        child.terminate()
    child.stdout.close()
    status = child.wait()
    clean_up()
    if is_over:
        return "skipped" if is_skipped else failed
    return None if status == 0 else f"it ended with {status}"


def programs_of(test):
    """Return the targets of all programs with the library that TEST may run."""
    if not test.endswith(".sh"):
        return [test]
    text = read(f"{tree}/{test}")
    for name in sorted(set(re.findall(r"\btests/([\w-]+(?:\.\w+)?)", text))):
        if os.path.isfile(f"{tree}/tests/{name}") and name != "lib.sh":
            text += read(f"{tree}/tests/{name}")
    tools = {os.path.basename(path)[:-2] for path in glob.glob(f"{tree}/cmd/*.c")}
    named = {tool for tool in tools if re.search(rf"\b{tool}\b", text)}
    # All other tools start some of these, if their input is not a profile.
    if named - {"pmu-" + name for name in
                ("sample", "symbolize", "stream", "topprof", "unwind", "events")}:
        named = tools
    found = ["build/release/bin/" + tool for tool in sorted(named)]
    if "$BIN/pmukit" in text:
        found.append("build/release/bin/pmukit")
    for path in sorted(glob.glob(f"{tree}/build/release/tests/bin/*.d")):
        name = os.path.basename(path)[:-2]
        if re.search(rf"\b{name}\b", text) and " lib/" in read(path):
            found.append("build/release/tests/bin/" + name)
    return found + (["short-ways"] if "/build/long/" in text else [])


def link(test):
    """Link what TEST runs.  Return whether that worked."""
    done = make("-k", *programs_of(test))
    for path in glob.glob(f"{tree}/build/long/bin/*"):	# it must not look older than the other
        os.utime(path)
    return done


def passes_without(mutant, test, sentence, whole, broken):
    """Return whether TEST passes, as far as its check SENTENCE, without the break."""
    write(f"{tree}/{mutant[0]}", whole)
    link(test)
    failed = run(test, None if sentence.startswith("it ended") else sentence)
    write(f"{tree}/{mutant[0]}", broken)
    if failed:
        print(f"  {test}: '{sentence}' fails without a break, too: {failed}")
    return not failed


def try_break(mutant, tests, passes):
    """
    Make a break, run its tests, and take it back.  PASSES: what passed without a break.  Return
    what came of it.
    """
    path, number, _, to = mutant
    whole = read(f"{tree}/{path}")
    lines = whole.split("\n")
    lines[number] = to
    broken = "\n".join(lines)
    write(f"{tree}/{path}", broken)
    try:
        if not make(f"build/release/{path[:-len('.c')]}.o"):
            return "does not compile", ""
        for test in tests:
            if not link(test):
                return "does not compile", ""
            failed = run(test)
            if failed and (test, failed) not in passes:
                if not passes_without(mutant, test, failed, whole, broken):
                    continue
                passes.add((test, failed))
            if failed:
                return "killed", f"{os.path.basename(test)}: {failed}"
        return "survived", ""
    finally:
        write(f"{tree}/{path}", whole)


def diff_of(mutant):
    path, number, _, to = mutant
    before = read(f"{tree}/{path}").split("\n")
    after = before[:number] + [to] + before[number + 1:]
    return "\n".join(difflib.unified_diff(before, after, path, path, lineterm="", n=2))


def report(results, known):
    """Print the totals and the survivors.  Return whether enough were killed."""
    of = {}
    for mutant, (result, _) in results:
        if key_of(*mutant) in known and result == "survived":
            result = "without effect, by a reason"
        of.setdefault(result, []).append(mutant)
    for mutant in of.get("survived", []):
        print(diff_of(mutant))
    killed, survived = len(of.get("killed", [])), len(of.get("survived", []))
    print(f"seed {seed}: {len(results)} breaks, " +
          ", ".join(f"{len(all)} {result}" for result, all in sorted(of.items())))
    share = 100 * killed / (killed + survived or 1)
    print(f"{share:.0f} % of those that change a result were killed; the goal is {GOAL} %")
    return share >= GOAL


def main():
    global root
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check_table() else 1)
    for name in "MAKEFLAGS", "MFLAGS", "MAKELEVEL":
        os.environ.pop(name, None)	# of the make that started this
    if "MUTANTS_INSIDE" not in os.environ:
        prepare()
    enter_namespaces()
    os.environ["CCACHE_DISABLE"] = "1"
    root = tree		# which stays as it is, while somebody works on the other
    log = f"{home}/results-{seed}"
    kept = json.loads(read(log)) if os.path.exists(log) else {}
    rows, units, known, results, passes = table(), unit_tests(), reasons(), [], set()
    for mutant in draw():
        tests = tests_of(mutant[0], rows, units)
        key = hashlib.sha256(repr((key_of(*mutant), tests)).encode()).hexdigest()[:16]
        start = time.time()
        if key not in kept or (os.environ.get("AGAIN") and kept[key][0] == "survived"):
            kept[key] = try_break(mutant, tests, passes)
            write(log, json.dumps(kept))
        result = kept[key]
        results.append((mutant, result))
        print(f"{len(results)}: {mutant[0]}:{mutant[1] + 1}: {' by '.join(filter(None, result))}"
              f" ({time.time() - start:.0f} s)", flush=True)
        if result[0] == "survived":
            print(f"\t- {mutant[2].strip()}\n\t+ {mutant[3].strip()}", flush=True)
    sys.exit(0 if report(results, known) else 1)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))	# process 1 has no default
main()
