//! Threads: how many a call uses, and sharing work among them. Inside the pool of a host a call shares its work there and
//! starts no thread.

mod resident;

use resident::Resident;
use std::cell::Cell;
use std::mem::transmute;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// 0: not set yet.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The environment variable that counts until a limit is set.
pub const VARIABLE: &str = "EXTREMUM_NUM_THREADS";

/// What the environment asks for: nothing, a number of threads, or a text that is none.
pub fn asked() -> Option<Result<usize, String>> {
    let text = std::env::var_os(VARIABLE)?.to_string_lossy().into_owned();
    Some(text.trim().parse().ok().filter(|&n| n > 0).ok_or(text))
}

/// The number of threads that a call may use: what was set, else what the environment asks for, else the processors.
pub fn limit() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let processors = || thread::available_parallelism().map_or(1, NonZero::get);
            let limit = asked().and_then(Result::ok).unwrap_or_else(processors);
            LIMIT.store(limit, Ordering::Relaxed);
            limit
        }
        limit => limit,
    }
}

/// Sets the number of threads that a call may use, at least 1.
pub fn set_limit(n: usize) {
    LIMIT.store(n.max(1), Ordering::Relaxed);
}

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

/// The grain size: bytes that each thread has to be given for its help to pay. Measured with calls one after the other: two
/// threads take as long as one for 0.5 to 1.3 MB in all, by the kind of call and the second-level cache, and are never slower
/// for the twice 768 KiB that this asks for.
const GRAIN_SIZE: usize = 768 << 10;

/// The same in a pool of a host, for the hand-over to pay.
const HOST_GRAIN_SIZE: usize = 256 << 10;

/// Tasks for each thread, of this process or of a host.
const TASKS: usize = 2;
const TASKS_OF_HOST: usize = 4;

/// The grain size in force: [`GRAIN_SIZE`], but for tests and measurements.
static IN_FORCE: AtomicUsize = AtomicUsize::new(GRAIN_SIZE);

/// Sets the grain size, and returns what counted before.
pub fn set_grain_size(bytes: usize) -> usize {
    IN_FORCE.swap(bytes.max(1), Ordering::Relaxed)
}

thread_local! {
    /// Whether this thread is at a task: what it calls shares nothing, as the threads are at work already.
    static AT_TASK: Cell<bool> = const { Cell::new(false) };
}

/// The number of threads that a call uses that moves `bytes`.
#[inline]
pub fn num_threads(bytes: usize) -> usize {
    // Small calls look no further.
    if bytes < 2 * IN_FORCE.load(Ordering::Relaxed).min(HOST_GRAIN_SIZE) { 1 } else { num_threads_of_large(bytes) }
}

/// The same where there may be several. (Not inlined, for small calls to be spared it.)
#[inline(never)]
fn num_threads_of_large(bytes: usize) -> usize {
    if AT_TASK.get() {
        return 1;
    }
    let grain_size = IN_FORCE.load(Ordering::Relaxed);
    let grain_size = match current() {
        None => grain_size,
        Some(pool) if pool.shares() => grain_size.min(HOST_GRAIN_SIZE),
        Some(_) => return 1,
    };
    (bytes / grain_size).clamp(1, limit())
}

/// Cuts `0..total` into at most `parts` ranges of nearly equal length, none of them empty.
pub fn ranges(total: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(total).max(1);
    (0..parts).map(|part| total * part / parts..total * (part + 1) / parts).collect()
}

/// Into how many tasks work for so many threads is cut.
///
/// Threads of a host may wake late, by milliseconds: there are several tasks for each, so that late workers find fewer of them
/// left. Measured inside ONNX Runtime, with two threads and calls of 9 ms: the median of the time fell by a sixth. Our own are
/// awake between calls, and each task takes some time to begin and to combine: with half as many, reductions of 2 to 16 MB take
/// up to a seventh less.
pub fn tasks(num_threads: usize) -> usize {
    let each = if current().is_some() { TASKS_OF_HOST } else { TASKS };
    if num_threads == 1 { 1 } else { num_threads * each }
}

/// Runs `work` on every range, in the pool of the host or on the threads of this process; results in order. (Not inlined, as
/// it is no part of a small call.)
#[inline(never)]
pub fn map<R: Send>(ranges: Vec<Range<usize>>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    if let [range] = &ranges[..] {
        return vec![work(range.clone())];
    }
    let results: Vec<_> = ranges.iter().map(|_| Mutex::new(None)).collect();
    let pool = current().unwrap_or_else(|| Resident::current());
    pool.run(ranges.len(), &|task| {
        // A panic must not unwind through a host.
        let before = AT_TASK.replace(true);
        let result = catch_unwind(AssertUnwindSafe(|| work(ranges[task].clone())));
        AT_TASK.set(before);
        *results[task].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
    });
    let results = results.into_iter().map(|result| match result.into_inner().unwrap_or_else(|p| p.into_inner()) {
        Some(result) => result.unwrap_or_else(|panic| resume_unwind(panic)),
        None => panic!("the thread pool left a task out"),
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        for (total, parts) in (0..40).flat_map(|total| (1..9).map(move |parts| (total, parts))) {
            assert!(ranges(total, parts).into_iter().flatten().eq(0..total));
        }
    }

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
        let work = || map(ranges(10, 3), |range| range.start);
        assert_eq!(within(&pool, work), [0, 3, 6]);
        assert_eq!(work(), [0, 3, 6]);
        assert_eq!(pool.0.into_inner(), 3);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_no_pool_behind() {
        let pool = Backwards::default();
        let work = || map(ranges(10, 3), |range| assert!(range.start != 3, "stop"));
        assert!(catch_unwind(AssertUnwindSafe(|| within(&pool, work))).is_err());
        assert!(POOL.get().is_none());
    }
}
