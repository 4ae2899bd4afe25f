"""Clients of pmu-serve for its tests: what a scraper does, and what no client should do.

	serve.py PORT CASE...	run the cases against 127.0.0.1:PORT; print what is wrong, exit 1
"""
import gzip, http.client, os, resource, signal, socket, sys, threading, time

PATIENCE = 600  # seconds: for machines that are busy


def get(port, path, headers=None, method="GET"):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    c.request(method, path, headers=headers or {})
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, dict((k.lower(), v) for k, v in r.getheaders()), body


def raw(port, data, wait=True):
    """Send bytes as they are; return all that comes back."""
    s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    s.sendall(data)
    if not wait:
        return s
    got = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            got += part
    except ConnectionError:
        pass
    s.close()
    return got


def send(port):
    """What stdin says; print what comes back."""
    sys.stdout.buffer.write(raw(port, sys.stdin.buffer.read()))


def alive(port):
    assert get(port, "/healthz")[0] == 200


def abuse(port):
    """Malformed requests: each gets a sentence for pprof, or no answer, and the server lives."""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    for data in (
        b"\r\n\r\n", b"\0" * 5000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n",
        head + b"X: " + b"y" * 20000 + b"\r\n\r\n",
        head + b"Content-Length: 99999999\r\n\r\n",
        head + b"Content-Length: -1\r\n\r\n",
        head + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /debug/pprof/pmu HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\n\r\n", b"GET /%zz%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        (head + b"\r\n") * 50,
    ):
        s = raw(port, data, wait=False)
        got = b""
        try:
            s.shutdown(socket.SHUT_WR)
            while part := s.recv(65536):
                got += part
        except OSError:  # it has closed the connection
            pass
        s.close()
        assert b"<" not in got, got
        assert not got or got.startswith(b"HTTP/1.1 200") or b"X-Go-Pprof: 1\r\n" in got, got
        alive(port)
    body = b"POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"
    for data, status in (
        (b"GET\r\n\r\n", 400), (head + b"X: " + b"y" * 20000 + b"\r\n\r\n", 400),
        (body % (99999, b""), 413), (body % (1, b"Expect: x\r\n"), 417),
        (b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
    ):
        got = raw(port, data)
        assert got.startswith(b"HTTP/1.1 %d " % status), got
        headers, text = got.split(b"\r\n\r\n")
        assert b"\r\nContent-Type: text/plain" in headers, got
        assert b"\r\nContent-Length: %d\r\n" % len(text) in headers, got
        assert text.count(b"\n") == 1 and text.endswith(b"\n"), got
        assert b'{code="%d"}' % status in get(port, "/metrics")[2]


def pipelined(port):
    """Requests after the first are dropped, with its profile on the way."""
    one = b"GET /debug/pprof/profile?seconds=0.2 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    got = raw(port, one + one * 20)
    assert got.startswith(b"HTTP/1.1 200 OK\r\n"), got[:200]
    alive(port)


def scraper(port):
    """As Alloy and Parca: params in the query, a bearer token, gzip inside, a timeout.

    With params of their own, both repeat seconds= for each further target.
    """
    token = {"Authorization": "Bearer " + os.environ["TOKEN"], "Accept-Encoding": "identity"}
    for path in ("/debug/pprof/profile?seconds=0.3" + "&seconds=0.3" * 300,
                 "/debug/pprof/pmu?event=cpu-clock&rate=97&seconds=0.3",
                 "/debug/pprof/offcpu?seconds=0.3"):
        status, headers, body = get(port, path, token)
        assert status == 200, (status, body)
        assert headers["content-type"] == "application/octet-stream"
        assert int(headers["content-length"]) == len(body)
        assert gzip.decompress(body)


def crowd(port, clients=100):
    """Many at once: each gets a profile, or is told when to try again."""
    seen = []

    def one():
        seen.append(get(port, "/debug/pprof/profile?seconds=0.5")[:2])

    threads = [threading.Thread(target=one) for i in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen) == clients
    assert {s for s, h in seen} <= {200, 429}, {s for s, h in seen}
    assert sum(s == 200 for s, h in seen) >= 1
    assert all(int(h["retry-after"]) >= 1 for s, h in seen if s == 429)
    alive(port)


def burst(port, clients=100):
    """Requests on more connections than the server has room for: each is answered."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = int(os.environ["SERVER"])
    os.kill(server, signal.SIGSTOP)  # so that it finds all of them in the kernel's queue
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    many = [raw(port, request, wait=False) for i in range(clients)]
    os.kill(server, signal.SIGCONT)
    for s in many:
        assert s.recv(100).startswith(b"HTTP/1.1 200")
        s.close()
    alive(port)


def slow(port):
    """Clients that send no whole request, or a byte now and then, hold nobody up."""
    many = [raw(port, b"GET /debug", wait=False) for i in range(int(os.environ.get("SLOW", 300)))]
    alive(port)
    for s in many[-20:]:
        s.sendall(b"/")
        alive(port)
    for s in many:
        s.close()
    alive(port)


def gone(port):
    """Clients that go away long before their profile ends by itself."""
    for reset in (False, True):
        s = raw(port, b"GET /debug/pprof/profile?seconds=9999 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                wait=False)
        while b"pmu_serve_running 1" not in get(port, "/metrics")[2]:
            time.sleep(0.02)
        if reset:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
        while b"pmu_serve_running 0" not in get(port, "/metrics")[2]:
            time.sleep(0.02)


def cheap(port):
    for i in range(int(os.environ.get("CHEAP", 300))):
        path, status = (("/debug/pprof/", 200), ("/metrics", 200), ("/nothing", 404),
                        ("/debug/pprof/pmu?event=x&period=-1", 400))[i % 4]
        assert get(port, path)[0] == status


def profiles(port):
    for i in range(int(os.environ.get("PROFILES", 5))):
        status, headers, body = get(port, "/debug/pprof/profile?seconds=0.1")
        assert status == 200, body


if __name__ == "__main__":
    for case in sys.argv[2:]:
        globals()[case](int(sys.argv[1]))
