# SPDX-License-Identifier: Apache-2.0
"""benches.py [NAME UNIT] - read stdin by Go's benchmark data format, as strictly as benchstat does.

A line that starts with "Benchmark" must be a result: a name, a number of iterations, and pairs of a
value and a unit.  A line "key: value", where the key starts with a lower-case letter and has neither
spaces nor upper case, is configuration.  All others are ignored.  Exit 1: a line is wrong.

Without arguments, prints the names of all results; with NAME and UNIT, that value of each result.
"""
import re
import sys

status = 0
for line in sys.stdin.buffer.read().decode("utf-8").split("\n"):
    if not line.startswith("Benchmark"):
        continue
    fields = line.split()
    try:
        if len(fields) < 4 or len(fields) % 2:
            raise ValueError("an odd number of fields, or fewer than four")
        if not re.fullmatch("[0-9]+", fields[1]) or int(fields[1]) < 1:
            raise ValueError("the number of iterations")
        values = {unit: float(value) for value, unit in zip(fields[2::2], fields[3::2])}
        if len(values) != len(fields) // 2 - 1:
            raise ValueError("a unit comes twice")
    except ValueError as error:
        print(f"{line!r}: {error}", file=sys.stderr)
        status = 1
        continue
    if len(sys.argv) == 1:
        print(fields[0])
    elif fields[0] == sys.argv[1] and sys.argv[2] in values:
        print(values[sys.argv[2]])
sys.exit(status)
