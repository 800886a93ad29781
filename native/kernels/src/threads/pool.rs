//! Threads of a host: inside somebody else's thread pool, a call shares its work there and starts no thread.

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread;

/// The grain size in a pool: bytes that each thread has to be given for the hand-over to pay.
pub const GRAIN_SIZE: usize = 256 << 10;

/// A thread pool.
pub trait Pool {
    /// Runs the tasks `0..tasks`, each at least once, on any threads, and returns when all are done.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

thread_local! {
    /// The pool for calls from this thread; valid as long as it is set.
    static POOL: Cell<Option<*const dyn Pool>> = const { Cell::new(None) };
}

/// Whether calls from this thread share their work in a pool.
pub(crate) fn is_set() -> bool {
    POOL.get().is_some()
}

/// Runs `work`, whose calls share their work among the threads of `pool`.
pub fn within<R>(pool: &(dyn Pool + 'static), work: impl FnOnce() -> R) -> R {
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

/// Runs `work` on every range in the pool that is set, if one is; results in order.
pub(crate) fn map<R: Send>(ranges: &[Range<usize>], work: &(impl Fn(Range<usize>) -> R + Sync)) -> Option<Vec<R>> {
    // SAFETY: `within` borrows the pool for as long as it is set.
    let pool = POOL.get().map(|pool| unsafe { &*pool })?;
    let results: Vec<Mutex<Option<thread::Result<R>>>> = ranges.iter().map(|_| Mutex::new(None)).collect();
    pool.run(ranges.len(), &|task| {
        // A panic must not unwind through the host.
        let result = catch_unwind(AssertUnwindSafe(|| work(ranges[task].clone())));
        *results[task].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
    });
    let results = results.into_iter().map(|result| match result.into_inner().unwrap_or_else(|p| p.into_inner()) {
        Some(result) => result.unwrap_or_else(|panic| resume_unwind(panic)),
        None => panic!("the thread pool left a task out"),
    });
    Some(results.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;
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
    fn threads_of_a_pool_get_several_tasks_each() {
        let tasks = || threads::tasks(2);
        assert_eq!((within(&Backwards::default(), tasks), tasks()), (8, 2));
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
