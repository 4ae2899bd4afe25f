"""A server that takes what pmu-serve --push sends, or fails to, in every way a server can fail.

    receiver.py DIR NAME[=STEP,STEP...]...

Each NAME is a receiver on a port of its own, which DIR/NAME/port keeps also for the next run.  A
receiver does a STEP for each request, in turn; STEP*3 is three times STEP.  After the last step, all
is well.  While DIR/NAME/fault exists, its word replaces the steps.  Steps are statuses and the
functions below with the decorator @step.

A receiver takes rows as ClickHouse's HTTP interface does (POST /?query=INSERT INTO TABLE FORMAT
JSONEachRow), and profiles as Pyroscope does (POST /ingest?format=pprof, the profile is the body).
The statuses and texts of errors are theirs.  It judges each request; what no client may send is in
DIR/NAME/wrong, a line each.  DIR/NAME/log has a line for each request: when it came (monotonic, s),
the step, and what it had.  What was accepted is in DIR/NAME/stored: NUMBER.rows, or NUMBER.pb.gz
with NUMBER.query; it is written before the answer.  DIR/NAME/authorization is the value that the
header must have, if the file exists.
"""
import email.utils, gzip, json, os, random, re, socket, struct, sys, threading, time
import urllib.parse

import protobuf

MOST = 4 << 20  # bytes of a request
PATIENCE = 600
KEYS = {  # of a row, in order: type
    "time": int, "time_ns": int, "duration_ns": int, "host": str, "service": str, "type": str,
    "unit": str, "value": int, "samples": int, "hash": str, "stack": list, "file": list,
    "line": list, "build_id": list, "labels": dict, "units": dict}
NEEDED = {"time", "host", "type", "unit", "value", "hash", "stack"}
STEPS = {}
ERRORS = {  # as ClickHouse 18.16 words them
    400: (27, "Cannot parse input: expected { before: xyz: (at row 1)"),
    401: (194, "Password required for user default"),
    403: (497, "default: Not enough privileges. To execute this query it's necessary to have "
          "grant INSERT(host) ON pmu.rows"),
    404: (60, "Table pmu.rows doesn't exist."),
    408: (159, "Timeout exceeded: elapsed 60.1 seconds, maximum: 60"),
    413: (0, "Request entity too large"), 422: (0, "profile is outside of the ingestion window"),
    429: (0, "too many requests"),
    500: (241, "Memory limit (for query) exceeded: would use 9.32 GiB"),
    503: (209, "Timeout exceeded while reading from socket"),
}


RANDOM = (
    ("200", "204", "slow", "chunked", "closing", "no-length", "old-version", "unsaid-close"),
    ("close", "cut-body", "half", "half-head", "half-chunk", "garbage", "zeros", "early-503", "401",
     "403", "404", "408", "429", "500", "503", "after-3-seconds", "stored-cut", "stored-half",
     "stored-500"))


