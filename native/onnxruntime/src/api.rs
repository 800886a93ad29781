//! The C API as a host hands it over: its calls as results, and a failure as a status.

use ort_sys::{OrtApi, OrtErrorCode, OrtStatusPtr};
use std::ffi::CString;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// What comes of anything that may fail.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why something failed.
pub enum Failure {
    /// It was refused here.
    Refusal(Refusal),
    /// ONNX Runtime refused it; its status goes back as it came.
    Status(OrtStatusPtr),
}

/// A refusal in our words: what is wrong, what was given, what helps.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, in one sentence without a full stop.
    pub reason: String,
    /// The values that were given.
    pub given: Option<String>,
    /// What would be right.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal that still lacks what was given.
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { reason: reason.into(), given: None, help: Some(help.into()) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        for (label, text) in [("given", &self.given), ("help", &self.help)] {
            if let Some(text) = text {
                write!(f, "; {label}: {text}")?;
            }
        }
        Ok(())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

/// The table of functions of the ONNX Runtime that called us.
#[derive(Clone, Copy)]
pub struct Api(&'static OrtApi);

// SAFETY: the table is constant and its functions may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// Takes the table over.
    ///
    /// # Safety
    /// `table` comes from ONNX Runtime for `ORT_API_VERSION` or an earlier version of which only the functions of
    /// that version are called, and lives as long as the process.
    pub unsafe fn new(table: *const OrtApi) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { &*table })
    }

    /// The functions.
    pub fn table(self) -> &'static OrtApi {
        self.0
    }

    /// A status as a result.
    pub fn check(self, status: OrtStatusPtr) -> Result<()> {
        if status.0.is_null() { Ok(()) } else { Err(Failure::Status(status)) }
    }

    /// Whether a status says that all went well; the status is released.
    pub fn succeeded(self, status: OrtStatusPtr) -> bool {
        if status.0.is_null() {
            return true;
        }
        // SAFETY: the status is ours, and this is its only release.
        unsafe { (self.0.ReleaseStatus)(status.0) };
        false
    }

    /// Runs `work` and turns what comes of it, panics included, into a status.
    pub fn status(self, work: impl FnOnce() -> Result<()>) -> OrtStatusPtr {
        // A panic leaves nothing behind that anybody looks at again: the output is discarded with the run.
        let (code, text) = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => return OrtStatusPtr(ptr::null_mut()),
            Ok(Err(Failure::Status(status))) => return status,
            Ok(Err(Failure::Refusal(refusal))) => (OrtErrorCode::ORT_INVALID_ARGUMENT, refusal.to_string()),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                (OrtErrorCode::ORT_FAIL, format!("extremum failed inside, please report this: {text}"))
            }
        };
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the text ends with a zero and is copied.
        unsafe { (self.0.CreateStatus)(code, text.as_ptr()) }
    }
}

/// Calls a function of the table and returns early if its status says that it failed.
macro_rules! call {
    ($api:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let api: $crate::api::Api = $api;
        // SAFETY: the function is called as the C API documents it, with pointers that are valid for the call.
        let status = unsafe { (api.table().$function)($($argument),*) };
        api.check(status)?
    }};
}
pub(crate) use call;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line() {
        let refusal = Refusal { given: Some("float32[2]".into()), ..Refusal::new("no", "yes") };
        assert_eq!(refusal.to_string(), "no; given: float32[2]; help: yes");
    }
}
