//! Work that leaves the interpreter alone.

use pyo3::prelude::*;

/// Bytes from which letting other Python threads run costs less than it gives.
const DETACHED: usize = 1 << 16;

/// Runs `work`, detached from the interpreter where it is long enough for others to notice.
#[inline(always)]
pub fn detached(py: Python<'_>, bytes: usize, work: impl FnOnce()) {
    if bytes < DETACHED {
        return work();
    }
    apart(py, work);
}

#[cold]
fn apart(py: Python<'_>, work: impl FnOnce()) {
    let work = Unbound(work);
    py.detach(move || {
        let Unbound(work) = { work };
        work()
    })
}

/// Work that reads and writes array memory through raw pointers and touches no Python object.
struct Unbound<F>(F);

// SAFETY: the closure runs on the thread that made it; `detach` asks for Send to keep Python objects out.
unsafe impl<F> Send for Unbound<F> {}
