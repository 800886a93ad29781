//! A pool for Miri, which does not end while threads of the process's own stay.

use extremum_kernels::pool::Pool;
use std::thread;

/// Starts a thread for each task.
pub struct Scoped;

impl Pool for Scoped {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        thread::scope(|scope| (0..tasks).for_each(|number| drop(scope.spawn(move || task(number)))));
    }
}
