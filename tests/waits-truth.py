"""
Compares profiles of waits with what the program that waited knows, by its lines in TRUTH (see
tests/bin/waiting.h).

    waits-truth.py TRUTH BLOCK MUTEX [CAUSES]           profiles of pmu-topprof
    waits-truth.py --crowd TRUTH BLOCK MUTEX [CAUSES]   the same, of a lock with a crowd, for which
                                                        nobody holds it for much of the time: who
                                                        holds it next is charged that, too
    waits-truth.py TRUTH --oracle STREAM PROGRAM        the same, of the oracle
    waits-truth.py --compare STREAM PROGRAM BLOCK MUTEX NAME...
                                                        the profiles must be the oracle's, to the
                                                        nanosecond, by lock and by function; of
                                                        those with these names, apart from others
    waits-truth.py --last-waker FROM-TO TRUTH BLOCK MUTEX
                                                        all waits are due to the last waker alone,
                                                        so FROM to TO of them to the culprit; on a
                                                        busy machine threads spin for most of it
    waits-truth.py --last STREAM PROGRAM                of each lock and function of convoy, which
                                                        share of the waits its wakes have ended
    waits-truth.py --span STREAM                        the ns that were recorded

    waits-truth.py --busy ...                           the first of these, on a busy machine: 90 %
                                                        is enough where 95 % must be, and 6 %
                                                        off where else 2 % may be
    waits-truth.py --only FILE ...                      of all that ran, only functions of FILE

Prints what it compares, and what is wrong; exits 1 if something is.

What must be right: each function has waited as long as it says, within 5 %, or 2 % if it knows that
several functions were to blame, or 10 ms, or 15 us a wait.  With several, each has caused what it
says, within 2 % or 10 ms, and one that has caused nothing less than 3 % of all, or the time in
which nobody held the lock.  With one, it has caused 95 % of all.  95 % of what was caused by a
function in a nap ends there.  The waits of each lock are exactly as long as what has caused them.
"""
import collections
import re
import sys

import delays
import waits_oracle

TEN_MS = 10 ** 7
ON_THE_WAY = 15000      # ns of each wait in which the thread runs, before and after
SCHEDULER, WAITS_FOR, WAITED_IN = "[scheduler]", "[waits for]", "[which waited in]"


def plain(name):
    """the name of a function without its module or class, and what a compiler adds"""
    java = re.match(r"\w+ (?:\w+\.)+(\w+)\(", name)
    if java:
        return java[1]
    return name.split("(")[0].split("::h")[0].split("::")[-1].split(".")[0]


class Truth:
    """what a program printed: {verb: {(lock, function): ns}}"""
    def __init__(self, path, only=None):
        self.only = only
        self.verbs = collections.defaultdict(dict)
        self.functions, self.kind = set(), None
        with open(path) as f:
            for words in map(str.split, f):
                if len(words) == 6 and words[0] == "truth":
                    _, verb, self.kind, lock, function, ns = words
                    self.verbs[verb][lock, function] = int(ns)
                    self.functions.add(function)
        assert self.verbs, "no truth in " + path

    def locks(self):
        return {lock for lock, _ in self.verbs["waited"]}


def lock_of(row, truth):
    """the lock of ROW as the truth names it; None: another"""
    name = str(row.labels.get("lock", "-")).split("+")[0]
    locks = truth.locks()
    return "-" if locks == {"-"} else name if name in locks else None


def function_of(row, truth):
    """the function of ROW nearest to the leaf that the truth knows, or None"""
    names = (plain(f[0]) for f in row.frames if truth.only in (None, f[1].split("/")[-1]))
    return next((n for n in names if n in truth.functions), None)


def rows_of(profile):
    """what was recorded; the time of what was lost is a guess"""
    return [row for row in delays.rows(profile) if row.frames[0][0] != "[lost]"]


def by_function(rows, truth, ready):
    """{(lock, function): ns}, of the time until a thread ran (READY), or of the rest"""
    sums = collections.Counter()
    for row in rows:
        if (row.frames[0][0] == SCHEDULER) == ready:
            sums[lock_of(row, truth), function_of(row, truth)] += row.ns
    return sums


