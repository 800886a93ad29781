//! How many threads a call may use.

use std::num::NonZero;
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
