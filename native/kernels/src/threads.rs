//! Threads: how many a call uses, and how they share its work. Inside a host's pool a call shares its work there and starts
//! no thread. The threads of this process stay: they start at the first call that pays, and are parked between calls.
//!
//! The calling thread does a part of the work and asks other threads to help. A thread that comes late finds less to do, or
//! nothing: no call waits for a thread that is busy with another call.

use rayon_core::{ThreadPool, ThreadPoolBuilder, Yield, current_thread_index};
use std::cell::Cell;
use std::mem::transmute;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// 0: not set yet.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// What `EXTREMUM_NUM_THREADS` says: nothing, a number of threads, or a text that is not such a number.
pub fn environment() -> Option<Result<usize, String>> {
    let text = std::env::var_os("EXTREMUM_NUM_THREADS")?.to_string_lossy().into_owned();
    Some(text.trim().parse().ok().filter(|&n| n > 0).ok_or(text))
}

/// The number of threads that a call may use: the limit that was set, else the environment's, else the number of processors.
pub fn limit() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            set_limit(environment().and_then(Result::ok).unwrap_or_else(processors));
            LIMIT.load(Ordering::Relaxed)
        }
        limit => limit,
    }
}

/// The number of processors that the process may use.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
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
    // SAFETY: `within` borrows the pool for as long as it is set, and all callers run inside `within`.
    POOL.get().map(|pool| unsafe { &*pool })
}

/// Runs `work`, whose calls share their work among the threads of `pool`.
pub fn within<R>(pool: &dyn Pool, work: impl FnOnce() -> R) -> R {
    // SAFETY: the pool is set for no longer than it is borrowed.
    let pool = unsafe { transmute::<*const (dyn Pool + '_), *const (dyn Pool + 'static)>(pool) };
    let before = POOL.replace(Some(pool));
    let result = catch_unwind(AssertUnwindSafe(work));
    POOL.set(before);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// The grain size: the bytes that each thread must get for its help to pay. Measured with calls one after the other: two
/// threads take as long as one for 0.5 to 1.3 MB in total, depending on the kind of call and the second-level cache. They are
/// never slower for the two times 768 KiB that this constant requires.
const GRAIN_SIZE: usize = 768 << 10;

/// The grain size in a host's pool: the bytes for which the hand-over pays.
const HOST_GRAIN_SIZE: usize = 256 << 10;

/// Tasks for each thread, of this process or of a host.
const TASKS: usize = 2;
const TASKS_OF_HOST: usize = 4;

/// The grain size in force: [`GRAIN_SIZE`], except in tests and measurements.
static IN_FORCE: AtomicUsize = AtomicUsize::new(GRAIN_SIZE);

/// Sets the grain size, and returns the previous size.
pub fn set_grain_size(bytes: usize) -> usize {
    IN_FORCE.swap(bytes.max(1), Ordering::Relaxed)
}

thread_local! {
    /// Whether this thread runs a task: calls inside a task share no work, because the threads are already busy.
    static AT_TASK: Cell<bool> = const { Cell::new(false) };
}

/// The number of threads for a call that moves `bytes`.
#[inline]
pub fn num_threads(bytes: usize) -> usize {
    // Small calls look no further.
    if bytes < 2 * IN_FORCE.load(Ordering::Relaxed).min(HOST_GRAIN_SIZE) { 1 } else { num_threads_of_large(bytes) }
}

/// The same for calls that may use several threads. It is not inlined, to keep its code out of small calls.
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

/// Cuts `0..total` into at most `parts` ranges of nearly equal length, none of them empty unless `total` is 0.
pub fn ranges(total: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(total).max(1);
    (0..parts).map(|part| total * part / parts..total * (part + 1) / parts).collect()
}

/// The number of tasks into which work for `num_threads` threads is cut.
///
/// Threads of a host may wake milliseconds late. With several tasks per thread, late workers find fewer tasks left: inside ONNX
/// Runtime, with two threads and calls of 9 ms, the median time fell by a sixth. Our own threads are awake between calls, and
/// each task takes some time to begin and to combine: with half as many tasks, reductions of 2 to 16 MB take up to a seventh
/// less time.
pub fn tasks(num_threads: usize) -> usize {
    let each = if current().is_some() { TASKS_OF_HOST } else { TASKS };
    if num_threads == 1 { 1 } else { num_threads * each }
}

/// Runs `work` on ranges that cover `0..total`, on `num_threads` threads.
#[inline]
pub fn share(total: usize, num_threads: usize, work: impl Fn(Range<usize>) + Sync) {
    match num_threads {
        1 => work(0..total),
        _ => drop(map(ranges(total, tasks(num_threads)), work)),
    }
}

/// Runs `work` on every range, in the pool of the host or on the threads of this process; results in order. It is not
/// inlined, because small calls do not use it.
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
        *results[task].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let results = results.into_iter().map(|result| match result.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(result) => result.unwrap_or_else(|panic| resume_unwind(panic)),
        None => panic!("the thread pool left a task out"),
    });
    results.collect()
}

/// The threads of this process.
struct Resident {
    /// The process that owns the threads: after `fork` the child has none of them.
    process: u32,
    /// The processors that the process may use.
    processors: usize,
    /// How many threads may work at a time, the caller included.
    width: usize,
    /// The other threads; None if `width` is 1, or if no thread can be started.
    pool: Option<ThreadPool>,
}

/// The threads in use. A replaced value is never freed, because other calls may still use it. It is replaced once in a process,
/// when the limit is raised, and once after each fork.
static CURRENT: AtomicPtr<Resident> = AtomicPtr::new(ptr::null_mut());

