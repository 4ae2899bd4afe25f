#!/usr/bin/env python3
"""visits.py - counts the files that a reader visits on the way from an address to a name.

    visits.py FOLDER    prints each visit, then "VISITS FILES UP"; FOLDER has lib/ and the Makefile

The way starts at resolve() in the module resolve, and ends where names come from: at the functions
in NAMES.  A function is on the way if resolve() calls it, directly or not, and if it calls one of
NAMES, directly or not.  A visit is a call, in a function on the way, to a function of another file.
The callee may be the next function on the way, or a helper; what helpers call is not counted.
A header and the .c file of the same name are one file.  Calls to base are not counted, because
each file makes them.

The reader enters each function on the way once, and follows its calls in the order of the text.
The files of a module stand in the order in which this reader first comes to them.  The modules
stand in the order that is the reverse of MODULES in the Makefile: resolve comes long before elf.
A visit goes up if it leads to a file that stands before the caller's file.

The script reads only the text of lib/, and relies on its style: a definition starts in the first
column, and its body stands between the lines "{" and "}".  Calls by a pointer are not seen.
"""
import glob
import os
import re
import sys

START = "resolve"
NAMES = ("dwarf_find", "gotable_find", "elf_symbol", "kallsyms_find", "jitmap_find",
         "recorded_names_find", "index_find")
NOT_CODE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\])+'", re.S)
DEFINITION = re.compile(r"^([a-z][^;{}#]*?)\n\{\n(.*?)^\}", re.S | re.M)
CALL = re.compile(r"\b([a-z_]\w*)\(")


class Function:
    def __init__(self, file, name, body):
        self.file, self.name, self.called = file, name, CALL.findall(body)
        self.module = file.split("/")[0]


def read_functions(folder):
    """Return the functions of lib/ by (file, name), and those that other files may call by name."""
    own, shared = {}, {}
    for path in sorted(glob.glob(folder + "/lib/*/*.[ch]")):
        with open(path, encoding="utf-8") as f:
            text = NOT_CODE.sub("", f.read())
        file, kind = os.path.splitext(os.path.relpath(path, folder + "/lib"))
        for head, body in DEFINITION.findall(text):
            name = CALL.search(head)
            if name:
                f = own[file, name[1]] = Function(file, name[1], body)
                if kind == ".h" or not head.startswith("static "):
                    shared[f.name] = f
    return own, shared


def calls_of(own, shared, start):
    """Return the calls of START and of all functions that it calls, directly or not, to NAMES."""
    calls, left = {}, [start]
    while left:
        f = left.pop()
        if f not in calls:
            found = (own.get((f.file, name)) or shared.get(name) for name in f.called)
            calls[f] = [c for c in found if c and c is not f and c.module != "base"]
            calls[f] = [] if f.name in NAMES else calls[f]
            left += calls[f]
    return calls


def leading_to_names(calls):
    on_way, size = {f for f in calls if f.name in NAMES}, 0
    while size != len(on_way):
        size = len(on_way)
        on_way |= {f for f in calls if on_way & set(calls[f])}
    return on_way


def read(calls, on_way, f, files, visits, entered):
    """Add the files that the reader of F comes to, and the visits (CALLER, CALLEE)."""
    entered.add(f)
    for c in calls[f]:
        if c.file not in files:
            files.append(c.file)
        if c.file != f.file:
            visits.append((f, c))
        if c in on_way and c not in entered:
            read(calls, on_way, c, files, visits, entered)


def main():
    folder = sys.argv[1]
    own, shared = read_functions(folder)
    start = [f for f in own.values() if f.name == START and f.module == "resolve"]
    missing = [n for n in NAMES if n not in shared] + [START] * (len(start) != 1)
    if missing:
        sys.exit("visits.py: functions not found, or found twice: " + " ".join(missing))
    with open(folder + "/Makefile", encoding="utf-8") as f:
        modules = re.search(r"^MODULES *= *((?:.*\\\n)*.*)$", f.read(), re.M)[1].split()
    calls = calls_of(own, shared, start[0])
    files, visits = [start[0].file], []
    read(calls, leading_to_names(calls), start[0], files, visits, set())

    def stands_at(f):
        return -modules.index(f.module), files.index(f.file)

    ups = 0
    for caller, callee in visits:
        is_up = stands_at(callee) < stands_at(caller)
        ups += is_up
        print(f"{caller.file}:{caller.name}", "up to" if is_up else "to",
              f"{callee.file}:{callee.name}")
    print(len(visits), len(files), ups)


main()
