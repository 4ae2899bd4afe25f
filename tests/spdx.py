#!/usr/bin/env python3
"""spdx.py FILE... - exit 1 if a FILE is not a bill of materials in SPDX 2.3, as JSON.

RULES is what the JSON schema of SPDX 2.3 says of the objects that packaging/sbom writes: which
members each may and must have, and their values.  With $SPDX_SCHEMA, the name of a file with that
schema, the python package jsonschema checks by it, too.  Then the things that no schema says:
identifiers are unique, and each that is used is defined.
"""
import json
import os
import re
import sys

ID = r"SPDXRef-[A-Za-z0-9.-]+"
TEXT = r".+"
LICENCE = r"([A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?)( AND [A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?)*"
# kind of object: its members, required ones with "!"; a value is a pattern, a list of one kind of
# values, the name of a kind of object, or a type
RULES = {
    "document": {"spdxVersion!": r"SPDX-2\.3", "dataLicense!": r"CC0-1\.0",
                 "SPDXID!": r"SPDXRef-DOCUMENT", "name!": TEXT,
                 "documentNamespace!": r"[a-z]+://[^# ]+", "creationInfo!": "creation",
                 "documentDescribes": [ID], "packages": ["package"],
                 "relationships": ["relationship"], "hasExtractedLicensingInfos": ["extracted"]},
    "creation": {"created!": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
                 "creators!": [r"(Tool|Organization|Person): .+"]},
    "package": {"SPDXID!": ID, "name!": TEXT, "downloadLocation!": TEXT, "versionInfo": TEXT,
                "packageFileName": TEXT, "filesAnalyzed": bool, "sourceInfo": TEXT,
                "copyrightText": TEXT, "licenseConcluded": LICENCE, "licenseDeclared": LICENCE,
                "primaryPackagePurpose": r"APPLICATION|LIBRARY", "checksums": ["checksum"],
                "externalRefs": ["reference"]},
    "checksum": {"algorithm!": r"SHA256", "checksumValue!": r"[0-9a-f]{64}"},
    "reference": {"referenceCategory!": r"PACKAGE-MANAGER", "referenceType!": r"purl",
                  "referenceLocator!": r"pkg:deb/debian/[a-z0-9.+-]+@[A-Za-z0-9.%~-]+\?arch=source"},
    "relationship": {"spdxElementId!": ID, "relatedSpdxElement!": ID,
                     "relationshipType!": r"DESCRIBES|STATIC_LINK"},
    "extracted": {"licenseId!": r"LicenseRef-[A-Za-z0-9.-]+", "extractedText!": TEXT,
                  "name": TEXT},
}


def faults(value, rule, where):
    """Yield what is wrong with VALUE."""
    if isinstance(rule, list):
        if not isinstance(value, list) or not value:
            yield f"{where} is not a list of values"
            return
        for i, item in enumerate(value):
            yield from faults(item, rule[0], f"{where}[{i}]")
    elif isinstance(rule, type):
        if not isinstance(value, rule):
            yield f"{where} is not of the type {rule.__name__}"
    elif rule in RULES:
        if not isinstance(value, dict):
            yield f"{where} is not an object"
            return
        members = {name.rstrip("!"): of for name, of in RULES[rule].items()}
        yield from (f"{where}.{name} is missing" for name in RULES[rule]
                    if name.endswith("!") and name[:-1] not in value)
        for name, member in value.items():
            if name in members:
                yield from faults(member, members[name], f"{where}.{name}")
            else:
                yield f"{where}.{name} is unknown"
    elif not isinstance(value, str) or not re.fullmatch(rule, value):
        yield f"{where} is {value!r}"


def references(document):
    """Yield what is wrong with the identifiers."""
    defined = [document["SPDXID"]] + [p["SPDXID"] for p in document["packages"]]
    yield from (f"{name} is defined twice" for name in set(defined) if defined.count(name) > 1)
    used = document["documentDescribes"] + [
        r[end] for r in document["relationships"] for end in ("spdxElementId", "relatedSpdxElement")]
    yield from (f"{name} is not defined" for name in set(used) - set(defined))
    texts = {e["licenseId"] for e in document["hasExtractedLicensingInfos"]}
    licences = " ".join(p["licenseDeclared"] for p in document["packages"])
    yield from (f"{name} has no text" for name in
                set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", licences)) - texts)


def main():
    found = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        bad = list(faults(document, "document", "document"))
        bad = bad or list(references(document))
        if os.environ.get("SPDX_SCHEMA"):
            import jsonschema
            with open(os.environ["SPDX_SCHEMA"], encoding="utf-8") as file:
                schema = json.load(file)
            errors = jsonschema.Draft7Validator(schema).iter_errors(document)
            bad += [error.message for error in errors]
        found += [f"{path}: {what}" for what in bad]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found or len(sys.argv) < 2 else 0)


if __name__ == "__main__":
    main()
