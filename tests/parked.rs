// The locks of parking_lot, with the calls of those in std::sync: for waits.rs, with --cfg parked.
use parking_lot::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use std::convert::Infallible;

pub struct Mutex<T>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex(parking_lot::const_mutex(value))
    }
    pub fn lock(&self) -> Result<MutexGuard<T>, Infallible> {
        Ok(self.0.lock())
    }
}

pub struct RwLock<T>(parking_lot::RwLock<T>);

impl<T> RwLock<T> {
    pub const fn new(value: T) -> Self {
        RwLock(parking_lot::const_rwlock(value))
    }
    pub fn read(&self) -> Result<RwLockReadGuard<T>, Infallible> {
        Ok(self.0.read())
    }
    pub fn write(&self) -> Result<RwLockWriteGuard<T>, Infallible> {
        Ok(self.0.write())
    }
}

pub struct Condvar(parking_lot::Condvar);

impl Condvar {
    pub const fn new() -> Self {
        Condvar(parking_lot::Condvar::new())
    }
    pub fn wait<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, Infallible> {
        self.0.wait(&mut guard);
        Ok(guard)
    }
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }
}
