# endurance.py START FILE... - judges the messages of the tools in t528-endurance.sh, in its scene.
# START is when that began, in seconds.  Each message must be of a kind that a busy machine may
# bring about, and what it says must be true, as far as the scene can tell.  Prints the others.
import os, re, sys

start, files = float(sys.argv[1]), sys.argv[2:]
scene = os.getcwd()
lines = [(file, line.rstrip("\n")) for file in files for line in open(file, errors="replace")]


def own(pattern):
    """The numbers that pmu-sample of the scene, not pmu-serve's, reports."""
    return [re.search(pattern, line).groups() for file, line in lines
            if file == "sampled" and re.search(pattern, line)]


counted = {e: (int(n), int(lost))
           for e, n, lost in own(r"^pmu-sample: ([a-z-]+): (\d+) counted in .* lost (\d+) samples$")}
totals = own(r"^pmu-sample: (\d+) samples in .*, (\d+) lost, throttled (\d+) times")
samples, lost, throttled = map(int, totals[0]) if totals else (0, 0, 0)


def gone(path):
    """The file of a program is not there now, or was changed since the start."""
    try:
        there = os.stat(path)
    except OSError:
        return True
    return max(there.st_ctime, there.st_mtime) >= start - 1


def is_ours(path):
    return path.startswith(scene + "/") or path == "/boxed"


def in_file(path, reason):
    """A message about the file at PATH: the scene's files are deleted, and names come again.
    Of other programs on this machine nothing is known but whether a file was changed."""
    if is_ours(path):
        return re.search("is gone|changed|another", reason) and not os.path.exists(path)
    return gone(path) or not re.search("damaged|overlaps|refers to the same bytes", reason)


def in_process(pid, reason):
    """A message about code that a compiler made in process PID: the scene's has a dump."""
    return pid in reason or "start it with" in reason


def unsampled(event, n, of):
    """The samples stand for less than was counted."""
    number = lambda text: float(text.split()[0]) * (1e9 if text.endswith(" s") else 1)
    return number(of) < 0.9 * number(n) and event in counted


def late(n):
    """A virtual machine may stop between a record's time and its writing, but not often."""
    return int(n) <= max(100, samples // 10)


anything = lambda *words: True
# Of pmu-serve's pipe the totals come last, when nobody reads its messages any more.
kinds = {
    "pmu-sample": [
        (r"([a-z-]+): \d+ counted in [\d.]+ s, lost \d+ samples$", anything),
        (r"(\d+) of (\d+) samples were lost: ",
         lambda n, all: int(n) == lost > 0 and int(all) == samples + lost),
        (r"(\d+) records of mappings, names and processes were lost: ", lambda n: int(n) > 0),
        (r"'([a-z-]+)': (.*) counted, but samples stand for (.*?): ", unsampled),
        (r"throttled (\d+) times: ", lambda n: int(n) == throttled > 0),
        (r"\d+ samples in [\d.]+ s \(\d+/s\), \d+ lost, throttled \d+ times, \d+ bytes$", anything),
        (r"(\d+) samples had the ID of another session's event", lambda n: int(n) <= samples),
        (r"0 threads, \d+ event fds; sampling took ", anything),
        (r"0 threads on \d+ CPUs take \d+ descriptors, ", anything),
        (r"process (\d+): labels of .* are not known to this program", anything),
        (r"rings have \d+ KiB, not \d+: ", anything),
    ],
    "pmu-symbolize": [
        (r"no names from '(.*)': (.*)$", in_file),
        (r"'(/.*?)'(.*)$", in_file),
        (r"names of inlined calls in '(.*?)' are missing(.*)$", in_file),
        (r"no names of code that .* compiled in process (\d+): (.*)$", in_process),
        (r"process \d+ runs Python, whose functions have no names", anything),
        (r"[\d.]+ % of the stacks lack callers", anything),
        (r"more than \d+ files are mapped, or they take more than", anything),
        (r"more than \d+ threads have no recorded end", lambda: any("were lost" in l for _, l in lines)),
        (r"kernel addresses stay without names: ", anything),
        (r"(\d+) records came later than their round allows", late),
        (r"\d+ samples, \d+ distinct frames, ", anything),
    ],
    "pmu-topprof": [
        (r"(\d+) samples, \d+ distinct stacks, (\d+) lost,",
         lambda n, l: int(n) == samples and int(l) == lost),
        (r"(\d+) samples, \d+ distinct stacks, ", lambda n: int(n) == samples and lost == 0),
        (r"(\d+) files$", lambda n: int(n) == len(os.listdir("profiles"))),
        (r"\d+ stacks of programs", anything),
        (r"(\d+) records came later than their round allows", late),
    ],
}


def is_true(file, line):
    line = re.sub(r"^pmu-serve: --keep: ", "", line)
    tool, _, text = line.partition(": ")
    more = re.match(r"\d+ more(?: within an hour)? like this: (.*?)(?:\.\.\.)?$", text)
    if more:	# the start of the first one, which was printed
        return any(more[1] in l for f, l in lines if f == file and not l.endswith(more[0]))
    for pattern, judge in kinds.get(tool, []):
        found = re.match(pattern, text)
        if found:
            return judge(*found.groups())
    return False


wrong = [(file, line) for file, line in lines if not is_true(file, line)]
for file, line in wrong:
    print(file + ":", line)
sys.exit(len(wrong) > 0)
