#!/usr/bin/env python3
"""documents - looks at README.md and the pages in doc/.

documents.py blocks DIR PAGE...	write each block of code to DIR/PAGE/NN.LANGUAGE: what is indented
				is "sh", and so are lines after "$ " in output (text); a block
				that has a reason not to run goes to NN.not-run
documents.py rows DIR PAGE	write the commands of a table of commands to DIR/NN.peer and
				DIR/NN.ours, but not cells with a dagger, which has a note below
documents.py links PAGE...	print links, names of pages and of files that lead nowhere
documents.py requests FILE...	check configurations of other programs, and print what they ask
				pmu-serve for: lines "request PATH", "serve ARGUMENTS", "metric NAME"
"""

import os
import re
import sys

REASON = re.compile(r"<!-- not run: (.*\S) -->$")
MAX_SECONDS = 60  # --max-seconds of pmu-serve, unless the page sets it


def blocks(text):
    """Yield (language, reason, lines) of each block of code; an indented one is "sh"."""
    lines = text.split("\n") + [""]
    reason, at = None, 0
    while at < len(lines):
        line = lines[at]
        if match := REASON.match(line):
            reason = match[1]
        elif line.startswith("```"):
            end = lines.index("```", at + 1)
            yield line[3:].strip() or "unnamed", reason, lines[at + 1 : end]
            reason, at = None, end
        elif line.startswith("    ") and not lines[at - 1].strip():
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield "sh", reason, [line[4:] for line in lines[at:end]]
            reason, at = None, end - 1
        elif line.strip():
            reason = None
        at += 1


def write_blocks(directory, page):
    place = os.path.join(directory, os.path.basename(page)[: -len(".md")])
    os.makedirs(place)
    with open(page) as file:
        found = list(blocks(file.read()))
    for number, (language, reason, lines) in enumerate(found):
        if language == "text":
            assert not re.match(r"pmu-|curl |go |perf ", lines[0]), f"{page}: {lines[0]}: a command"
            lines = [line[2:] for line in lines if line.startswith("$ ")]
            language = "sh"
        if reason is not None:
            language, lines = "not-run", [reason]
        if lines:
            with open(f"{place}/{number:02}.{language}", "w") as file:
                file.write("\n".join(lines) + "\n")


def write_rows(directory, page):
    os.makedirs(directory)
    with open(page) as file:
        lines = [line for line in file if line.startswith("| ")][1:]
    for number, line in enumerate(lines):
        cells = re.split(r"(?<!\\)\|", line)[2:4]
        for side, cell in zip(("peer", "ours"), cells):
            commands = re.findall(r"`([^`]*)`", cell)
            if "\u2020" not in cell:
                assert len(commands) == 1, f"{page}: {line}"
                with open(f"{directory}/{number:02}.{side}", "w") as file:
                    file.write(commands[0].replace("\\|", "|") + "\n")


def anchors(path):
    """The anchors of a page: its headings, as GitHub makes them."""
    with open(path) as file:
        heads = re.findall(r"(?m)^#+ (.*)$", file.read())
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead_links(page):
    with open(page) as file:
        text = file.read()
    top = os.environ.get("TOP", ".")
    here = os.path.dirname(page)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        path = os.path.join(here, name) if name else page
        if not os.path.exists(path):
            print(f"{page}: {target}: there is no such file")
        elif anchor and anchor not in anchors(path):
            print(f"{page}: {target}: there is no such heading")
    for name, section in re.findall(r"\b((?:pmu-|perf_to_|pmukit_?)[a-z_]*)\((\d)\)", text):
        if not os.path.exists(f"{top}/man/{name}.{section}"):
            print(f"{page}: {name}({section}): there is no such page")
    for name in re.findall(r"`((?:tests|lib|cmd|man|doc|packaging)/[\w./-]+)", text):
        if not os.path.exists(f"{top}/{name}"):
            print(f"{page}: {name}: there is no such file")


def alloy(text):
    """The blocks of a configuration of Alloy: [(name, label, {attribute: value}, [blocks])]."""
    token = re.compile(r'\s+|//[^\n]*|("(?:[^"\\]|\\.)*"|[\w.]+|[{}\[\]=,])')
    tokens, at = [], 0
    while at < len(text):
        match = token.match(text, at)
        assert match, "cannot read " + repr(text[at : at + 20])
        at = match.end()
        if match[1]:
            tokens.append(match[1])
    position = 0

    def take(want=None):
        nonlocal position
        position += 1
        assert want in (None, tokens[position - 1]), f"{tokens[position - 1]} is not {want}"
        return tokens[position - 1]

    def value():
        word = take()
        if word == "[":
            items = []
            while tokens[position] != "]":
                items.append(value())
                if tokens[position] != "]":
                    take(",")
            take("]")
            return items
        if word == "{":
            pairs = {}
            while tokens[position] != "}":
                key = take().strip('"')
                take("=")
                pairs[key] = value()
                if tokens[position] == ",":
                    take()
            take("}")
            return pairs
        return word.strip('"')

    def body():
        attributes, inner = {}, []
        while position < len(tokens) and tokens[position] != "}":
            name = take()
            if tokens[position] == "=":
                take()
                attributes[name] = value()
                continue
            label = take().strip('"') if tokens[position] != "{" else None
            take("{")
            inner.append((name, label, *body()))
            take("}")
        return attributes, inner

    return body()[1]


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


