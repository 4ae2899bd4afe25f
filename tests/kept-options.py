"""kept-options.py KEPT GONE VERSION [BIN] - print which options of a release are not there any more.

KEPT has the --help of each tool of the release, as KEPT/TOOL; BIN, the tools of now (else in PATH), of
VERSION.  An option, its letter, and the forms in which its argument may be given stay.  One that is
gone needs a line in the file GONE:

    TOOL --OPTION VERSION WORDS		in that VERSION it works, with a note that has the WORDS;
					later it is refused, with the same words

Each word of a list of values, as in "text, json (text)", is an option in this sense: --to=csv.
"""
import os
import re
import subprocess
import sys

ROW = re.compile(r"  (?:-(.),|   ) --([a-z-]+)(\[=[^\]]*\]|=\S+)?(?: (.*))?$")
WORDS = re.compile(r": ([a-z0-9-]+(?:, [a-z0-9-]+)+)(?: \(|$|;| and|\.)")


def options(text):
    """What can be typed: {"--to": (letter, form)}, {"--to=csv": ...}; form: none, may or must."""
    found = {}
    for line in text.splitlines():
        row = ROW.match(line)
        if not row:
            continue
        letter, name, argument, words = row.groups()
        form = "none" if not argument else "may" if argument[0] == "[" else "must"
        found["--" + name] = (letter, form)
        listed = WORDS.search(words or "") if argument else None
        for word in listed[1].split(", ") if listed else []:
            found[f"--{name}={word}"] = (None, "none")
    return found


def stays(old, new):
    letter, form = old
    return new and letter in (None, new[0]) and (new[1] in (form, "may"))


def number(version):
    return [int(part) for part in version.split(".")]


def says(tool, option, words, is_gone):
    """Whether the tool takes an option that goes, or refuses one that is gone, with the words."""
    ran = subprocess.run([tool, option, "--version"], capture_output=True, text=True, check=False)
    return words in ran.stderr and ran.returncode == (2 if is_gone else 0)


def main():
    kept, gone, version = sys.argv[1:4]
    directory = sys.argv[4] + "/" if len(sys.argv) > 4 else ""
    with open(gone, encoding="utf-8") as file:
        lines = [line.split(None, 3) for line in file if line.strip() and line[0] != "#"]
    known = {(tool, option): (since, words.strip()) for tool, option, since, words in lines}
    wrong = []
    for name in sorted(os.listdir(kept)):
        tool = directory + name
        try:
            now = options(subprocess.run([tool, "--help"], capture_output=True, text=True,
                                         check=True).stdout)
        except (OSError, subprocess.CalledProcessError):
            wrong.append(f"{name}: there is no such tool")
            continue
        with open(os.path.join(kept, name), encoding="utf-8") as file:
            old = options(file.read())
        for option, form in old.items():
            if stays(form, now.get(option)):
                continue
            since, words = known.get((name, option), (None, None))
            if since is None:
                wrong.append(f"{name}: {option} was {form}, and is {now.get(option)}")
            elif not says(tool, option, words, number(version) > number(since)):
                wrong.append(f"{name}: {option} does not say '{words}' as {gone} promises")
    print("\n".join(wrong))
    return 3 if wrong else 0  # 1 is a fault of this program


sys.exit(main())
