//! The thread pool of a session, so that its options decide how many threads an operator uses.

use crate::api::Api;
use extremum_kernels::threads::Pool;
use ort_sys::OrtKernelContext;
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What was seen of a session's threads. How many there are, it does not say; where there is one alone, work that is cut for
/// several takes longer.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Calls since another thread than the caller's was last seen at work on one.
    alone: AtomicU32,
}

/// Calls without help after which there is taken to be none.
const TRIES: u32 = 8;

/// After so many more, it is tried again.
const AGAIN: u32 = 256;

impl Sharing {
    /// Whether the next call is worth sharing.
    fn pays(&self) -> bool {
        let alone = self.alone.load(Ordering::Relaxed);
        if alone < TRIES {
            return true;
        }
        self.alone.store(if alone == TRIES + AGAIN { TRIES - 1 } else { alone + 1 }, Ordering::Relaxed);
        false
    }

    /// Takes down whether a call that was shared had help.
    fn saw(&self, helped: bool) {
        let alone = if helped { 0 } else { self.alone.load(Ordering::Relaxed).saturating_add(1) };
        self.alone.store(alone, Ordering::Relaxed);
    }
}

thread_local! {
    /// Something that lies elsewhere for each thread.
    static PLACE: u8 = const { 0 };
}

/// What tells a thread from the others.
fn thread() -> usize {
    PLACE.with(|place| ptr::from_ref(place).addr())
}

/// The pool of the session that runs a node.
pub struct SessionPool<'a> {
    api: Api,
    context: *const OrtKernelContext,
    sharing: &'a Sharing,
    shares: bool,
}

impl<'a> SessionPool<'a> {
    /// The pool behind the context of a call, of which the node has seen something.
    ///
    /// # Safety
    /// The context is of the API's ONNX Runtime, and its call outlives what is made here.
    pub unsafe fn new(api: Api, context: *const OrtKernelContext, sharing: &'a Sharing) -> Self {
        Self { api, context, sharing, shares: sharing.pays() }
    }
}

/// The tasks of a call, and which thread asks for them.
struct Call<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    caller: usize,
    helped: AtomicBool,
}

impl Pool for SessionPool<'_> {
    fn shares(&self) -> bool {
        self.shares
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        unsafe extern "C" fn run(call: *mut c_void, index: usize) {
            // SAFETY: the pointer is the one that is passed below, and its target outlives the call.
            let call = unsafe { &*call.cast::<Call>() };
            if thread() != call.caller {
                call.helped.store(true, Ordering::Relaxed);
            }
            (call.task)(index);
        }
        // ONNX Runtime calls it as C does. The declaration says "system", which is another convention on 32-bit Windows alone.
        // SAFETY: nobody calls it by the type that it is given here.
        let run = unsafe {
            transmute::<unsafe extern "C" fn(*mut c_void, usize), unsafe extern "system" fn(*mut c_void, usize)>(run)
        };
        let call = Call { task, caller: thread(), helped: AtomicBool::new(false) };
        let data = (&raw const call).cast_mut().cast();
        // SAFETY: the promise of `new`; every task is done when the function returns.
        let status = unsafe { ((*self.api.table).KernelContext_ParallelFor)(self.context, run, tasks, 0, data) };
        if !self.api.succeeded(status) {
            (0..tasks).for_each(task);
        }
        self.sharing.saw(call.helped.into_inner());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_nobody_helps_shares_no_more_until_it_tries_again() {
        let sharing = Sharing::default();
        let call = |helped: bool| {
            let pays = sharing.pays();
            if pays {
                sharing.saw(helped);
            }
            pays
        };
        let shared: Vec<u32> = (0..1000).filter(|_| call(false)).collect();
        let (first, again) = shared.split_at(TRIES as usize);
        assert!(first.iter().copied().eq(0..TRIES));
        assert!(again.len() == 3 && again.windows(2).all(|pair| pair[1] - pair[0] > AGAIN), "{again:?}");
        while !call(true) {}
        assert!((0..100).all(|_| call(true)), "one call with help, and it shares again");
    }
}
