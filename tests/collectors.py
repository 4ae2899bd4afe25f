"""Stand-ins for collectors: they send what Grafana Alloy, Parca and the OpenTelemetry Collector send
for a configuration, and judge the answer as they do.

    collectors.py PORT CONFIGURATION [SECONDS]

All requests of the file are sent at once to 127.0.0.1:PORT, whatever host they name, with the token
in $TOKEN.  Profiles last as long as the file says, or SECONDS.  What a collector would report is
printed, and the exit status is 1.

Followed are the published sources: of Alloy, internal/component/pyroscope/scrape (target.go,
scrape_loop.go, validate.go); of Parca, pkg/scrape and pkg/parcacol/validate.go; of the Collector,
receiver/pprofreceiver and pkg/translator/pprof.  All three use net/http of Go, which asks for gzip.
"""
import gzip, http.client, os, re, sys, threading, urllib.parse

import documents
import protobuf


class Request:
    """A request, and what its collector expects of the answer."""

    def __init__(self, collector, host, path, parameters, timeout, judges):
        self.collector, self.host, self.path = collector, host, path
        self.query = "&".join(  # as url.Values.Encode: in the order of the keys
            urllib.parse.urlencode([(key, value)])
            for key in sorted(parameters) for value in parameters[key])
        self.timeout, self.judges = timeout, judges

    def send(self, port):
        """Return what the collector would report, or None."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=self.timeout)
        target = self.path + "?" + self.query
        try:
            connection.putrequest("GET", target, skip_host=True, skip_accept_encoding=True)
            for header in (("Host", self.host), ("User-Agent", self.collector),
                           ("Authorization", "Bearer " + os.environ["TOKEN"]),
                           ("Accept-Encoding", "gzip")):
                connection.putheader(*header)
            connection.endheaders()
            answer = connection.getresponse()
            body = answer.read()
            if answer.getheader("Content-Encoding") == "gzip":  # Go takes this off by itself
                body = gzip.decompress(body)
            for judge in self.judges:
                judge(answer, body)
        except Exception as error:  # such as bytes that are not a profile
            return "%s: %s%s: %r" % (self.collector, self.host, target, error)
        finally:
            connection.close()


def is_ok(answer, body):
    assert answer.status == 200, "%d: %s" % (answer.status, body[:200])
    assert body, "empty profile"


def is_binary(answer, body):
    """validateProfileData of Alloy"""
    kind = answer.getheader("Content-Type", "")
    assert kind.startswith("application/octet-stream"), "unexpected Content-Type " + kind
    assert not re.match(rb"\s*(<[!hbt]|[{\[])", body, re.I), "text instead of a profile"
    assert len(body) > 2 and (body[:2] == b"\x1f\x8b" or body[0] & 7 < 6), "not a profile"


def messages(top, field):
    out = []
    for data in (value for number, value in top if number == field):
        fields = {}
        for number, value in protobuf.fields(data):
            packed = field == 2 and number < 3 and isinstance(value, bytes)
            fields.setdefault(number, []).extend(protobuf.packed(value) if packed else [value])
        out.append(fields)
    return out


def is_consistent(answer, body):
    """ValidatePprofProfile of Parca, which is stricter than CheckValid of pprof"""
    top = list(protobuf.fields(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body))
    texts = [value for number, value in top if number == 6]
    assert texts and texts[0] == b"", "the first string is not empty"
    types, samples = messages(top, 1), messages(top, 2)
    of = {field: messages(top, field) for field in (3, 4, 5)}
    for field, name in ((3, "mapping"), (4, "location"), (5, "function")):
        ids = [message[1][0] for message in of[field]]
        assert ids == list(range(1, len(ids) + 1)), name + " id is not sequential"
    for location in of[4]:
        assert location.get(2, [0])[0] <= len(of[3]), "location has invalid mapping id"
        for line in location.get(4, []):
            assert dict(protobuf.fields(line)).get(1, 0) <= len(of[5]), "invalid function id"
    assert types or not samples, "missing sample type information"
    for sample in samples:
        assert len(sample[2]) == len(types), "mismatch: values and types"
        assert all(0 < at <= len(of[4]) for at in sample.get(1, [])), "location out of range"
        for label in map(dict, map(protobuf.fields, sample.get(3, []))):
            assert 0 < label[1] < len(texts) and label.get(2, 0) < len(texts), "invalid label"


def is_translatable(answer, body):
    """ConvertPprofToProfiles of the Collector: labels have one value, and there is a period type"""
    is_consistent(answer, body)
    top = list(protobuf.fields(gzip.decompress(body)))
    assert any(number == 11 for number, value in top), "no period type"
    for sample in messages(top, 2):
        keys = [dict(protobuf.fields(label))[1] for label in sample.get(3, [])]
        assert len(keys) == len(set(keys)), "labels with multiple values are not supported"


def of_alloy(text, length):
    for name, _, attributes, inner in documents.alloy(text):
        if name != "pyroscope.scrape" or not isinstance(attributes["targets"], list):
            continue
        interval = documents.seconds(attributes["scrape_interval"])
        seconds = length or documents.seconds(attributes["delta_profiling_duration"])
        profiles = dict((block[0], block[3]) for block in inner)["profiling_config"]
        given = {key: list(values) for key, values in attributes.get("params", {}).items()}
        for kind, _, choice, _ in profiles:
            if choice["enabled"] != "true":
                continue
            path = choice.get("path", "/debug/pprof/profile")
            for target in attributes["targets"]:
                # params of a block are shared: each target adds its seconds to those before
                parameters = given if given else {}
                parameters.setdefault("seconds", []).append(str(seconds))
                timeout = documents.seconds(attributes["scrape_timeout"]) + interval - 1
                yield Request("Alloy/v1.20.0 (linux; binary)", target["__address__"], path,
                              {key: list(values) for key, values in parameters.items()},
                              timeout, (is_ok, is_binary, is_consistent))


def of_parca(document, length):
    for job in document["scrape_configs"]:
        given = {key: list(values) for key, values in job.get("params", {}).items()}
        seconds = length or documents.seconds(job["scrape_interval"])
        for choice in job["profiling_config"]["pprof_config"].values():
            if not choice["enabled"]:
                continue
            for target in (t for config in job["static_configs"] for t in config["targets"]):
                parameters = given if given else {}
                parameters.setdefault("seconds", []).append(str(seconds))
                yield Request("conprof/0.24.2", target, choice["path"],
                              {key: list(values) for key, values in parameters.items()},
                              documents.seconds(job["scrape_timeout"]), (is_ok, is_consistent))


def of_collector(document, length):
    for receiver in document["receivers"].values():
        remote = receiver["remote"]
        url = urllib.parse.urlsplit(remote["endpoint"])
        parameters = urllib.parse.parse_qs(url.query, strict_parsing=True)
        if length:
            parameters["seconds"] = [str(length)]
        # it does not look at the status: an error is a profile that cannot be parsed
        yield Request("Go-http-client/1.1", url.netloc, url.path, parameters,
                      documents.seconds(remote["timeout"]), (is_consistent, is_translatable))


def main():
    port, path, *length = sys.argv[1:]
    length = int(length[0]) if length else 0
    with open(path) as file:
        text = file.read()
    if path.endswith(".alloy"):
        requests = list(of_alloy(text, length))
    else:
        import yaml

        document = yaml.safe_load(text)
        of = of_collector if "receivers" in document else of_parca
        requests = list(of(document, length))
    reports = []
    threads = [threading.Thread(target=lambda r=r: reports.append(r.send(int(port))))
               for r in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reports = [report for report in reports if report]
    print("%d requests" % len(requests), *reports, sep="\n")
    sys.exit(1 if reports or not requests else 0)


if __name__ == "__main__":
    main()
