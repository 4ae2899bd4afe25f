#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""workflow.py TREE - print what is wrong with the workflows and the issue forms in TREE/.github.

Keys and references are checked as GitHub documents them, commands by sh -n, and the targets and the
scripts that commands name against the tree.
"""
import os
import re
import subprocess
import sys

import yaml

WORKFLOW = {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
JOB = {"name", "permissions", "needs", "if", "runs-on", "environment", "concurrency", "outputs",
       "env", "defaults", "steps", "timeout-minutes", "strategy", "continue-on-error", "container",
       "services"}
STEP = {"id", "if", "name", "uses", "run", "working-directory", "shell", "with", "env",
        "continue-on-error", "timeout-minutes"}
CONTEXTS = {"github", "matrix", "env", "needs", "steps", "secrets", "runner"}
FORM = {"name", "description", "title", "labels", "assignees", "projects", "type", "body"}
FIELD = {"type", "id", "attributes", "validations"}
ATTRIBUTES = {"markdown": {"value"},
              "input": {"label", "description", "placeholder", "value"},
              "textarea": {"label", "description", "placeholder", "value", "render"},
              "dropdown": {"label", "description", "multiple", "options", "default"},
              "checkboxes": {"label", "description", "options"}}
CONFIG = {"blank_issues_enabled", "contact_links"}


class Once(yaml.SafeLoader):
    """A key that comes twice is an error, and "on" is text."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        for key in set(keys):
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"{key} comes twice")
        return super().construct_mapping(node, deep)


Once.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()}


class Checker:
    def __init__(self, tree):
        self.tree = tree
        self.wrong = []
        with open(os.path.join(tree, "Makefile"), encoding="utf-8") as makefile:
            self.targets = set(re.search(r"^\.PHONY: (.*)", makefile.read(), re.M)[1].split())

    def say(self, where, what):
        self.wrong.append(f"{where}: {what}")

    def keys(self, where, what, known, needed=()):
        if not isinstance(what, dict):
            self.say(where, "is not a mapping")
            return False
        for key in set(what) - known:
            self.say(where, f"unknown key {key}")
        for key in set(needed) - set(what):
            self.say(where, f"no {key}")
        return True

    def command(self, where, text):
        plain = re.sub(r"\$\{\{.*?\}\}", "x", text)
        checked = subprocess.run(["sh", "-n"], input=plain, text=True, capture_output=True,
                                 check=False)
        if checked.returncode:
            self.say(where, checked.stderr.strip())
        for line in plain.splitlines():
            words = line.split()
            if not words:
                continue
            if words[0] == "make":
                for word in words[1:]:
                    if not re.match(r"-|\w+=", word) and word not in self.targets:
                        self.say(where, f"make has no target {word}")
            elif "/" in words[0] and not os.access(os.path.join(self.tree, words[0]), os.X_OK):
                self.say(where, f"no program {words[0]}")

    def expressions(self, where, job):
        matrix = job.get("strategy", {}).get("matrix", {})
        for inside in re.findall(r"\$\{\{(.*?)\}\}", yaml.dump(job, width=10000)):
            for context, name in re.findall(r"\b([a-z]+)\.([a-z_-]+)", inside):
                if context not in CONTEXTS:
                    self.say(where, f"unknown context {context}")
                if context == "matrix" and name not in matrix:
                    self.say(where, f"no {name} in the matrix")

    def step(self, where, step):
        if not self.keys(where, step, STEP):
            return
        if ("uses" in step) == ("run" in step):
            self.say(where, "either uses or run")
        if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step["uses"]):
            self.say(where, f"uses {step['uses']}, which is not OWNER/NAME@vN")
        if "run" in step:
            self.command(where, step["run"])

    def workflow(self, where, all_):
        if not self.keys(where, all_, WORKFLOW, ("on", "jobs")):
            return
        for name, job in all_["jobs"].items():
            place = f"{where}: {name}"
            if not self.keys(place, job, JOB, ("runs-on", "steps")):
                continue
            needs = job.get("needs", [])
            for needed in [needs] if isinstance(needs, str) else needs:
                if needed not in all_["jobs"]:
                    self.say(place, f"needs the unknown job {needed}")
            self.expressions(place, job)
            for number, step in enumerate(job["steps"], 1):
                self.step(f"{place}: step {number}", step)

    def form(self, where, all_):
        if not self.keys(where, all_, FORM, ("name", "description", "body")):
            return
        names = [field.get("id") for field in all_["body"] if "id" in field]
        if len(names) != len(set(names)):
            self.say(where, "an id comes twice")
        for number, field in enumerate(all_["body"], 1):
            place = f"{where}: field {number}"
            self.keys(place, field, FIELD, ("type", "attributes"))
            known = ATTRIBUTES.get(field.get("type"))
            if known is None:
                self.say(place, f"unknown type {field.get('type')}")
                continue
            needed = "value" if field["type"] == "markdown" else "label"
            self.keys(place, field["attributes"], known, (needed,))
            self.keys(place, field.get("validations", {}), {"required"})


def main():
    tree = sys.argv[1]
    checker = Checker(tree)
    kinds = ((".github/workflows", checker.workflow), (".github/ISSUE_TEMPLATE", checker.form))
    for directory, check in kinds:
        for name in sorted(os.listdir(os.path.join(tree, directory))):
            where = f"{directory}/{name}"
            with open(os.path.join(tree, where), encoding="utf-8") as file:
                try:
                    read = yaml.load(file, Once)
                except yaml.YAMLError as error:
                    checker.say(where, error)
                    continue
            if name == "config.yml":
                checker.keys(where, read, CONFIG)
            else:
                check(where, read)
    print("\n".join(checker.wrong), end="\n" if checker.wrong else "")
    return 3 if checker.wrong else 0  # 1 is a fault of this program


sys.exit(main())