impl Resident {
    /// The threads for calls of this process. This takes no lock: a lock that another thread held during `fork` would stay
    /// locked in the child.
    fn current() -> &'static Self {
        loop {
            let current = CURRENT.load(Ordering::Acquire);
            // SAFETY: the pointer is null, or its value is never freed.
            let own = unsafe { current.as_ref() }.filter(|own| own.process == process::id());
            if let Some(own) = own
                && own.width >= limit().min(own.processors)
            {
                return own;
            }
            // If the known threads are too few, make enough for any limit.
            let processors = processors();
            let width = if own.is_some() { processors } else { limit().min(processors) };
            let new = Box::into_raw(Box::new(Self::new(width, processors)));
            if CURRENT.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    fn new(width: usize, processors: usize) -> Self {
        let name = |number| format!("extremum-{number}");
        let threads = ThreadPoolBuilder::new().num_threads(width - 1).thread_name(name);
        // Miri does not end while there are threads; the tests give it their own pool.
        let pool = if width > 1 && !cfg!(miri) { threads.build().ok() } else { None };
        Self { process: process::id(), processors, width, pool }
    }
}

impl Pool for Resident {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let helpers = self.width.min(limit()).min(tasks).saturating_sub(1);
        let Some(pool) = self.pool.as_ref().filter(|_| helpers > 0) else { return (0..tasks).for_each(task) };
        // SAFETY: the task is not used after `finish` has returned.
        let task = unsafe { transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(task) };
        let claims = (0..tasks).map(|_| AtomicBool::new(false)).collect();
        let job =
            Arc::new(SharedTask { task, claims, helpers, inside: AtomicUsize::new(0), caller: thread::current() });
        for _ in 0..helpers {
            let job = Arc::clone(&job);
            pool.spawn(move || {
                job.help();
                drop(job);
                linger();
            });
        }
        job.work(0);
        job.finish();
    }
}

/// The tasks of one call.
struct SharedTask {
    task: &'static (dyn Fn(usize) + Sync),
    /// For each task, whether a thread has taken it.
    claims: Box<[AtomicBool]>,
    /// How many threads may help.
    helpers: usize,
    /// How many helpers are at work, and whether the call is at its [`END`].
    inside: AtomicUsize,
    caller: Thread,
}

/// Marks a call that takes no more helpers.
const END: usize = 1 << (usize::BITS - 1);

impl SharedTask {
    /// Takes one task after the other, its own share first: in the next call on the same memory, the thread then has its
    /// share in its cache. A task must not unwind.
    fn work(&self, worker: usize) {
        let first = self.claims.len() * worker / (self.helpers + 1);
        for task in (first..self.claims.len()).chain(0..first) {
            if !self.claims[task].load(Ordering::Relaxed) && !self.claims[task].swap(true, Ordering::Relaxed) {
                (self.task)(task);
            }
        }
    }

    fn help(&self) {
        let enter = |inside: usize| (inside & END == 0).then_some(inside + 1);
        if self.inside.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_err() {
            return;
        }
        self.work(1 + current_thread_index().unwrap_or(0) % self.helpers);
        if self.inside.fetch_sub(1, Ordering::Release) == END + 1 {
            self.caller.unpark();
        }
    }

    /// Lets no more helpers in, and waits for those that are at work.
    fn finish(&self) {
        let mut inside = self.inside.fetch_or(END, Ordering::AcqRel) | END;
        let mut spins = 0..SPINS;
        while inside != END {
            // The helpers are nearly done; sleeping and being woken would take longer.
            if spins.next().is_some() {
                std::hint::spin_loop()
            } else {
                thread::park()
            }
            inside = self.inside.load(Ordering::Acquire);
        }
    }
}

thread_local! {
    /// Whether this thread already waits for the next call.
    static LINGERS: Cell<bool> = const { Cell::new(false) };
}

/// Stays awake for the next call: waking a thread takes as long as processing some hundred kilobytes.
fn linger() {
    if LINGERS.replace(true) {
        // An outer call on this stack lingers already.
        return;
    }
    let mut since = Instant::now();
    while since.elapsed() < LINGER {
        match rayon_core::yield_now() {
            Some(Yield::Executed) => since = Instant::now(),
            _ => thread::yield_now(),
        }
    }
    LINGERS.set(false);
}

/// How long a thread stays awake after a call.
const LINGER: Duration = Duration::from_micros(200);

/// How often a caller checks whether the others are done before it sleeps: about 20 us in total.
const SPINS: usize = 500;

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

    #[test]
    fn every_task_is_done_once_and_many_calls_do_not_pile_up_on_a_stack() {
        let many = if cfg!(miri) { 3 } else { 30_000 };
        for (width, tasks, calls) in [(1, 50, 1), (2, 1, 1), (2, 2, many), (3, 3, 1), (3, 50, 1)] {
            let resident = Resident::new(width, width);
            let done: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            for _ in 0..calls {
                resident.run(tasks, &|task| {
                    done[task].fetch_add(1, Ordering::Relaxed);
                });
            }
            assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == calls));
        }
    }

    #[test]
    fn a_call_does_not_wait_for_threads_that_another_call_keeps_busy() {
        let resident = Resident::new(2, 2);
        let busy = AtomicBool::new(false);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            // Both tasks, the caller's and the other thread's, last until the call below has ended.
            let call = || {
                resident.run(2, &|_| {
                    busy.store(true, Ordering::Release);
                    while !over.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                })
            };
            let other = (!cfg!(miri)).then(|| scope.spawn(call));
            while other.is_some() && !busy.load(Ordering::Acquire) {
                thread::yield_now();
            }
            let done = AtomicUsize::new(0);
            resident.run(8, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
            over.store(true, Ordering::Release);
            assert_eq!(done.into_inner(), 8);
        });
    }
}
