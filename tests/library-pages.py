"""The pages of section 3 and include/pmukit.h.

library-pages.py compare HEADER PAGE...   print what one of them has and the other has not: a
                                          prototype, a member of a structure, a name
library-pages.py examples DIRECTORY PAGE...   write the programs and functions of EXAMPLES, each
                                          to a file PAGE-NUMBER.c
"""

import os
import re
import sys


def squeeze(text):
    """A declaration without comments, and with one space where there may be several."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"\s*([*(),;{}])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def header_declarations(path):
    with open(path) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    words = set(re.findall(r"\bPMUKIT_[A-Z_]+\b", text)) - {"PMUKIT_H"}
    text = re.sub(r"(?m)^#.*$", "", text)
    functions = {m[1]: squeeze(m[0])
                 for m in re.finditer(r"(?m)^(?!typedef)[a-z].*?\b(pmukit_\w+)\([^;]*\);", text)}
    structures = {m[1]: squeeze(m[0])
                  for m in re.finditer(r"(?m)^struct (\w+) \{.*?\n\};", text, flags=re.S)}
    types = {m[1]: squeeze(m[0]) for m in re.finditer(r"(?m)^typedef .*?(\w+)\([^;]*\);", text)}
    return {**functions, **structures, **types}, words


def arguments(line):
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', line)]


def page_declarations(path):
    """Prototypes of its SYNOPSIS, and the structures and types in its displays."""
    with open(path) as file:
        lines = file.read().split("\n")
    found, named, result, call = {}, set(), "", None
    for line in lines:
        macro, _, rest = line.partition(" ")
        if macro == ".Ft":
            result = rest.strip('"')
        elif macro == ".Nm" and rest.startswith("pmukit_"):
            named.add(rest.removesuffix(" ,"))
        elif macro in (".Fn", ".Fo") and result:
            name, *call = arguments(rest)
        elif macro == ".Fa" and call is not None:
            call += arguments(rest)
        if result and (macro in (".Fn", ".Fc")):
            found[name] = squeeze(f"{result} {name}({', '.join(call)});")
            result, call = "", None
    for display in re.findall(r"(?ms)^\.Bd -literal$(.*?)^\.Ed$", "\n".join(lines)):
        for m in re.finditer(r"(?ms)^struct (\w+) \{.*?^\};|^typedef .*?(\w+)\([^;]*\);", display):
            found[m[1] or m[2]] = squeeze(m[0])
    return found, named


def compare(header, pages):
    declared, words = header_declarations(header)
    documented, text = {}, ""
    for page in pages:
        found, named = page_declarations(page)
        functions = {name for name, what in found.items() if not what.startswith(("st", "typ"))
                     or what.endswith(");") and not what.startswith("typ")}
        for name in sorted(functions ^ {name for name in named if name + "(" in str(declared)}):
            print(f"{page}: {name} is in NAME or in SYNOPSIS, not in both")
        for name, what in found.items():
            if name in documented:
                print(f"{page}: {name} is on another page, too")
            documented[name] = what
        with open(page) as file:
            text += file.read()
    for name in sorted(declared.keys() | documented.keys()):
        ours, theirs = declared.get(name), documented.get(name)
        if ours != theirs:
            print(f"{name}:\n  header: {ours}\n  page:   {theirs}")
    for word in sorted(words ^ set(re.findall(r"(?m)^\.(?:It )?Dv (PMUKIT_\w+)", text))):
        print(f"{word} is in the header or in the pages, not in both")


def examples(directory, pages):
    for page in pages:
        with open(page) as file:
            text = file.read()
        section = re.search(r"(?ms)^\.Sh EXAMPLES$(.*?)(?=^\.Sh )", text)
        displays = re.findall(r"(?ms)^\.Bd -literal -offset indent$\n(.*?)^\.Ed$",
                              section[1] if section else "")
        for number, display in enumerate(displays):
            name = os.path.basename(page).removesuffix(".3")
            with open(f"{directory}/{name}-{number}.c", "w") as file:
                file.write(display.replace("\\e", "\\").replace("\\&", ""))


if sys.argv[1] == "compare":
    compare(sys.argv[2], sys.argv[3:])
else:
    examples(sys.argv[2], sys.argv[3:])
