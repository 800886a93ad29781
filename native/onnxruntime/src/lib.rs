//! The three core operations as custom operators of ONNX Runtime: a library that any host can register.
//!
//! The domain `ai.extremum`, version 1, has `ArgReduce`, `OneHot` and `Extremum`; their attributes are read in the
//! files of their names. [`RegisterCustomOps`] is the one function a host needs. It takes everything from the table
//! that the host's ONNX Runtime hands over, so the library is linked to none and serves each that is new enough.
//! Nothing here knows Python.

mod api;
mod arg_reduce;
mod attributes;
mod axes;
mod element;
mod extremum;
mod kernel;
mod one_hot;
mod operator;
mod order;
mod pool;
mod registration;

use crate::arg_reduce::ArgReduce;
use crate::element::ELEMENT_TYPES;
use crate::extremum::Extremum;
use crate::one_hot::OneHot;
use api::{Api, Refusal, Result, call};
use ort_sys::{ORT_API_VERSION, OrtApiBase, OrtCustomOpDomain, OrtSessionOptions, OrtStatusPtr};
use registration::Registration;
use std::ffi::CStr;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// The domain for each ONNX Runtime of this process, by the address of its table.
///
/// Sessions keep pointers to a domain and may outlive everything here, so one is made once and never released.
static DOMAINS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Marks the options of a session that have the domain: ONNX Runtime refuses options that have it twice.
const REGISTERED: &CStr = c"extremum.registered";

/// Adds the operators of the domain `ai.extremum` to the options of a session, unless they are there.
///
/// ONNX Runtime calls this function by its name when the library is registered.
///
/// # Safety
/// Both pointers come from one ONNX Runtime and are valid for the call.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "system" fn RegisterCustomOps(
    options: *mut OrtSessionOptions,
    base: *const OrtApiBase,
) -> OrtStatusPtr {
    // SAFETY: the caller's promise.
    let base = unsafe { &*base };
    // SAFETY: an ONNX Runtime that does not know a version gives no table, and reports that on its standard error.
    let table = unsafe { (base.GetApi)(ORT_API_VERSION) };
    if table.is_null() {
        // SAFETY: every ONNX Runtime knows version 1, and of its table only the making of a status is called.
        let oldest = unsafe { Api::new((base.GetApi)(1)) };
        // SAFETY: the version is a constant text.
        let version = unsafe { CStr::from_ptr((base.GetVersionString)()) }.to_string_lossy();
        return oldest.status(|| {
            let reason = format!("extremum needs ONNX Runtime 1.{ORT_API_VERSION} or later, this is {version}");
            Err(Refusal::new(reason, "upgrade onnxruntime").into())
        });
    }
    // SAFETY: the table is of the version that was asked for.
    let api = unsafe { Api::new(table) };
    api.status(|| {
        let mut registered = 0;
        call!(api, HasSessionConfigEntry(options, REGISTERED.as_ptr(), &raw mut registered));
        if registered == 0 {
            call!(api, AddCustomOpDomain(options, domain(api)?));
            call!(api, AddSessionConfigEntry(options, REGISTERED.as_ptr(), c"1".as_ptr()));
        }
        Ok(())
    })
}

fn domain(api: Api) -> Result<*mut OrtCustomOpDomain> {
    let mut domains = DOMAINS.lock().unwrap_or_else(PoisonError::into_inner);
    let table = (&raw const *api.table()).addr();
    if let Some(&(_, domain)) = domains.iter().find(|&&(known, _)| known == table) {
        return Ok(ptr::with_exposed_provenance_mut(domain));
    }
    let mut domain = ptr::null_mut();
    call!(api, CreateCustomOpDomain(c"ai.extremum".as_ptr(), &raw mut domain));
    for (number, element) in ELEMENT_TYPES {
        call!(api, CustomOpDomain_Add(domain, Registration::of::<ArgReduce>(api, number, element)));
        call!(api, CustomOpDomain_Add(domain, Registration::of::<OneHot>(api, number, element)));
        call!(api, CustomOpDomain_Add(domain, Registration::of::<Extremum>(api, number, element)));
    }
    domains.push((table, domain.expose_provenance()));
    Ok(domain)
}
