//! Pools of threads: inside that of a host a call shares its work there and starts no thread.

use std::cell::Cell;
use std::mem::transmute;

/// The grain size in a pool of a host: bytes that each thread has to be given for the hand-over to pay.
pub const GRAIN_SIZE: usize = 256 << 10;

/// A thread pool.
pub trait Pool {
    /// Whether there are threads to share work with.
    fn shares(&self) -> bool {
        true
    }

    /// Runs the tasks `0..tasks`, each at least once, on any threads, and returns when all are done.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

thread_local! {
    /// The pool for calls from this thread; valid as long as it is set.
    static POOL: Cell<Option<*const dyn Pool>> = const { Cell::new(None) };
}

/// The pool for calls from this thread, if one is set.
pub(crate) fn current() -> Option<&'static dyn Pool> {
    // SAFETY: `within` borrows the pool for as long as it is set, and whoever asks is within.
    POOL.get().map(|pool| unsafe { &*pool })
}

/// Runs `work`, whose calls share their work among the threads of `pool`.
pub fn within<R>(pool: &dyn Pool, work: impl FnOnce() -> R) -> R {
    // SAFETY: it is set for no longer than it is borrowed.
    let pool = unsafe { transmute::<*const (dyn Pool + '_), *const (dyn Pool + 'static)>(pool) };
    let _reset = Reset(POOL.replace(Some(pool)));
    work()
}

/// Puts the pool back that was set before, after a panic too.
struct Reset(Option<*const dyn Pool>);

impl Drop for Reset {
    fn drop(&mut self) {
        POOL.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A pool of one thread that runs its tasks backwards.
    #[derive(Default)]
    struct Backwards(AtomicUsize);

    impl Pool for Backwards {
        fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
            self.0.fetch_add(tasks, Ordering::Relaxed);
            (0..tasks).rev().for_each(task);
        }
    }

    #[test]
    fn work_is_shared_in_the_pool_and_only_within_it() {
        let pool = Backwards::default();
        let work = || threads::map(threads::ranges(10, 3), |range| range.start);
        assert_eq!(within(&pool, work), [0, 3, 6]);
        assert_eq!(work(), [0, 3, 6]);
        assert_eq!(pool.0.into_inner(), 3);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_no_pool_behind() {
        let pool = Backwards::default();
        let work = || threads::map(threads::ranges(10, 3), |range| assert!(range.start != 3, "stop"));
        let panic = catch_unwind(AssertUnwindSafe(|| within(&pool, work)));
        assert!(panic.is_err());
        assert!(POOL.get().is_none());
    }
}
