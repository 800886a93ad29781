//! The thread pool of a session, so that its options decide how many threads an operator uses.

use crate::api::Api;
use extremum_kernels::threads::Pool;
use ort_sys::OrtKernelContext;
use std::ffi::c_void;
use std::mem::transmute;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// How many calls of a node could have been shared since a thread other than the caller's last helped. A session does not say
/// how many threads it has; with a single thread, work that is cut for several takes longer.
#[derive(Debug, Default)]
pub struct Sharing(AtomicU32);

/// After `TRIES` calls without help a node counts as having no helpers; it tries again every `AGAIN` calls.
const TRIES: u32 = 8;
const AGAIN: u32 = 256;

impl Sharing {
    /// Whether the next call is worth sharing.
    fn pays(&self) -> bool {
        let alone = self.0.load(Ordering::Relaxed);
        self.0.store(alone.wrapping_add(1), Ordering::Relaxed);
        alone < TRIES || alone.is_multiple_of(AGAIN)
    }
}

/// The pool of the session that runs a node.
pub struct SessionPool<'a> {
    api: Api,
    context: *const OrtKernelContext,
    sharing: &'a Sharing,
}

impl<'a> SessionPool<'a> {
    /// # Safety
    /// The context is of the API's ONNX Runtime, and its call outlives what is made here.
    pub unsafe fn new(api: Api, context: *const OrtKernelContext, sharing: &'a Sharing) -> Self {
        Self { api, context, sharing }
    }
}

impl Pool for SessionPool<'_> {
    fn shares(&self) -> bool {
        self.sharing.pays()
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        unsafe extern "C" fn run(task: *mut c_void, index: usize) {
            // SAFETY: the pointer is the one that is passed below, and its target outlives the call.
            (unsafe { *task.cast::<&(dyn Fn(usize) + Sync)>() })(index);
        }
        // ONNX Runtime uses the calling convention of C. The declaration says "system", which differs only on 32-bit Windows.
        // SAFETY: the function is never called by the type that it gets here.
        let run = unsafe {
            transmute::<unsafe extern "C" fn(*mut c_void, usize), unsafe extern "system" fn(*mut c_void, usize)>(run)
        };
        let sharing = self.sharing;
        let caller = thread::current().id();
        let task: &(dyn Fn(usize) + Sync) = &|index| {
            if thread::current().id() != caller {
                sharing.0.store(0, Ordering::Relaxed);
            }
            task(index);
        };
        let data = (&raw const task).cast_mut().cast();
        // SAFETY: the promise of `new`; every task is done when the function returns.
        let status = unsafe { ((*self.api.table).KernelContext_ParallelFor)(self.context, run, tasks, 0, data) };
        if !self.api.is_success(status) {
            (0..tasks).for_each(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_gets_no_help_shares_no_more_until_it_tries_again() {
        let sharing = Sharing::default();
        let calls: Vec<u32> = (0..1000).filter(|_| sharing.pays()).collect();
        assert_eq!(calls, [0, 1, 2, 3, 4, 5, 6, 7, 256, 512, 768]);
    }
}
