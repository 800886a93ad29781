//! Threads: how many a call uses, and sharing work among them.

mod limit;
pub mod pool;
mod resident;

pub use limit::{VARIABLE, asked, limit, set_limit};

use resident::Resident;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The grain size: bytes that each thread has to be given for its help to pay. Measured with calls one after the other: two
/// threads take as long as one for 0.5 to 1.3 MB in all, by the kind of call and the second-level cache, and are never slower
/// for the twice 768 KiB that this asks for.
const GRAIN_SIZE: usize = 768 << 10;

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
    if bytes < 2 * IN_FORCE.load(Ordering::Relaxed).min(pool::GRAIN_SIZE) { 1 } else { num_threads_of_large(bytes) }
}

/// The same where there may be several. (Not inlined, for small calls to be spared it.)
#[inline(never)]
fn num_threads_of_large(bytes: usize) -> usize {
    if AT_TASK.get() {
        return 1;
    }
    let grain_size = IN_FORCE.load(Ordering::Relaxed);
    let grain_size = match pool::current() {
        None => grain_size,
        Some(pool) if pool.shares() => grain_size.min(pool::GRAIN_SIZE),
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
    let each = if pool::current().is_some() { TASKS_OF_HOST } else { TASKS };
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
    let pool = pool::current().unwrap_or_else(|| Resident::current());
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
        for total in 0..40 {
            for parts in 1..9 {
                let all: Vec<usize> = ranges(total, parts).into_iter().flatten().collect();
                assert_eq!(all, (0..total).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn results_come_in_order() {
        assert_eq!(map(ranges(10, 3), |range| range.start), [0, 3, 6]);
    }
}
