//! Threads that stay: started at the first call that pays, parked between calls.
//!
//! A call takes part in its own work and asks the others to help. Who comes late finds less to do, or nothing: nobody waits
//! for a thread that is busy with another call.

use crate::threads::{Pool, limit};
use rayon_core::{ThreadPool, ThreadPoolBuilder, Yield, current_thread_index};
use std::cell::Cell;
use std::num::NonZero;
use std::process;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The threads of this process.
pub struct Resident {
    /// Whose threads they are: after `fork` the child has none of them.
    process: u32,
    /// The processors that the process may use.
    processors: usize,
    /// How many threads may work at a time, the caller included.
    width: usize,
    /// The others; None where there are none, or none can be started.
    pool: Option<ThreadPool>,
}

/// The threads in use. What is replaced is never freed, as other calls may still use it: that happens once in a process, when
/// the limit is raised, and once after each fork.
static CURRENT: AtomicPtr<Resident> = AtomicPtr::new(ptr::null_mut());

impl Resident {
    /// The threads for calls of this process. (There is no lock here: one that another thread held during `fork` would stay
    /// locked in the child.)
    pub fn current() -> &'static Self {
        loop {
            let current = CURRENT.load(Ordering::Acquire);
            // SAFETY: null, or what is never freed.
            let known = unsafe { current.as_ref() }.filter(|known| known.process == process::id());
            if let Some(known) = known
                && known.width >= limit().min(known.processors)
            {
                return known;
            }
            // Wide enough for all limits, where one was not.
            let made = Self::new(if known.is_some() { usize::MAX } else { limit() });
            let made = Box::into_raw(Box::new(made));
            if CURRENT.compare_exchange(current, made, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: nobody has seen it.
                drop(unsafe { Box::from_raw(made) });
            }
        }
    }

    fn new(limit: usize) -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let width = limit.min(processors);
        let name = |number| format!("extremum-{number}");
        let threads = ThreadPoolBuilder::new().num_threads(width - 1).thread_name(name);
        // Miri does not end while there are threads; the tests give it a pool of their own.
        let pool = if width > 1 && !cfg!(miri) { threads.build().ok() } else { None };
        Self { process: process::id(), processors, width, pool }
    }
}

impl Pool for Resident {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let helpers = self.width.min(limit()).min(tasks).saturating_sub(1);
        let Some(pool) = self.pool.as_ref().filter(|_| helpers > 0) else { return (0..tasks).for_each(task) };
        // SAFETY: nobody uses the task after `finish` has returned.
        let task = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(task) };
        let taken = (0..tasks).map(|_| AtomicBool::new(false)).collect();
        let job = Arc::new(Job { task, taken, helpers, inside: AtomicUsize::new(0), caller: thread::current() });
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
struct Job {
    task: &'static (dyn Fn(usize) + Sync),
    /// Of each task, whether somebody has taken it.
    taken: Box<[AtomicBool]>,
    /// How many threads are asked to help.
    helpers: usize,
    /// How many helpers are at work, and whether the call has [`ENDED`].
    inside: AtomicUsize,
    caller: Thread,
}

/// Said of a call that takes no more helpers.
const ENDED: usize = 1 << (usize::BITS - 1);

impl Job {
    /// Takes one task after the other, first those of its own share: in the next call on the same memory the same thread
    /// has them in its cache. A task must not unwind.
    fn work(&self, worker: usize) {
        let first = self.taken.len() * worker / (self.helpers + 1);
        for task in (first..self.taken.len()).chain(0..first) {
            if !self.taken[task].load(Ordering::Relaxed) && !self.taken[task].swap(true, Ordering::Relaxed) {
                (self.task)(task);
            }
        }
    }

    fn help(&self) {
        let enter = |inside: usize| (inside & ENDED == 0).then_some(inside + 1);
        if self.inside.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_err() {
            return;
        }
        self.work(1 + current_thread_index().unwrap_or(0) % self.helpers);
        if self.inside.fetch_sub(1, Ordering::Release) == ENDED + 1 {
            self.caller.unpark();
        }
    }

    /// Lets no more helpers in, and waits for those that are at work.
    fn finish(&self) {
        let mut inside = self.inside.fetch_or(ENDED, Ordering::AcqRel) | ENDED;
        // They are nearly done; to be woken takes longer.
        for _ in 0..SPINS {
            if inside == ENDED {
                break;
            }
            std::hint::spin_loop();
            inside = self.inside.load(Ordering::Acquire);
        }
        while inside != ENDED {
            thread::park();
            inside = self.inside.load(Ordering::Acquire);
        }
    }
}

thread_local! {
    /// Whether this thread waits for the next call already.
    static LINGERS: Cell<bool> = const { Cell::new(false) };
}

/// Stays awake for the next call: to wake a thread takes as long as some hundred kilobytes.
fn linger() {
    if LINGERS.replace(true) {
        // Below on the stack somebody does.
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

/// How often a caller looks whether the others are done before it sleeps: some 20 us.
const SPINS: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(width: usize) -> Resident {
        let threads = ThreadPoolBuilder::new().num_threads(width - 1);
        let pool = if width > 1 && !cfg!(miri) { threads.build().ok() } else { None };
        Resident { process: process::id(), processors: width, width, pool }
    }

    #[test]
    fn every_task_is_done_once() {
        for width in 1..4 {
            let resident = resident(width);
            for tasks in [1, 2, 3, 50] {
                let done: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                resident.run(tasks, &|task| {
                    done[task].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn calls_one_after_the_other_do_not_pile_up_on_a_stack() {
        let resident = resident(2);
        let done = AtomicUsize::new(0);
        let calls = if cfg!(miri) { 3 } else { 30_000 };
        for _ in 0..calls {
            resident.run(2, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(done.into_inner(), 2 * calls);
    }

    #[test]
    fn nobody_waits_for_threads_that_another_call_keeps_busy() {
        let resident = resident(2);
        let (busy, over) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            // Both of its tasks, that of the caller and that of the other thread, last until the call below has ended.
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
