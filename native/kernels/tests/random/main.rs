//! Random calls of every operation, compared with loops, on memory that is exactly as large as the layout.
//!
//! This finds wrong answers, bytes written where no element lies, and changed inputs. Reading or writing past the memory ends the
//! process where the next page is inaccessible; Miri and AddressSanitizer find the rest.
//!
//! `EXTREMUM_CASES` or `EXTREMUM_SECONDS` set how long the test runs, `EXTREMUM_SEED` sets which cases. A failure names the case,
//! and `EXTREMUM_FIRST_CASE` begins with that case.

mod case;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod denormals;
mod early;
mod key;
mod memory;

use case::Case;
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::threads;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A small generator of numbers (splitmix64), so that a case is the same everywhere.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// A pool for Miri that starts a thread for each task, because Miri does not end while threads of the process's own pool stay.
struct Scope;

impl threads::Pool for Scope {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        thread::scope(|scope| (0..tasks).for_each(|number| drop(scope.spawn(move || task(number)))));
    }
}

/// Keeps other tests from forcing their settings at the same time.
fn settings() -> MutexGuard<'static, ()> {
    static SETTINGS: Mutex<()> = Mutex::new(());
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[test]
fn random_calls_agree_with_loops_and_touch_nothing_else() {
    let _settings = settings();
    let usual = if cfg!(miri) { 150 } else { 500 };
    let seed = setting("EXTREMUM_SEED").unwrap_or(1);
    let first = setting("EXTREMUM_FIRST_CASE").unwrap_or(0);
    let time = setting("EXTREMUM_SECONDS").map(Duration::from_secs);
    let cases = setting("EXTREMUM_CASES").unwrap_or(if time.is_some() { u64::MAX } else { usual });
    let start = Instant::now();
    let mut number = first;
    while number - first < cases && time.is_none_or(|time| start.elapsed() < time) {
        let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(number));
        let case = Case::new(&mut random);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case.run(&mut random))) {
            eprintln!("EXTREMUM_SEED={seed} EXTREMUM_FIRST_CASE={number}: {case:?}");
            resume_unwind(panic);
        }
        number += 1;
    }
    let sets: Vec<_> = InstructionSet::ALL.into_iter().filter(|set| set.is_available()).map(|set| set.name()).collect();
    let done = number - first;
    let seconds = start.elapsed().as_secs_f64();
    println!("random: {done} cases, seed {seed}, {}: {seconds:.1} s", sets.join(", "));
}
