#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_yourself - a Python program that profiles itself, and reads streams, by ctypes.

python3 profile_yourself.py FILE	profile this program, and write FILE for pprof
python3 profile_yourself.py --top FILE	print the top functions of a stream or a perf.data file
"""

import ctypes
import os
import sys
import time
import zlib
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint
from ctypes import c_uint32, c_uint64, c_void_p

kit = ctypes.CDLL("libpmukit.so.0", use_errno=True)

NO_RIGHTS = -6
NO_KERNEL, LABELS = 1, 4


class Config(Structure):  # struct pmukit_profile_config
    _fields_ = [
        ("size", c_size_t),
        ("events", POINTER(c_char_p)),
        ("period", c_uint64),
        ("frequency", c_uint64),
        ("flags", c_uint),
        ("result", c_int),
        ("fd", c_int),
        ("pid", c_int),
        ("write", c_void_p),
        ("message", c_void_p),
        ("context", c_void_p),
        ("sampler", c_char_p),
        ("options", POINTER(c_char_p)),
    ]


class Sample(Structure):  # struct pmukit_sample: its first members are enough
    _fields_ = [
        ("has", c_uint),
        ("event", c_int),
        ("period", c_uint64),
        ("time", c_uint64),
        ("pid", c_int),
        ("tid", c_int),
        ("cpu", c_uint32),
        ("ip", c_uint64),
    ]


class Frame(Structure):  # struct pmukit_frame, which never grows
    _fields_ = [
        ("function", c_char_p),
        ("symbol", c_char_p),
        ("file", c_char_p),
        ("line", c_uint32),
        ("column", c_uint32),
        ("start_line", c_uint32),
        ("is_inlined", c_int),
        ("is_kernel", c_int),
        ("address", c_uint64),
        ("object_address", c_uint64),
        ("object", c_char_p),
        ("build_id", c_char_p),
        ("reserved", c_uint64 * 2),
    ]


# Without a type, ctypes takes a result for an int, and a pointer would lose its upper half.
for name, result, *arguments in [
    ("error", c_char_p),
    ("error_code", c_int),
    ("label_set", c_int, c_char_p, c_char_p),
    ("profile_start", c_void_p, POINTER(Config)),
    ("profile_stop", c_int, c_void_p),
    ("stream_open", c_void_p, c_char_p, c_void_p),
    ("stream_next_sample", c_int, c_void_p, POINTER(POINTER(Sample))),
    ("stream_frames", c_int, c_void_p, POINTER(POINTER(Frame))),
    ("stream_close", None, c_void_p),
]:
    function = getattr(kit, "pmukit_" + name)
    function.restype, function.argtypes = result, arguments


class Error(Exception):
    def __init__(self):
        super().__init__(kit.pmukit_error().decode(errors="replace"))
        self.code = kit.pmukit_error_code()


class Profile:
    """with Profile(file): profile what runs inside, and write a profile for pprof."""

    def __init__(self, file, flags=NO_KERNEL):
        self.file, self.flags = file, flags

    def __enter__(self):
        self.fd = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        config = Config(size=ctypes.sizeof(Config), frequency=999, flags=self.flags, fd=self.fd)
        self.handle = kit.pmukit_profile_start(byref(config))
        if not self.handle:
            error = Error()
            os.close(self.fd)
            raise error
        return self

    def __exit__(self, *exception):
        error = Error() if kit.pmukit_profile_stop(self.handle) < 0 else None
        os.close(self.fd)
        if error:
            raise error


class Label:
    """with Label(key, value): samples of this thread have the label."""

    def __init__(self, key, value):
        self.key, self.value = key.encode(), value.encode()

    def __enter__(self):
        kit.pmukit_label_set(self.key, self.value)

    def __exit__(self, *exception):
        kit.pmukit_label_set(self.key, None)


def top(file):
    """Return [(function, share)] of a stream, the largest first."""
    stream = kit.pmukit_stream_open(file.encode(), None)
    if not stream:
        raise Error()
    functions, sample, frames = {}, POINTER(Sample)(), POINTER(Frame)()
    try:
        while (got := kit.pmukit_stream_next_sample(stream, byref(sample))) > 0:
            count = kit.pmukit_stream_frames(stream, byref(frames))
            name = frames[0].function if count > 0 else None
            name = name.decode(errors="replace") if name else "[unknown]"
            functions[name] = functions.get(name, 0) + sample.contents.period
        if got < 0:
            raise Error()
    finally:
        kit.pmukit_stream_close(stream)
    rows = sorted(functions.items(), key=lambda row: -row[1])
    return [(name, value / sum(functions.values())) for name, value in rows]


def work():
    """Two functions of a library that Python calls, which take different times."""
    data = bytes(range(256)) * 4096
    taken = {"adler32_z": 0, "crc32_z": 0}
    start = time.process_time()
    while start + 0.5 > time.process_time():
        for function, call in ("adler32_z", zlib.adler32), ("crc32_z", zlib.crc32):
            before = time.process_time()
            with Label("phase", function):
                call(data)
            taken[function] += time.process_time() - before
    for function, seconds in taken.items():
        print(f"{function} {seconds:.3f}")


def profile_work(file):
    try:
        with Profile(file, NO_KERNEL | LABELS):
            work()
    except Error as error:
        if error.code != NO_RIGHTS:
            raise
        print("without labels:", error, file=sys.stderr)
        with Profile(file):
            work()


def main():
    try:
        if sys.argv[1:2] == ["--top"] and len(sys.argv) == 3:
            for name, share in top(sys.argv[2])[:10]:
                print(f"{share:7.2%}  {name}")
        elif len(sys.argv) == 2:
            profile_work(sys.argv[1])
        else:
            sys.exit(__doc__)
    except (Error, OSError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")


if __name__ == "__main__":
    main()
