"""members.py - the members of a program's variables, as gdb reads their types.

gdb -nx -batch -x members.py PROGRAM, with these in the environment:
MEMBERS_OUT     file to write: for each offset in each variable, VARIABLE OFFSET MEMBER,
                the numbers in hexadecimal
MEMBERS_MOST    offsets of a variable to write at most, spread over it (64)

The rules are those of pmu-data(1): arrays have no index; members of bases and of structures
without a name are those of the structure itself; of several members at an offset, all are
named, and the name ends there.
"""
import os
import subprocess

import gdb

STRUCTURES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
SHOWN = 3


class Unknown(Exception):
    pass


def size_of(kind):
    """None: an array without bounds, which ends with the variable."""
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY and kind.sizeof == 0 and kind.range() == (0, 0):
        return None
    return kind.sizeof


def flat(kind, base):
    """The members of a structure: name, start, size, type, whether it is a bit-field."""
    found = []
    for field in kind.fields():
        if not hasattr(field, "bitpos"):        # static
            continue
        if field.is_base_class and field.bitpos < 0:
            raise Unknown("virtual base")
        inner = field.type.strip_typedefs()
        start = base + field.bitpos // 8
        if (field.is_base_class or not field.name) and inner.code in STRUCTURES:
            found += flat(inner, start)
        elif field.bitsize:
            size = (field.bitpos % 8 + field.bitsize + 7) // 8
            found.append((field.name, start, size, field.type, True))
        elif field.name:
            found.append((field.name, start, size_of(field.type), field.type, False))
    return found


def member(kind, offset):
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        path = ""
        while kind.code == gdb.TYPE_CODE_ARRAY:
            path += "[]"
            kind = kind.target().strip_typedefs()
        return path + member(kind, offset % kind.sizeof) if kind.sizeof else path
    if kind.code not in STRUCTURES:
        return ""
    here = [m for m in flat(kind, 0)
            if offset >= m[1] and (m[2] is None or offset - m[1] < m[2])]
    if not here:
        if offset < kind.sizeof:
            return ".[padding]"
        raise Unknown("beyond the structure")
    if len(here) > 1 or here[0][4]:
        more = "|..." if len(here) > SHOWN else ""
        return "." + "|".join(m[0] for m in here[:SHOWN]) + more
    name, start, _, inner, _ = here[0]
    return "." + name + member(inner, offset - start)


def variables(path):
    """Address, size and name of each variable in the symbol table."""
    lines = subprocess.run(["nm", "-S", "-C", path], stdout=subprocess.PIPE, text=True).stdout
    for line in lines.splitlines():
        words = line.split(None, 3)
        if len(words) == 4 and words[2] in "bBdDrRuVG":
            yield int(words[0], 16), int(words[1], 16), words[3]


def find(name, address):
    for look_up in gdb.lookup_global_symbol, gdb.lookup_static_symbols:
        try:
            found = look_up(name) or []
            for symbol in found if isinstance(found, list) else [found]:
                if symbol.is_variable and int(symbol.value().address) == address:
                    return symbol.type
        except (gdb.error, TypeError):      # no such name; thread-local, or without an address
            pass
    return None


gdb.execute("set language c++")     # scopes in names; members of C are the same
most = int(os.environ.get("MEMBERS_MOST", "64"))
with open(os.environ["MEMBERS_OUT"], "w") as out:
    for at, size, name in variables(gdb.current_progspace().filename):
        kind = find(name, at)
        if kind is None:
            continue
        step = max(1, size // most)
        for offset in range(0, size, step):
            try:
                out.write("%x %x %s\n" % (at, offset, member(kind, offset)))
            except (Unknown, gdb.error) as why:
                out.write("%x %x ? %s %s\n" % (at, offset, name, why))