class Judge:
    def __init__(self, is_crowd, is_busy):
        self.wrong, self.is_crowd, self.most = 0, is_crowd, 0.9 if is_busy else 0.95
        self.bar, self.is_busy = 0.06 if is_busy else 0.02, is_busy

    def check(self, right, text):
        print(("  " if right else "! ") + text)
        self.wrong += not right

    def near(self, what, got, want, share, least=TEN_MS):
        off = 100 * (got - want) / want if want else 0
        self.check(abs(got - want) <= max(share * want, least),
                   "%s %.4f s, truth %.4f s, %+.2f %%" % (what, got / 1e9, want / 1e9, off))

    def waited(self, truth, block):
        # of a wait for a disk, some is work
        usual = 0.1 if self.is_crowd else self.bar
        share = {0: 0.25, 1: max(0.05, usual)}.get(len(truth.verbs["caused"]), usual)
        sums = by_function(block, truth, False) + by_function(block, truth, True)
        counts = collections.Counter()
        for row in block:
            counts[lock_of(row, truth), function_of(row, truth)] += row.count
        for at, want in truth.verbs["waited"].items():
            self.near("%s waited for %s" % (at[1], at[0]), sums[at], want, share,
                      max(TEN_MS, counts[at] * ON_THE_WAY))

    def caused(self, truth, block, mutex):
        waited, caused = by_function(block, truth, False), by_function(mutex, truth, False)
        for (lock, function), want in truth.verbs["caused"].items():
            all = sum(ns for (l, f), ns in waited.items() if l == lock and f)
            got = caused[lock, function]
            unsure = truth.verbs["unsure"].get((lock, "-"), 0)
            # a thread that a timer woke is in no queue until it waits again, and an unlock
            # meanwhile wakes nobody, so that the next one is charged; on a busy machine, that is
            # often so
            is_vague = truth.kind in ("impatient", "interrupted")
            most = self.most if not is_vague else 0.2 if self.is_busy else 0.85
            if len(truth.verbs["caused"]) == 1:
                self.check(all and got >= most * all, "%s caused %.2f %% of %.4f s for %s" %
                           (function, 100 * got / (all or 1), all / 1e9, lock))
            elif (lock, function) in truth.verbs["napped"]:
                self.near("%s caused, of %s," % (function, lock), got, want, self.bar,
                          unsure if self.is_crowd else TEN_MS)
            else:
                most = max(0.03 * all, want + unsure)
                self.check(got <= most, "%s caused %.2f %% of %.4f s for %s, innocent" %
                           (function, 100 * got / all, all / 1e9, lock))

    def by_last_waker(self, shares, truth, block, mutex):
        least, most = map(float, shares.split("-"))
        # the JVM has mutexes of its own
        waits = [r for r in block if function_of(r, truth) == "waiter" and "lock" in r.labels and
                 "pthread_mutex_lock" not in dict(r.frames)]
        ns = sum(row.ns for row in waits)
        # Java asks again after a time: then there is no rule
        by_rule = sum(row.ns for row in waits if row.labels.get("rule", "") in ("last waker", ""))
        (_, want), = truth.verbs["waited"].items()
        self.check(0 < ns < 1.06 * want, "waits %.4f s, truth %.4f s" %
                   (ns / 1e9, want / 1e9))
        self.check(by_rule == ns, "%.4f s of them by the last waker" % (by_rule / 1e9))
        caused = by_function(mutex, truth, False)
        got = sum(ns for (_, function), ns in caused.items() if function == "culprit")
        all = got + sum(ns for (_, function), ns in caused.items() if function == "waiter")
        self.check(all and least * all <= got <= most * all, "culprit caused %.2f %%" %
                   (100 * got / (all or 1)))

    def napped(self, truth, causes):
        """what a function caused ends in its nap"""
        all, right = collections.Counter(), collections.Counter()
        for row in causes:
            names = [plain(name) for name, _ in reversed(row.frames)]
            if WAITS_FOR not in names:
                continue
            rest = names[names.index(WAITS_FOR) + 1:]
            end = rest.index(WAITED_IN) if WAITED_IN in rest else len(rest)
            holder = next((n for n in reversed(rest[:end]) if n in truth.functions), None)
            all[lock_of(row, truth), holder] += row.ns
            right[lock_of(row, truth), holder] += row.ns if "nap" in rest[end:] else 0
        for of in truth.verbs["napped"]:
            self.check(right[of] >= self.most * all[of] > 0, "of %s for %s, %.2f %% ends in nap" %
                       (of[1], of[0], 100 * right[of] / (all[of] or 1)))

    def sums(self, block, mutex):
        """the waits of each lock, and the same by what has caused them"""
        waited, caused = collections.Counter(), collections.Counter()
        for rows, sums in (block, waited), (mutex, caused):
            for row in rows:
                part = row.frames and row.frames[0][0] == SCHEDULER
                if row.labels.get("ended") not in ("unknown", "timer", "signal", "device"):
                    sums[row.labels.get("lock", "-"), part] += row.ns
        for key in sorted(waited.keys() | caused.keys()):
            if waited[key] != caused[key]:
                self.check(False, "sum of %s%s: block %d, mutex %d" % (
                    key[0], " " + SCHEDULER if key[1] else "", waited[key], caused[key]))
        self.check(True, "%d sums compared" % len(waited))


