"""From names, one a line, make lines of columns and damaged names, the same each time."""
import random
import sys

PIECES = ["<", ">", "(", ")", "[", "]", "{", "}", "::", ".", "/", " ", "operator", "operator<", "->",
          "std::", "__cxx11::", "basic_string<char", "std::allocator<", "const ", "é", "x", "!",
          "::h0123456789abcdef", "caml", ".so", "&", ",", "func1"]
names = sorted({line.rstrip("\n") for line in sys.stdin})
random.seed(7)
for _ in range(6000):
    name = random.choice(names)
    for _ in range(random.randint(0, 6)):
        at = random.randint(0, len(name))
        if random.random() < 0.5:
            name = name[:at] + name[at + random.randint(0, 6):]
        else:
            name = name[:at] + random.choice(PIECES) + name[at:]
    print(random.choice([5, 10, 20, 30, 60]), name, sep="\t")
