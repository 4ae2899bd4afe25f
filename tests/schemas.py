"""schemas.py SCHEMAS [FILE...] - print what is wrong with the JSON in each FILE, by its schema.

FILE is TOOL.ANYTHING, and has JSON texts, one after the other; SCHEMAS is a directory with a
TOOL.json for each.  Each schema itself must be right, and closed: no object may have members that
it does not name.  Of objects in a list that have the same members, of the same types and with the
same words, one is checked: to check 100,000 events of a list would take a minute.
"""
import json
import os
import sys

import jsonschema


def is_closed(schema):
    """Every object of the schema says what its other members are: none, or of what type."""
    if isinstance(schema, list):
        return all(map(is_closed, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        return False
    if "properties" in schema and schema.get("additionalProperties") is not False:
        return False
    return all(map(is_closed, schema.values()))


def words_of(schema, found):
    """The members whose text the schema restricts."""
    if isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            if "string" not in str(member.get("type")) or "pattern" in member:
                found.add(name)
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            words_of(inner, found)
    return found


class Shapes:
    def __init__(self, words):
        self.words = words
        self.seen = {}

    def of(self, value, name=None):
        """What the schema can see of a value."""
        if isinstance(value, dict):
            return tuple((key, self.of(value[key], key)) for key in sorted(value))
        if isinstance(value, list):
            return tuple(sorted({self.of(inner, name) for inner in value}, key=repr))
        if isinstance(value, str):
            if name not in self.words:
                return "text"
            return "0x" if value[:2] == "0x" and value[2:].isalnum() else value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return type(value).__name__, value < 0
        return repr(value)

    def lean(self, value):
        """The value with one of its rows of each shape."""
        if isinstance(value, dict):
            return {key: self.lean(inner) for key, inner in value.items()}
        if not isinstance(value, list):
            return value
        return list({self.of(inner): inner for inner in value}.values())

    def is_new(self, value):
        shape = self.of(value)
        known = shape in self.seen
        self.seen[shape] = True
        return not known


def texts(path):
    """The JSON texts in a file, a line each or over several lines."""
    with open(path, encoding="utf-8") as file:
        all_ = file.read()
    decoder = json.JSONDecoder(parse_constant=lambda word: [][word])  # no NaN
    at = len(all_) - len(all_.lstrip())
    while at < len(all_):
        value, at = decoder.raw_decode(all_, at)
        yield value
        while at < len(all_) and all_[at].isspace():
            at += 1


class Judge:
    def __init__(self, directory):
        self.wrong, self.checked, self.tools = [], 0, {}
        self.base = f"file://{os.path.abspath(directory)}/"
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                schema = json.load(file)
            jsonschema.Draft7Validator.check_schema(schema)
            if not is_closed(schema):
                self.wrong.append(f"{name}: is not closed to unknown members")
            resolver = jsonschema.RefResolver(self.base, schema)
            self.tools[name.removesuffix(".json")] = (
                jsonschema.Draft7Validator(schema, resolver=resolver),
                Shapes(words_of(schema, set())))

    def look(self, path):
        validator, shapes = self.tools[os.path.basename(path).split(".")[0]]
        try:
            for value in texts(path):
                lean = shapes.lean(value)
                if not shapes.is_new(lean):
                    continue
                self.checked += 1
                error = jsonschema.exceptions.best_match(validator.iter_errors(lean))
                if error:
                    where = "/".join(map(str, error.absolute_path))
                    self.wrong.append(f"{path}: {where}: {error.message[:300]}")
        except (ValueError, TypeError) as error:
            self.wrong.append(f"{path}: not JSON: {error}")


def main():
    judge = Judge(sys.argv[1])
    for path in sys.argv[2:]:
        judge.look(path)
    print("\n".join(judge.wrong + [f"{judge.checked} shapes of {len(sys.argv) - 2} files"]))
    return 3 if judge.wrong else 0  # 1 is a fault of this program


sys.exit(main())