def oracle_rows(stream, programs, functions):
    """rows of block and of mutex, with the frames that matter"""
    sums = waits_oracle.Oracle(waits_oracle.Stream(stream), programs, functions).run().sums()
    block, mutex = [], []
    for (what, lock, function), (ns, count) in sums.items():
        labels = {"lock": lock} if lock != "-" else {}
        frames = [(function, "")]
        if what == "alone":
            block.append(delays.Row(dict(labels, ended="unknown"), frames, count, ns))
        elif what == "ready alone":
            block.append(delays.Row(dict(labels, ended="unknown"), [(SCHEDULER, "")] + frames,
                                    count, ns))
        elif what == "ready":
            for rows in block, mutex:
                rows.append(delays.Row(labels, [(SCHEDULER, "")] + frames, count, ns))
        elif what in ("block", "mutex"):
            (block if what == "block" else mutex).append(delays.Row(labels, frames, count, ns))
    return block, mutex


def totals(rows, wanted):
    """{(lock, function, what): ns}; a lock that is not WANTED by its name is an address"""
    sums = collections.Counter()
    for row in rows:
        names = [plain(name) for name, _ in row.frames]
        function = next((n for n in names if n in wanted), "?")
        lock = str(row.labels.get("lock", "-")).split("+")[0]
        lock = lock if lock == "-" or lock in wanted else "address"
        alone = row.labels.get("ended") in ("unknown", "timer", "signal", "device")
        what = (SCHEDULER if SCHEDULER in names else "") + ("alone" if alone else "")
        sums[lock, function, what] += row.ns
    return +sums


def compare(stream, program, block, mutex, *wanted):
    judge = Judge(False, False)
    oracle = oracle_rows(stream, [program], wanted)
    for name, theirs, ours in ("block", block, oracle[0]), ("mutex", mutex, oracle[1]):
        got, want = totals(rows_of(theirs), wanted), totals(ours, wanted)
        for key in sorted(got.keys() | want.keys()):
            # of programs whose names nm does not know, nobody can say what is idle
            if not wanted and "alone" in key[2]:
                continue
            judge.check(got[key] == want[key], "%s %s: %d, oracle %d" % (
                name, " ".join(filter(None, key)), got[key], want[key]))
    return judge.wrong


def last_wakers(stream, program):
    holders = ("hold_flush", "hold_index", "hold_stats", "request")
    sums = waits_oracle.Oracle(waits_oracle.Stream(stream), [program], holders).run().sums()
    last = {key[1:]: ns for key, (ns, _) in sums.items() if key[0] == "last"}
    for (lock, function), ns in last.items():
        print("last", lock, function, 100 * ns / sum(v for k, v in last.items() if k[0] == lock))


def main(arguments):
    if arguments[0] == "--last":
        return last_wakers(*arguments[1:])
    if arguments[0] == "--span":
        print(waits_oracle.Stream(arguments[1]).span())
        return 0
    if arguments[0] == "--compare":
        return compare(*arguments[1:])
    options = {"--crowd": False, "--busy": False, "--only": None, "--last-waker": None}
    while arguments[0] in options:
        option = arguments.pop(0)
        options[option] = True if options[option] is False else arguments.pop(0)
    judge = Judge(options["--crowd"], options["--busy"])
    truth, causes = Truth(arguments[0], options["--only"]), None
    if arguments[1] == "--oracle":
        block, mutex = oracle_rows(arguments[2], arguments[3:], truth.functions)
    else:
        block, mutex = map(rows_of, arguments[1:3])
        causes = rows_of(arguments[3]) if arguments[3:] else None
    print(truth.kind + ":")
    if options["--last-waker"]:
        judge.by_last_waker(options["--last-waker"], truth, block, mutex)
        judge.sums(block, mutex)
        return judge.wrong
    judge.waited(truth, block)
    if truth.verbs["caused"]:
        judge.caused(truth, block, mutex)
    if causes is not None and truth.verbs["napped"]:
        judge.napped(truth, causes)
    judge.sums(block, mutex)
    return judge.wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
