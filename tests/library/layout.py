# SPDX-License-Identifier: Apache-2.0
"""layout.py HEADER: print a C program that prints what binary programs know of this header.

That is the size of each structure, the offset and size of each member, the value of each
enumerator, and the type of each function.
"""
import re
import sys

text = open(sys.argv[1]).read()
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
text = re.sub(r"^\s*#.*$", "", text, flags=re.M)

print('#include <pmukit.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{')
for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.S | re.M):
    print(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
    for declaration in body.split(";"):
        if "(" in declaration:
            sys.exit(f"struct {name}: a member of a type that this script does not know")
        for one in declaration.split(","):
            member = re.search(r"(\w+)\s*(\[\w+\])?\s*$", one)
            if not member:
                continue
            place = f"((struct {name} *)0)->{member[1]}"
            print(f'printf("\\t{member[1]} %zu %zu\\n", offsetof(struct {name}, {member[1]}), '
                  f'sizeof({place}));')
for name, body in re.findall(r"^enum (\w+) \{(.*?)\}", text, re.S | re.M):
    print(f'printf("enum {name} %zu\\n", sizeof(enum {name}));')
    for enumerator in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip()):
        print(f'printf("\\t{enumerator} %d\\n", {enumerator});')
declarations = re.sub(r"^(struct|enum) \w+ \{.*?^\}\s*;|^enum \w+ \{[^}]*\};", "", text,
                      flags=re.S | re.M)
for declaration in re.findall(r"^[a-z][^;{}]*\([^;{}]*\);", declarations, re.S | re.M):
    words = re.sub(r"\s+", " ", declaration)
    print(f'puts("{words}");')
print("return 0;\n}")
