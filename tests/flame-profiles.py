"""Profiles for the tests of pmu-flame.

    flame-profiles.py KIND [NUMBER...]    a profile of this kind, to stdout
"""
import sys

from profiles import (COMM, COUNT, FIRST, MAIN, SAMPLES, bytes_of, function, label, location,
                      mapping, number, profile, sample)

FRAGMENTS = (b"</script><script>window.owned=1</script>", b"<img src=x onerror=window.owned=2>",
             b"\xff\xfe(", b"a\0b\x1b[31m", "\u202eevil".encode(), b"A<" * 5000, b"__proto__",
             b"constructor", b"toString", b"\"'&", b"<!--<script>", "\u2028x".encode(),
             b"\\u003c", b"@DATA@", b"", b"all", b"\n\t;", b"(")


def value_type(name, unit):
    return bytes_of(1, number(1, name) + number(2, unit))


def lines(*calls):
    """Of a location: (function, line), the innermost call first."""
    return b"".join(bytes_of(4, number(1, f) + number(2, n)) for f, n in calls)


def hostile():
    """Names of functions, files, objects, labels and comments that would like to be more."""
    n = len(FRAGMENTS)
    parts = [mapping(1, FIRST)]
    for i in range(n):
        parts += [function(i + 1, FIRST + i, number(4, FIRST + i)), location(i + 1, [i + 1], 1),
                  sample(range(i + 1, 0, -1), [i + 1], label(FIRST, FIRST + i)),
                  number(13, FIRST + i)]
    return profile(parts, FRAGMENTS)


