//! Threads: how many are worth starting, and sharing work among them.
//!
//! Threads live as long as the call that needs them. A call worth sharing takes far longer than starting a
//! thread does, and in return there is no pool to go stale after `fork`, to deadlock inside other pools, or
//! to be fought over by callers on many threads.

pub mod pool;

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bytes that each thread has to be given for its start to pay. Measured: to start one and to wait for it
/// costs about 120 us, in which one thread reads 4 MiB; twice that is where two threads are never slower.
const SHARE: usize = 8 << 20;

/// Tasks for each thread of a pool.
const TASKS: usize = 4;

/// The share in force: [`SHARE`], but for tests and measurements.
static IN_FORCE: AtomicUsize = AtomicUsize::new(SHARE);

/// Sets the bytes that each thread has to be given, and returns what counted before.
pub fn set_share(bytes: usize) -> usize {
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

/// How many threads a call that moves `bytes` is worth.
pub fn worth(bytes: usize) -> usize {
    let share = IN_FORCE.load(Ordering::Relaxed);
    // Small calls look no further.
    if bytes < 2 * share.min(pool::SHARE) {
        return 1;
    }
    let share = if pool::is_set() { share.min(pool::SHARE) } else { share };
    (bytes / share).clamp(1, limit())
}

/// Cuts `0..total` into at most `parts` ranges of nearly equal length, none of them empty.
pub fn shares(total: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(total).max(1);
    (0..parts).map(|part| total * part / parts..total * (part + 1) / parts).collect()
}

/// Into how many tasks work for `parts` threads is cut.
///
/// The threads of a pool come when they are awake, which may be milliseconds late: there are several tasks for each, so
/// that those who are there take what is left. Measured inside ONNX Runtime, with two threads and calls of 9 ms: the
/// median of the time fell by a sixth.
pub fn tasks(parts: usize) -> usize {
    if pool::is_set() { parts * TASKS } else { parts }
}

/// Runs `work` on every share, each on its own thread, the first on the calling one; results in order.
pub fn map<R: Send>(shares: Vec<Range<usize>>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    if let [share] = &shares[..] {
        return vec![work(share.clone())];
    }
    if let Some(results) = pool::map(&shares, &work) {
        return results;
    }
    let work = &work;
    thread::scope(|scope| {
        let mut shares = shares.into_iter();
        let own = shares.next();
        // A thread that cannot be started is no reason to fail: its share is done here.
        let started: Vec<_> = shares
            .map(|share| {
                let again = share.clone();
                (thread::Builder::new().spawn_scoped(scope, move || work(share)), again)
            })
            .collect();
        let own = own.map(work);
        let others = started.into_iter().map(|(handle, share)| match handle {
            Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => work(share),
        });
        own.into_iter().chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once() {
        for total in 0..40 {
            for parts in 1..9 {
                let all: Vec<usize> = shares(total, parts).into_iter().flatten().collect();
                assert_eq!(all, (0..total).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn results_come_in_order() {
        assert_eq!(map(shares(10, 3), |share| share.start), [0, 3, 6]);
    }
}
