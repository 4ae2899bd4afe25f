// waits KIND [ROUNDS]: as tests/bin/waits.c, with what Rust's standard library has to wait for, or,
// with --cfg parked, parking_lot.
#[cfg(parked)]
mod parked;
#[cfg(parked)]
use parked::{Condvar, Mutex, RwLock};
use std::env;
use std::sync::atomic::{compiler_fence, AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
#[cfg(not(parked))]
use std::sync::{Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

static MUTEX: Mutex<u64> = Mutex::new(0);
static RWLOCK: RwLock<u64> = RwLock::new(0);
static CONDVAR: Condvar = Condvar::new();
static CHANNEL: Mutex<Option<mpsc::Sender<u64>>> = Mutex::new(None);
static QUEUE: Mutex<Option<mpsc::Receiver<u64>>> = Mutex::new(None);
static STOP: AtomicBool = AtomicBool::new(false);
static WAITED: AtomicU64 = AtomicU64::new(0);

fn nap(us: u64) {
    thread::sleep(Duration::from_micros(us));
}

fn count(start: Instant) {
    WAITED.fetch_add(start.elapsed().as_nanos() as u64, SeqCst);
}

#[inline(never)]
fn waiter(kind: &str) {
    let start = Instant::now();
    match kind {
        "mutex" => {
            let mut value = MUTEX.lock().unwrap();
            count(start);
            *value += 1;
        }
        "writers" => {
            let mut value = RWLOCK.write().unwrap();
            count(start);
            *value += 1;
        }
        "readers" => {
            let _value = RWLOCK.read().unwrap();
            count(start);
        }
        "condvar" => {
            let mut items = MUTEX.lock().unwrap();
            while *items == 0 {
                items = CONDVAR.wait(items).unwrap();
            }
            count(start);
            *items -= 1;
        }
        _ => {
            QUEUE.lock().unwrap().as_ref().unwrap().recv().unwrap();
            count(start);
        }
    }
    compiler_fence(SeqCst);
}

#[inline(never)]
fn culprit(kind: &str) {
    match kind {
        "mutex" => {
            let mut value = MUTEX.lock().unwrap();
            nap(4000);
            *value += 1;
        }
        "writers" => {
            let _value = RWLOCK.read().unwrap();
            nap(4000);
        }
        "readers" => {
            let mut value = RWLOCK.write().unwrap();
            nap(4000);
            *value += 1;
        }
        "condvar" => {
            nap(4000);
            *MUTEX.lock().unwrap() += 1;
            CONDVAR.notify_one();
        }
        _ => {
            nap(4000);
            CHANNEL.lock().unwrap().as_ref().unwrap().send(1).unwrap();
        }
    }
    compiler_fence(SeqCst); // so that the call before is not a jump
}

fn main() {
    let kind: String = env::args().nth(1).expect("a kind");
    let rounds: u64 = env::args().nth(2).map_or(300, |n| n.parse().unwrap());
    let locks = matches!(&*kind, "mutex" | "writers" | "readers");
    let waiters: u64 = if kind == "mpsc" { 1 } else { 3 };
    let (sender, receiver) = mpsc::channel();
    *CHANNEL.lock().unwrap() = Some(sender);
    *QUEUE.lock().unwrap() = Some(receiver);
    let threads: Vec<_> = (0..waiters)
        .map(|_| {
            let kind = kind.clone();
            thread::spawn(move || {
                while !STOP.load(SeqCst) {
                    waiter(&kind);
                    if locks {
                        nap(200);
                    }
                }
            })
        })
        .collect();
    let name = kind.clone();
    let other = thread::spawn(move || {
        // who waits for an event sees the end by one more of them
        for round in 0..rounds + if locks { 0 } else { waiters } {
            if round == rounds {
                STOP.store(true, SeqCst);
            }
            culprit(&name);
            if locks {
                nap(1500);
            }
        }
        STOP.store(true, SeqCst);
    });
    other.join().unwrap();
    for thread in threads {
        thread.join().unwrap();
    }
    let waited = WAITED.load(SeqCst);
    eprintln!("truth waited rust-{kind} - waiter {waited}");
    eprintln!("truth caused rust-{kind} - culprit {waited}");
}