def two():
    """Two events, with recursion, an inlined call, a library and labels."""
    cpu, ns, cycles, work, helper, rec, file, library = range(FIRST, FIRST + 8)
    parts = [value_type(cpu, ns), value_type(cycles, COUNT), mapping(1, MAIN), mapping(2, library)]
    parts += [function(i, name, number(4, file))
              for i, name in ((1, MAIN), (2, work), (3, helper), (4, rec))]
    parts += [location(1, (), 1, 16, lines((1, 3))),
              location(2, (), 1, 32, lines((3, 7), (2, 5))),
              location(3, (), 1, 48, lines((4, 9))), location(4, (), 2, 64, lines((4, 10)))]
    for stack, value, count, comm in (([2, 1], 700, 50, MAIN), ([3, 4, 3, 1], 200, 80, MAIN),
                                      ([1], 90, 4, work), ([3, 1], 10, 1, work)):
        parts.append(sample(stack, [value // 10, value, count], label(COMM, comm)))
    return profile(parts, [b"cpu", b"nanoseconds", b"cycles", b"work<int>", b"help", b"rec",
                           b"/src/a.c", b"/lib/x.so"])


def times():
    """Two events over 4.5 s, in two phases: program, library, kernel, recursion, labels."""
    cpu, ns, cycles, file, library, kernel, time, parse, copy, poll, rec, inner, note = \
        range(FIRST, FIRST + 13)
    parts = [value_type(cpu, ns), value_type(cycles, COUNT), number(13, note), mapping(1, MAIN),
             mapping(2, library), mapping(3, kernel)]
    parts += [function(i, name, number(4, file)) for i, name in
              enumerate((MAIN, parse, copy, poll, rec, inner), 1)]
    parts += [location(i, (), of, 16 * i, lines(*calls)) for i, of, calls in
              ((1, 1, [(1, 3)]), (2, 1, [(6, 7), (2, 5)]), (3, 2, [(3, 9)]), (4, 3, [(4, 10)]),
               (5, 1, [(5, 11)]))]
    stacks = [[2, 1], [3, 2, 1], [4, 3, 2, 1], [5, 5, 5, 1], [3, 5, 1], [1]]
    for i in range(900):
        stack = stacks[i * i % 11 % 6] if i < 450 else stacks[i % 3]
        when = bytes_of(3, number(1, time) + number(3, 10**15 + 5 * i * 10**6))
        parts.append(sample(stack, [1, 10**6, 1000 + i % 7],
                            label(COMM, MAIN if i % 2 else copy) + when))
    parts.append(sample([1], [3, 3 * 10**6, 3000]))     # one without a time
    return profile(parts, [b"cpu", b"nanoseconds", b"cycles", b"/src/a.c", b"/lib/x.so",
                           b"[kernel.kallsyms]", b"timestamp_ns",
                           b"ns::parse<std::pair<int, int>>(char const*)", b"memcpy",
                           b"do_sys_poll", b"rec", b"inner", b"a comment"])


def waits():
    """As pmu-prof --waits makes it: what ran, and three sides of ten contentions.  A sample
    and a contention were lost.  Stacks of causes are deep, but for the lock "small"."""
    names, samples, made = [], [], {}

    def text(name):
        if name not in names:
            names.append(name)
        return FIRST + names.index(name)

    def place(name, kernel):
        if name not in made:
            made[name] = len(made) + 1
            of = 3 if name == "[lost]" else 2 if kernel else 1
            parts.extend((function(made[name], text(name)),
                          location(made[name], [made[name]], of, 16 * made[name])))
        return made[name]

    def add(side, count, milliseconds, stack, *more):
        """STACK: leaf first; "/": the following is of the kernel, "|": of the program."""
        kernel, ids = False, []
        for name in stack.split():
            kernel = name == "/" or name != "|" and kernel
            if name not in "/|":
                ids.append(place(name.replace("_", " ") if name[0] == "[" else name, kernel))
        values = [0] * 8
        values[2 * side:2 * side + 2] = count, milliseconds * 10**6
        when = bytes_of(3, number(1, text("slice")) + number(3, 1 + len(samples) % 9))
        run = label(text("run"), text("r1"))
        samples.append(sample(ids, values, b"".join((when, run, *more))))

    types = [("%s_samples" % side, "count", side, "nanoseconds")
             for side in ("cpu", "block", "mutex", "causes")]
    parts = [value_type(text(t[i]), text(t[i + 1])) for t in types for i in (0, 2)]
    parts += [mapping(1, MAIN), mapping(2, text("[kernel.kallsyms]")), mapping(3, text("[lost]")),
              number(10, 10**9), number(14, text("mutex"))]
    for side, count in (("cpu", 3), ("block", 10), ("mutex", 10), ("causes", 10)):
        parts.append(number(13, text(
            "figures: samples=%d squares=0 lost=1 enabled=0 running=0 complete=%d group=0 run=r1 "
            "count=%s_samples value=%s" % (count, side != "cpu", side, side))))
    waiting = "/ schedule futex_wait __x64_sys_futex | take "
    ends = "/ try_to_wake_up futex_wake __x64_sys_futex | give hold main"
    deep = " ".join("deep%d" % i for i in range(80)) + " main"
    add(0, 3, 3, "spin main")
    for side, stack in ((1, waiting + "request main"), (2, ends)):
        add(side, 10, 50, stack)
    add(3, 7, 40, "/ schedule __x64_sys_clock_nanosleep | nap hold main [which_waited_in] " + ends +
        " [waits_for] " + waiting + deep)
    add(3, 0, 6, ends + " [waits_for] " + waiting + deep)
    add(3, 3, 4, ends + " [waits_for] " + waiting + "main", label(text("lock"), text("small")))
    for side in (1, 2, 3):
        add(side, 0, 2, "[scheduler] " + waiting + "request main")
    add(0, 1, 1, "[lost]")
    return profile(parts + samples, [name.encode() for name in names], types=0)


def counts(*samples):
    """So many samples of "more", "less" and "gone"."""
    parts = [value_type(FIRST, FIRST + 1)]
    for i, n in enumerate(samples, 1):
        parts += [function(i, FIRST + 1 + i), location(i, [i])]
        parts += [sample([i], [n, n * 1000])] if n else []
    return profile(parts, [b"cpu", b"nanoseconds", b"more", b"less", b"gone"])


def twins():
    """Two functions with one name, in two objects."""
    parts = [mapping(1, MAIN), mapping(2, FIRST + 1), function(1, FIRST), function(2, FIRST),
             location(1, [1], 1), location(2, [2], 2), sample([2, 1], [1])]
    return profile(parts, [b"twin", b"/lib/x.so"])


def foreign():
    """Bytes, of a number of samples that nobody knows."""
    parts = [value_type(FIRST, FIRST + 1), function(1, MAIN), location(1, [1]), sample([1], [7])]
    return profile(parts, [b"space", b"bytes"], types=0)


def empty():
    return profile([])


if __name__ == "__main__":
    made = globals()[sys.argv[1]](*map(int, sys.argv[2:]))
    sys.stdout.buffer.write(made)
