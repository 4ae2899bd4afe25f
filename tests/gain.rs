// SPDX-License-Identifier: Apache-2.0
// gain ROUNDS - calls through a trait object that nearly always is of one type.  SIGURG, which does
// nothing by default, marks the beginning and the end of the rounds for tests/bin/branch-step.
use std::os::raw::c_int;

extern "C" {
    fn getpid() -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
}

const SIGURG: c_int = 23;

trait Shape {
    fn area(&self, scale: u64) -> u64;
}

struct Square(u64);
struct Circle(u64);

impl Shape for Square {
    fn area(&self, scale: u64) -> u64 {
        (self.0 * self.0).wrapping_mul(scale) >> 3
    }
}

impl Shape for Circle {
    fn area(&self, scale: u64) -> u64 {
        (self.0 * self.0 * 355 / 113).wrapping_mul(scale)
    }
}

#[inline(never)]
fn sum(shapes: &[Box<dyn Shape>], scale: u64) -> u64 {
    let mut sum = 0u64;
    for shape in shapes {
        sum = sum.wrapping_mul(31).wrapping_add(shape.area(scale));
    }
    sum
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(1, |n| n.parse().unwrap());
    let shapes: Vec<Box<dyn Shape>> = (0..200u64)
        .map(|i| -> Box<dyn Shape> {
            if i % 100 == 99 { Box::new(Circle(i)) } else { Box::new(Square(i)) }
        })
        .collect();
    let mut total = 0u64;
    unsafe { kill(getpid(), SIGURG) };
    for i in 0..rounds {
        total ^= sum(&shapes, i + 1);
    }
    unsafe { kill(getpid(), SIGURG) };
    println!("{}", total);
}