def bind_port(s, port):
    """Bind s to port of this machine; 0: to a free one that no program gets by asking for any, so
    that it is still free when this one was killed and comes back."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        first = int(f.read().split()[0])
    tries = [port] if port or first < 12000 else random.sample(range(10000, first), 100)
    for number in tries:
        try:
            s.bind(("127.0.0.1", number))
            return
        except OSError:
            if number == tries[-1]:
                raise


class Wrong(Exception):
    """The client sent what no client may send."""


def step(function):
    STEPS[function.__name__.replace("_", "-")] = function
    return function


def judge_row(line, hashes):
    def once(pairs):
        if len(dict(pairs)) != len(pairs):
            raise Wrong("a key comes twice: %.200r" % line)
        return dict(pairs)

    try:
        row = json.loads(line, object_pairs_hook=once)
    except ValueError as error:
        raise Wrong("not a row: %s: %.200r" % (error, line))
    if not isinstance(row, dict):
        raise Wrong("not an object: %.200r" % line)
    order = [key for key in KEYS if key in row]
    if list(row) != order or not NEEDED <= set(row):
        raise Wrong("keys are wrong, missing or not in order: %s" % list(row))
    if any(type(row[key]) is not KEYS[key] for key in row):
        raise Wrong("a value has another type: %.200r" % line)
    if row.get("time_ns") == 0 or row.get("duration_ns") == 0 or not row["host"]:
        raise Wrong("a value that is not known is written: %.200r" % line)
    if not re.fullmatch("[0-9a-f]{16}", row["hash"]):
        raise Wrong("not a hash: %s" % row["hash"])
    if hashes.setdefault(row["hash"], row["stack"]) != row["stack"]:
        raise Wrong("two stacks have the hash %s" % row["hash"])


def judge_rows(query, body, hashes):
    statement = urllib.parse.parse_qs(query, strict_parsing=True)["query"]
    if not re.fullmatch("INSERT INTO [a-z.]+ FORMAT JSONEachRow", "".join(statement)):
        raise Wrong("not what the table takes: %s" % statement)
    if not body.endswith(b"\n"):
        raise Wrong("the last row is not whole: %.200r" % body[-200:])
    for line in body.decode().split("\n")[:-1]:  # fails if it is not UTF-8
        judge_row(line, hashes)
    return ".rows"


def judge_profile(query, body, kind):
    given = {k: "".join(v) for k, v in urllib.parse.parse_qs(query, strict_parsing=True).items()}
    if given.get("format") != "pprof" or "multipart" in kind:
        raise Wrong("with format=pprof, the body is the profile: %s, %s" % (query, kind))
    if not re.fullmatch(r"[^{},=]+(\{(\w+=[^{},=]+(,\w+=[^{},=]+)*)?\})?", given["name"]):
        raise Wrong("not a name with labels: %s" % given["name"])
    fields = dict(protobuf.fields(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body))
    start, length = fields[9] // 10**9, fields.get(10, 0) / 10**9
    if not -2 < int(given["from"]) - start < 2 or \
            not -2 < int(given["until"]) - start - length < 2:
        raise Wrong("the profile has other times: %s" % query)
    return ".pb.gz"


class Receiver:
    def __init__(self, directory, steps):
        self.directory, self.lock, self.hashes = directory, threading.Lock(), {}
        self.steps = [s for word in steps.split(",") if word
                      for s in [word.partition("*")[0]] * int(word.partition("*")[2] or 1)]
        os.makedirs(directory + "/stored", exist_ok=True)
        self.number = len(os.listdir(directory + "/stored"))
        self.listener = None
        self.listen()

    def path(self, name):
        return "%s/%s" % (self.directory, name)

    def read(self, name, otherwise=""):
        try:
            with open(self.path(name)) as file:
                return file.read().strip()
        except FileNotFoundError:
            return otherwise

    def write(self, name, line):
        with self.lock, open(self.path(name), "a") as file:
            file.write(line + "\n")

    def listen(self):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bind_port(s, int(self.read("port", "0")))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        s.listen(100)
        s.settimeout(0.1)
        self.listener = s
        with open(self.path(".port"), "w") as file:
            file.write("%d\n" % s.getsockname()[1])
        os.rename(self.path(".port"), self.path("port"))

    def serve(self):
        while True:
            if self.read("fault") == "refuse":
                self.listener.close()
                while self.read("fault") == "refuse":
                    time.sleep(0.02)
                self.listen()
            try:
                connection = self.listener.accept()[0]
            except TimeoutError:
                continue
            threading.Thread(target=self.connected, args=(connection,), daemon=True).start()

    def next_step(self):
        with self.lock:
            name = self.read("fault") or (self.steps.pop(0) if self.steps else "200")
        return random.choice(random.choice(RANDOM)) if name == "random" else name

    def connected(self, connection):
        connection.settimeout(PATIENCE)
        exchange = Exchange(self, connection)
        try:
            while exchange.one():
                pass
        except Wrong as error:
            self.write("wrong", str(error))
        except OSError:  # the client has gone
            pass
        except Exception as error:
            self.write("wrong", "%s: %s" % (type(error).__name__, error))
        connection.close()


class Exchange:
    """One request at a time on one connection, and its answer."""

    def __init__(self, receiver, connection):
        self.receiver, self.connection, self.step = receiver, connection, "-"

    def one(self):
        """Return whether the connection stays open."""
        head = b""
        while b"\r\n\r\n" not in head:
            part = self.connection.recv(1 << 16)
            if not part:
                if head:
                    self.log("cut head")
                return False
            if not head:
                self.step = self.receiver.next_step()
                if self.step in ("deaf", "close", "refuse"):
                    return self.stop_early()
            head += part
        head, body = head.split(b"\r\n\r\n", 1)
        self.read_head(head.decode())
        while len(body) < self.length:
            if len(body) >= self.length / 2 and self.step == "cut-body":
                return self.reset("cut body")
            part = self.connection.recv(1 << 16)
            if not part:
                self.log("cut %d of %d" % (len(body), self.length))
                return False
            body += part
        if len(body) > self.length:
            raise Wrong("more than the length that the head announces")
        self.body = body
        self.suffix = self.judge()
        if self.step not in STEPS and not re.fullmatch("[2-5][0-9][0-9]", self.step):
            raise Wrong("unknown step '%s'" % self.step)
        self.log("%d bytes" % len(body))
        return self.answer()

    def log(self, what):
        self.receiver.write("log", "%.3f %s %s" % (time.monotonic(), self.step, what))

    def stop_early(self):
        self.log("nothing read")
        if self.step == "deaf":
            time.sleep(PATIENCE)
        return self.reset("")

    def reset(self, why):
        if why:
            self.log(why)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def read_head(self, head):
        request, *lines = head.split("\r\n")
        match = re.fullmatch(r"POST (/[!-~]*) HTTP/1\.1", request)
        if not match:
            raise Wrong("not a POST: %.200r" % request)
        self.target = match[1]
        self.headers = {}
        for line in lines:
            name, colon, value = line.partition(":")
            name = name.lower()
            if not colon or not re.fullmatch("[a-z-]+", name) or name in self.headers:
                raise Wrong("not a header, or twice: %.200r" % line)
            self.headers[name] = value.strip()
        port = self.connection.getsockname()[1]
        if self.headers.get("host") not in ("127.0.0.1:%d" % port, "localhost:%d" % port):
            raise Wrong("another host: %s" % self.headers.get("host"))
        if "transfer-encoding" in self.headers or "expect" in self.headers:
            raise Wrong("not every server knows this: %s" % self.headers)
        if not re.fullmatch("[1-9][0-9]*", self.headers.get("content-length", "")):
            raise Wrong("no length: %s" % self.headers)
        self.length = int(self.headers["content-length"])
        if self.length > MOST:
            raise Wrong("%d bytes are too many" % self.length)

    def judge(self):
        path, _, query = self.target.partition("?")
        if path == "/ingest":
            return judge_profile(query, self.body, self.headers.get("content-type", ""))
        return judge_rows(query, self.body, self.receiver.hashes)

    def store(self):
        receiver = self.receiver
        with receiver.lock:
            receiver.number += 1
            name = receiver.path("stored/%06d" % receiver.number)
            if self.suffix == ".pb.gz":
                with open(name + ".query", "w") as file:
                    file.write(self.target + "\n")
            with open(receiver.path(".new"), "wb") as file:
                file.write(self.body)
            os.rename(receiver.path(".new"), name + self.suffix)

    def say(self, status, body=b"", more=(), version="1.1"):
        length = () if version == "1.0" or status == 204 else ("Content-Length: %d" % len(body),)
        head = "\r\n".join(("HTTP/%s %d Reason" % (version, status), *length, *more))
        self.connection.sendall(head.encode() + b"\r\n\r\n" + body)
        return "Connection: close" not in more and version == "1.1"

    def say_error(self, status, more=()):
        code, text = ERRORS.get(status, (0, "it does not work"))
        words = "Code: %d, e.displayText() = DB::Exception: %s, e.what() = DB::Exception\n"
        return self.say(status, (words % (code, text)).encode(), more)

    def answer(self):
        wanted = self.receiver.read("authorization")
        if wanted and self.headers.get("authorization") != wanted:
            return self.say_error(401)
        if self.step in STEPS:
            return STEPS[self.step](self)
        if self.step[0] == "2":
            self.store()
            return self.say(int(self.step))
        return self.say_error(int(self.step))

    def trickle(self, data, pause):
        for byte in data:
            self.connection.sendall(bytes((byte,)))
            time.sleep(pause)

    def endless(self, head, part, pause=0.02):
        self.connection.sendall(head)
        while True:
            self.connection.sendall(part)
            time.sleep(pause)


# Nothing is stored, and the request must come again.

@step
def deaf(e): pass


@step
def close(e): pass


@step
def cut_body(e): return e.reset("")


@step
def silent(e): time.sleep(PATIENCE)


@step
def drip(e): e.endless(b"HTTP/1.1 200 OK\r\nX-Drip: ", b"x", 0.2)


@step
def drip_body(e): e.endless(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x", 0.2)


@step
def half(e): e.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it")


@step
def half_head(e): e.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")


@step
def half_chunk(e):
    e.connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf")


@step
def endless_head(e): e.endless(b"HTTP/1.1 200 OK\r\n", b"X-More: %s\r\n" % (b"y" * 1000))


@step
def endless_body(e): e.endless(b"HTTP/1.1 200 OK\r\n\r\n", b"z" * 65536, 0)


@step
def endless_chunks(e):
    e.endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nchunk\r\n")


@step
def endless_continue(e): e.endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n")


@step
def large_length(e): return e.say(200, more=("Content-Length: 99999999999999999999",))


@step
def garbage(e): e.connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n\0\0\0\n" + bytes(range(256)) * 9)


@step
def zeros(e): e.connection.sendall(bytes(70000))


@step
def status_99(e): return e.say(99)


@step
def status_999999999999(e): return e.say(999999999999)


@step
def early_503(e):
    e.connection.sendall(b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    return e.reset("")


@step
def redirect(e):
    return e.say(302, more=("Location: http://127.0.0.1:%s/" % e.receiver.read("../elsewhere/port"),))


@step
def not_modified(e): return e.say(304)


@step
def after_3_seconds(e): return e.say_error(503, ("Retry-After: 3",))


@step
def after_date(e):
    date = email.utils.formatdate(int(time.time()) + 4, usegmt=True)
    return e.say_error(429, ("Retry-After: " + date,))


@step
def after_nonsense(e): return e.say_error(503, ("Retry-After: -5 soon\x01",))


@step
def after_past(e): return e.say_error(503, ("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT",))


@step
def late_text(e):
    e.connection.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n")
    time.sleep(0.3)
    e.connection.sendall(b"late text")
    return True


@step
def binary_500(e): return e.say(500, bytes(range(256)) * 40)


# The rows are stored, but the client cannot know: they must come again.

@step
def stored_cut(e):
    e.store()
    return e.reset("")


@step
def stored_half(e):
    e.store()
    return half(e)


@step
def stored_500(e):
    e.store()
    return e.say_error(500)


# All is well, in forms that a client must understand.

@step
def slow(e):
    e.store()
    e.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOk\n", 0.01)
    return True


@step
def slow_reader(e):  # the kernel's buffers are small, too
    time.sleep(2)
    e.store()
    return e.say(200)


@step
def chunked(e):
    e.store()
    e.connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nOk\n\r\n0\r\n\r\n")
    return True


@step
def closing(e):
    e.store()
    return e.say(200, b"Ok.\n", ("Connection: close",))


@step
def no_length(e):
    e.store()
    e.connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nOk.\n")


@step
def old_version(e):
    e.store()
    return e.say(200, b"Ok.\n", version="1.0")


@step
def unsaid_close(e):
    e.store()
    e.say(200)  # as a server that does not keep connections for long


@step
def with_continue(e):
    e.store()
    e.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    time.sleep(0.05)
    e.connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
    return e.say(200)


def main():
    directory, *names = sys.argv[1:]
    for name in names:
        name, _, steps = name.partition("=")
        receiver = Receiver("%s/%s" % (directory, name), steps)
        threading.Thread(target=receiver.serve, daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
