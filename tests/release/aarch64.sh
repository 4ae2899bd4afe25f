#!/bin/sh
# The tools and unit tests for arm64 under an emulator of user space: all outputs of recordings are
# those of x86-64.
exec tests/release/emulated arm64 qemu-aarch64
