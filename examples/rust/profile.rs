// SPDX-License-Identifier: Apache-2.0
//! A program in Rust that profiles itself, reads the profile, and prints its functions.  It uses no
//! crate: the functions of pmukit.h are declared here.
//!
//!     rustc --edition 2021 -O -g -C force-frame-pointers=yes profile.rs -l pmukit
//!     ./profile profile.pb.gz
//!     go tool pprof -top profile.pb.gz
//!
//! `-L DIR` names the directory of the library, if it is not installed.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::unix::io::AsRawFd;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

// From pmukit.h.  A structure that starts with its size may have fewer members than the library's,
// but their order is that of the header.

const NO_RIGHTS: c_int = -6;
const NO_KERNEL: c_uint = 1;
const LABELS: c_uint = 4;

#[repr(C)]
struct Config {
    size: usize,
    events: *const *const c_char,
    period: u64,
    frequency: u64,
    flags: c_uint,
    result: c_int,
    fd: c_int,
    pid: c_int,
    write: *const c_void,
    message: *const c_void,
    context: *mut c_void,
    sampler: *const c_char,
    options: *const *const c_char,
}

#[repr(C)]
struct Label {
    key: *const c_char,
    value: *const c_char,
    number: i64,
    unit: *const c_char,
}

#[repr(C)]
struct Frame {
    function: *const c_char,
    symbol: *const c_char,
    file: *const c_char,
    line: u32,
    column: u32,
    start_line: u32,
    is_inlined: c_int,
    is_kernel: c_int,
    address: u64,
    object_address: u64,
    object: *const c_char,
    build_id: *const c_char,
    reserved: [u64; 2],
}

#[repr(C)]
struct Stack {
    frames: *const Frame,
    frames_size: usize,
    values: *const i64,
    labels: *const Label,
    labels_size: usize,
}

#[repr(C)]
struct ValueType {
    name: *const c_char,
    unit: *const c_char,
}

enum Profile {}
enum Pprof {}

extern "C" {
    fn pmukit_error() -> *const c_char;
    fn pmukit_error_code() -> c_int;
    fn pmukit_label_set(key: *const c_char, value: *const c_char) -> c_int;
    fn pmukit_profile_start(config: *const Config) -> *mut Profile;
    fn pmukit_profile_stop(p: *mut Profile) -> c_int;
    fn pmukit_pprof_open(file: *const c_char, options: *const c_void) -> *mut Pprof;
    fn pmukit_pprof_types(p: *mut Pprof, types: *mut *const ValueType) -> c_int;
    fn pmukit_pprof_stack(p: *mut Pprof, index: i64, stack: *mut *const Stack) -> c_int;
    fn pmukit_pprof_close(p: *mut Pprof);

    // Of the C library.
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
}

/// What was wrong with the last call of this thread that failed.
fn error() -> String {
    text(unsafe { pmukit_error() })
}

fn text(bytes: *const c_char) -> String {
    if bytes.is_null() {
        return "[unknown]".to_string();
    }
    unsafe { CStr::from_ptr(bytes) }.to_string_lossy().into_owned()
}

/// A label of this thread, for as long as the value lives.
struct LabelScope(CString);

impl LabelScope {
    fn new(key: &str, value: &str) -> LabelScope {
        let key = CString::new(key).unwrap();
        let value = CString::new(value).unwrap();
        unsafe { pmukit_label_set(key.as_ptr(), value.as_ptr()) };
        LabelScope(key)
    }
}

impl Drop for LabelScope {
    fn drop(&mut self) {
        unsafe { pmukit_label_set(self.0.as_ptr(), null()) };
    }
}

fn start(fd: c_int, flags: c_uint) -> *mut Profile {
    let config = Config {
        size: std::mem::size_of::<Config>(),
        events: null(),
        period: 0,
        frequency: 999,
        flags,
        result: 0,
        fd,
        pid: 0,
        write: null(),
        message: null(),
        context: null_mut(),
        sampler: null(),
        options: null(),
    };
    unsafe { pmukit_profile_start(&config) }
}

/// The functions of a profile with their own values, the largest first, and the sum of all.
fn functions(file: &str) -> Result<(Vec<(String, i64)>, i64), String> {
    let file = CString::new(file).unwrap();
    let p = unsafe { pmukit_pprof_open(file.as_ptr(), null()) };
    if p.is_null() {
        return Err(error());
    }
    let mut types = null();
    let value = unsafe { pmukit_pprof_types(p, &mut types) } as usize - 1; // the last type
    let mut found: HashMap<String, i64> = HashMap::new();
    let mut stack = null();
    let mut index = 0;
    while unsafe { pmukit_pprof_stack(p, index, &mut stack) } == 1 {
        // What STACK points to is valid until the next call with P.
        let stack: &Stack = unsafe { &*stack };
        let leaf = match stack.frames_size {
            0 => null(),
            _ => unsafe { (*stack.frames).function },
        };
        *found.entry(text(leaf)).or_insert(0) += unsafe { *stack.values.add(value) };
        index += 1;
    }
    unsafe { pmukit_pprof_close(p) };
    let sum = found.values().sum();
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by_key(|row| -row.1);
    Ok((rows, sum))
}

// The work: two functions, which take different times.

static SUM: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
fn add_squares() {
    let _label = LabelScope::new("phase", "squares");
    for i in 0..1000000u64 {
        let sum = SUM.load(Relaxed);
        SUM.store(sum.wrapping_add(i * i ^ sum >> 3), Relaxed);
    }
}

#[inline(never)]
fn divide() {
    let _label = LabelScope::new("phase", "divisions");
    for i in 1..300000u64 {
        let sum = SUM.load(Relaxed);
        SUM.store(sum.wrapping_add((sum | 1 << 63) / i % 7), Relaxed);
    }
}

fn cpu_time() -> Duration {
    const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
    let mut time = [0; 2];
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time[0] as u64, time[1] as u32)
}

fn measured(work: fn()) -> Duration {
    let start = cpu_time();
    work();
    cpu_time() - start
}

fn main() -> Result<(), String> {
    let name = std::env::args().nth(1).unwrap_or("profile.pb.gz".to_string());
    let file = File::create(&name).map_err(|e| format!("{name}: {e}"))?;
    let mut profile = start(file.as_raw_fd(), NO_KERNEL | LABELS);
    if profile.is_null() && unsafe { pmukit_error_code() } == NO_RIGHTS {
        eprintln!("without labels: {}", error());
        profile = start(file.as_raw_fd(), NO_KERNEL);
    }
    if profile.is_null() {
        return Err(error());
    }

    let (mut squares, mut divisions) = (Duration::ZERO, Duration::ZERO);
    while squares + divisions < Duration::from_millis(500) {
        squares += measured(add_squares);
        divisions += measured(divide);
    }
    println!("add_squares {:.3}", squares.as_secs_f64());
    println!("divide {:.3}", divisions.as_secs_f64());

    if unsafe { pmukit_profile_stop(profile) } < 0 {
        return Err(error());
    }
    let (rows, sum) = functions(&name)?;
    for (function, value) in rows.iter().take(5) {
        println!("{:6.2}% {function}", 100.0 * *value as f64 / sum.max(1) as f64);
    }
    Ok(())
}
