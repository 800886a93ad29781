//! Threads: how many a call uses, and sharing work among them.
//!
//! Threads live as long as the call that needs them. A call that is shared takes far longer than starting a
//! thread does, and in return there is no pool to go stale after `fork`, to deadlock inside other pools, or
//! to be fought over by callers on many threads.

pub mod pool;

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The grain size: bytes that each thread has to be given for its start to pay. Measured: to start one and to wait for it
/// costs about 120 us, in which one thread reads 4 MiB; twice that is where two threads are never slower.
const GRAIN_SIZE: usize = 8 << 20;

/// Tasks for each thread of a pool.
const TASKS: usize = 4;

/// The grain size in force: [`GRAIN_SIZE`], but for tests and measurements.
static IN_FORCE: AtomicUsize = AtomicUsize::new(GRAIN_SIZE);

/// Sets the grain size, and returns what counted before.
pub fn set_grain_size(bytes: usize) -> usize {
    IN_FORCE.swap(bytes.max(1), Ordering::Relaxed)
}

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

/// The number of threads that a call uses that moves `bytes`.
pub fn num_threads(bytes: usize) -> usize {
    let grain_size = IN_FORCE.load(Ordering::Relaxed);
    // Small calls look no further.
    if bytes < 2 * grain_size.min(pool::GRAIN_SIZE) {
        return 1;
    }
    let grain_size = if pool::is_set() { grain_size.min(pool::GRAIN_SIZE) } else { grain_size };
    (bytes / grain_size).clamp(1, limit())
}

/// Cuts `0..total` into at most `parts` ranges of nearly equal length, none of them empty.
pub fn ranges(total: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(total).max(1);
    (0..parts).map(|part| total * part / parts..total * (part + 1) / parts).collect()
}

/// Into how many tasks work for `parts` threads is cut.
///
/// Threads of a pool may wake milliseconds late: there are several tasks for each, so that late workers find fewer of
/// them left. Measured inside ONNX Runtime, with two threads and calls of 9 ms: the
/// median of the time fell by a sixth.
pub fn tasks(parts: usize) -> usize {
    if pool::is_set() { parts * TASKS } else { parts }
}

/// Runs `work` on every range, each on its own thread, the first on the calling one; results in order.
pub fn map<R: Send>(ranges: Vec<Range<usize>>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    if let [range] = &ranges[..] {
        return vec![work(range.clone())];
    }
    if let Some(results) = pool::map(&ranges, &work) {
        return results;
    }
    let work = &work;
    thread::scope(|scope| {
        let mut ranges = ranges.into_iter();
        let own = ranges.next();
        // A thread that cannot be started is no reason to fail: its range is done here.
        let started: Vec<_> = ranges
            .map(|range| {
                let again = range.clone();
                (thread::Builder::new().spawn_scoped(scope, move || work(range)), again)
            })
            .collect();
        let own = own.map(work);
        let others = started.into_iter().map(|(handle, range)| match handle {
            Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => work(range),
        });
        own.into_iter().chain(others).collect()
    })
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
