//! The thread pool of a session, so that its options decide how many threads an operator uses.

use crate::api::Api;
use extremum_kernels::pool::Pool;
use ort_sys::OrtKernelContext;
use std::ffi::c_void;
use std::mem::transmute;

/// The pool of the session that runs a node.
pub struct SessionPool {
    api: Api,
    context: *const OrtKernelContext,
}

impl SessionPool {
    /// The pool behind the context of a call.
    ///
    /// # Safety
    /// The context is of the API's ONNX Runtime, and its call outlives what is made here.
    pub unsafe fn new(api: Api, context: *const OrtKernelContext) -> Self {
        Self { api, context }
    }
}

type Task<'a> = &'a (dyn Fn(usize) + Sync);

impl Pool for SessionPool {
    fn run(&self, tasks: usize, task: Task<'_>) {
        unsafe extern "C" fn run(task: *mut c_void, index: usize) {
            // SAFETY: the pointer is the one that is passed below, and its target outlives the call.
            let task = unsafe { *task.cast::<Task<'_>>() };
            task(index);
        }
        // ONNX Runtime calls it as C does. The declaration says "system", which is another convention on 32-bit Windows alone.
        // SAFETY: nobody calls it by the type that it is given here.
        let run = unsafe {
            transmute::<unsafe extern "C" fn(*mut c_void, usize), unsafe extern "system" fn(*mut c_void, usize)>(run)
        };
        let data = (&raw const task).cast_mut().cast();
        // SAFETY: the promise of `new`; every task is done when the function returns.
        let status = unsafe { ((*self.api.table()).KernelContext_ParallelFor)(self.context, run, tasks, 0, data) };
        if !self.api.succeeded(status) {
            (0..tasks).for_each(task);
        }
    }
}