def request(path, parameters, length, interval, timeout):
    """Print a request of a collector that profiles for LENGTH seconds, and check its times."""
    assert path.startswith("/debug/pprof/"), path
    assert 1 <= length <= MAX_SECONDS, f"{path}: {length} s are not what the server allows"
    assert length <= interval, f"{path}: profiles of {length} s every {interval} s overlap"
    assert timeout > length, f"{path}: the timeout of {timeout} s ends each profile of {length} s"
    query = "&".join(f"{key}={value}" for key, value in parameters)
    print(f"request {path}?{query}" if query else f"request {path}")


def pairs(parameters):
    return [(key, value) for key, values in parameters.items() for value in values]


def of_alloy(text):
    for name, label, attributes, inner in alloy(text):
        if name in ("pyroscope.write", "discovery.file"):
            continue
        assert name == "pyroscope.scrape", name
        profiles = dict((block[0], block[3]) for block in inner)["profiling_config"]
        for kind, custom, choice, _ in profiles:
            if choice["enabled"] != "true":
                continue
            path = choice.get("path") or {"profile.process_cpu": "/debug/pprof/profile"}[kind]
            length = seconds(attributes["delta_profiling_duration"])
            interval = seconds(attributes["scrape_interval"])
            assert length <= interval - 1, f"{label}: delta_profiling_duration is too long"
            request(path, pairs(attributes.get("params", {})), length, interval,
                    seconds(attributes["scrape_timeout"]))


def of_scrape(job):
    """A job of Parca or, without profiles, of Prometheus."""
    assert job["authorization"]["type"] == "Bearer"
    if "profiling_config" not in job:
        print("request", job.get("metrics_path", "/metrics"))
        return
    for name, choice in job["profiling_config"]["pprof_config"].items():
        if choice["enabled"]:
            assert choice["delta"], name  # without, no "seconds" is sent
            interval = seconds(job["scrape_interval"])
            request(choice["path"], pairs(job.get("params", {})), interval, interval,
                    seconds(job["scrape_timeout"]))


def of_receivers(document):
    for receiver in document["receivers"].values():
        remote = receiver["remote"]
        assert remote["headers"]["Authorization"].startswith("Bearer ")
        path, _, query = re.fullmatch(r"http://[^/]+(.*)", remote["endpoint"])[1].partition("?")
        parameters = [tuple(pair.split("=", 1)) for pair in query.split("&")]
        length = int(dict(parameters)["seconds"])
        request(path, [pair for pair in parameters if pair[0] != "seconds"], length,
                seconds(remote["collection_interval"]), seconds(remote["timeout"]))
    used = [name for pipeline in document["service"]["pipelines"].values()
            for part in ("receivers", "exporters") for name in pipeline[part]]
    assert sorted(used) == sorted([*document["receivers"], *document["exporters"]]), used


def of_rules(document):
    for group in document["groups"]:
        for rule in group["rules"]:
            assert re.fullmatch(r"\w+", rule["alert"]) and rule["annotations"]["summary"]
            for name in re.findall(r"pmu_serve_\w+", rule["expr"]):
                print("metric", name)


def of_kubernetes(document):
    spec = document["spec"]
    if document["kind"] == "DaemonSet":
        template = spec["template"]
        labels = template["metadata"]["labels"]
        assert spec["selector"]["matchLabels"].items() <= labels.items(), "selects no pod"
        spec = template["spec"]
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for container in spec["containers"]:
        context = container.get("securityContext", {})
        added = context.get("capabilities", {}).get("add", [])
        known = {"PERFMON", "SYS_PTRACE", "SYSLOG", "BPF"}
        assert set(added) <= known, added
        mounts = {mount["name"] for mount in container.get("volumeMounts", [])}
        assert mounts <= volumes, f"{mounts} are not in {volumes}"
        if container["name"] == "pmu-serve":
            assert container["args"][0] == "serve" and "command" not in container
            assert context["runAsUser"] == 0  # capabilities do not count for others
            print(*container["args"])
            port = container["ports"][0]
            probe = container["livenessProbe"]["httpGet"]
            assert probe["port"] == port["name"] and str(port["containerPort"]) == "6060"
            print("request", probe["path"])


def requests(path):
    with open(path) as file:
        text = file.read()
    if path.endswith(".alloy"):
        of_alloy(text)
        return
    import yaml

    for document in yaml.safe_load_all(text):
        if isinstance(document, list):  # the hosts of a collector
            for group in document:
                assert all(re.fullmatch(r"\w+:6060", target) for target in group["targets"])
        elif "file_sd_configs" in document:
            assert all(entry["files"] for entry in document["file_sd_configs"])
        elif "scrape_configs" in document:
            for job in document["scrape_configs"]:
                of_scrape(job)
        elif "receivers" in document:
            of_receivers(document)
        elif "groups" in document:
            of_rules(document)
        elif document.get("kind") in ("DaemonSet", "Pod"):
            assert document["apiVersion"] in ("apps/v1", "v1")
            of_kubernetes(document)
        else:
            raise AssertionError("not a configuration that is known here")


def main():
    command, *arguments = sys.argv[1:]
    if command == "blocks":
        for page in arguments[1:]:
            write_blocks(arguments[0], page)
    if command == "rows":
        write_rows(*arguments)
    for path in arguments if command in ("links", "requests") else []:
        try:
            {"links": dead_links, "requests": requests}[command](path)
        except Exception as error:
            sys.exit(f"{path}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
