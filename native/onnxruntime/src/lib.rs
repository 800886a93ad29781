//! The core operations as custom operators of ONNX Runtime: a library that any host can register. It is also part of the
//! Python module, whose file is the library for hosts in Python.
//!
//! The domain `ai.extremum`, version 1, has `ArgReduce`, `OneHot`, `Extremum`, `Reduce` and `TopK`, which are in
//! `operators`. A host needs only the function [`RegisterCustomOps`]. It takes everything from the table that the host's
//! ONNX Runtime hands over, so the library is not linked to ONNX Runtime and works with each release that is new enough.
//! Nothing here knows Python.

mod api;
mod attributes;
mod kernel;
mod operators;
mod pool;

use crate::operators::{ELEMENT_TYPES, OPERATORS};
use api::{Api, Result, call, refuse};
use kernel::Registration;
use ort_sys::{OrtApiBase, OrtCustomOpDomain, OrtSessionOptions, OrtStatusPtr};
use std::ffi::CStr;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// The domain for each ONNX Runtime of this process, by the address of its table.
///
/// Sessions keep pointers to a domain and may outlive everything here, so a domain is made once and never released.
static DOMAINS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Marks session options that already have the domain: ONNX Runtime refuses options that have it twice.
const MARK: &CStr = c"extremum.registered";

/// Adds the operators of the domain `ai.extremum` to the options of a session, unless they are there.
///
/// ONNX Runtime calls this function by its name when the library is registered.
///
/// # Safety
/// Both pointers are null or come from one ONNX Runtime, and are valid for the call.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "system" fn RegisterCustomOps(
    options: *mut OrtSessionOptions,
    base: *const OrtApiBase,
) -> OrtStatusPtr {
    let register = |api| {
        if options.is_null() {
            return refuse("there are no session options to register in", "give some");
        }
        let mut has_domain = 0;
        call!(api, HasSessionConfigEntry(options, MARK.as_ptr(), &raw mut has_domain));
        if has_domain == 0 {
            call!(api, AddCustomOpDomain(options, domain(api)?));
            call!(api, AddSessionConfigEntry(options, MARK.as_ptr(), c"1".as_ptr()));
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { Api::with(base, register) }
}

/// The domain for an ONNX Runtime, with all its operators.
fn domain(api: Api) -> Result<*mut OrtCustomOpDomain> {
    let mut domains = DOMAINS.lock().unwrap_or_else(PoisonError::into_inner);
    let table = api.table.addr();
    if let Some(&(_, domain)) = domains.iter().find(|&&(each, _)| each == table) {
        return Ok(ptr::with_exposed_provenance_mut(domain));
    }
    stay();
    let mut domain = ptr::null_mut();
    call!(api, CreateCustomOpDomain(c"ai.extremum".as_ptr(), &raw mut domain));
    for (number, element) in ELEMENT_TYPES {
        for operator in &OPERATORS {
            call!(api, CustomOpDomain_Add(domain, Registration::of(api, operator, number, element)));
        }
    }
    domains.push((table, domain.expose_provenance()));
    Ok(domain)
}

/// Keeps the library loaded until the process ends. Otherwise ONNX Runtime unloads it with its last options and sessions,
/// loads it again with the next, and gets new domains each time. If this fails, each such cycle costs 10 KB.
fn stay() {
    #[cfg(unix)]
    // SAFETY: both functions are called as documented; the path that `dladdr` finds is the loader's own.
    unsafe {
        let mut this: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(stay as fn() as *const libc::c_void, &raw mut this) != 0 && !this.dli_fname.is_null() {
            // A handle that is never closed.
            libc::dlopen(this.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD);
        }
    }
    #[cfg(windows)]
    // SAFETY: the function is called as documented: with these flags the name is an address in the library.
    unsafe {
        use windows_sys::Win32::System::LibraryLoader as loader;
        let flags = loader::GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | loader::GET_MODULE_HANDLE_EX_FLAG_PIN;
        let mut this = std::ptr::null_mut();
        loader::GetModuleHandleExW(flags, (stay as fn() as *const u16).cast(), &raw mut this);
    }
}
