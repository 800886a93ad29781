//! The library as a host without Python meets it, which this program is: loaded, registered, left.

#[cfg(unix)]
use libloading::os::unix as system;
#[cfg(windows)]
use libloading::os::windows as system;
use ort_sys::{
    OrtApi, OrtApiBase, OrtCustomOp, OrtCustomOpDomain, OrtErrorCode, OrtSessionOptions, OrtStatus, OrtStatusPtr,
};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::{env, fs, ptr};

type RegisterCustomOps = unsafe extern "system" fn(*mut OrtSessionOptions, *const OrtApiBase) -> OrtStatusPtr;

/// The file that cargo has made of the same crate beside this program.
fn path() -> PathBuf {
    let name = format!("{}extremum_onnxruntime{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    env::current_exe().expect("this program has a path").with_file_name(name)
}

/// Loads it as strictly as can be: every symbol has to be found at once.
fn loaded() -> system::Library {
    #[cfg(unix)]
    // SAFETY: the library does nothing while it is loaded.
    let library = unsafe { system::Library::open(Some(path()), system::RTLD_NOW | system::RTLD_LOCAL) };
    #[cfg(windows)]
    // SAFETY: as above.
    let library = unsafe { system::Library::new(path()) };
    library.unwrap_or_else(|error| panic!("{} does not load: {error}", path().display()))
}

/// The function that a host needs, as an address that is not bound to the handle.
fn register(library: &system::Library) -> RegisterCustomOps {
    // SAFETY: the function has this type.
    *unsafe { library.get::<RegisterCustomOps>(b"RegisterCustomOps\0") }.expect("the library has the function")
}

/// Options of a session: the entries of its configuration, and how many domains it has.
#[derive(Default)]
struct Options {
    entries: BTreeMap<String, String>,
    domains: usize,
}

/// The names of the operators that were added to a domain.
static OPERATORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

const FINE: OrtStatusPtr = OrtStatusPtr(ptr::null_mut());

/// # Safety
/// The text ends with a zero.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

unsafe extern "system" fn create_status(_: OrtErrorCode, message: *const c_char) -> OrtStatusPtr {
    // SAFETY: the caller gives a text.
    OrtStatusPtr(Box::into_raw(Box::new(unsafe { text(message) })).cast::<OrtStatus>())
}

unsafe extern "system" fn create_domain(name: *const c_char, domain: *mut *mut OrtCustomOpDomain) -> OrtStatusPtr {
    // SAFETY: the caller gives a text.
    assert_eq!(unsafe { text(name) }, "ai.extremum");
    // SAFETY: the caller gives room for a pointer; nobody follows this one.
    unsafe { *domain = ptr::without_provenance_mut(1) };
    FINE
}

unsafe extern "system" fn add_operator(_: *mut OrtCustomOpDomain, operator: *const OrtCustomOp) -> OrtStatusPtr {
    // SAFETY: the caller gives an operator, which has a name.
    let name = unsafe { text((*operator).GetName.expect("an operator has a name")(operator)) };
    OPERATORS.lock().expect("no test has failed").push(name);
    FINE
}

unsafe extern "system" fn add_domain(options: *mut OrtSessionOptions, _: *mut OrtCustomOpDomain) -> OrtStatusPtr {
    // SAFETY: the options of this host are its own.
    unsafe { (*options.cast::<Options>()).domains += 1 };
    FINE
}

unsafe extern "system" fn has_entry(
    options: *const OrtSessionOptions,
    key: *const c_char,
    has: *mut c_int,
) -> OrtStatusPtr {
    // SAFETY: as above; the caller gives a text, and room for a number.
    unsafe { *has = (*options.cast::<Options>()).entries.contains_key(&text(key)).into() };
    FINE
}

unsafe extern "system" fn add_entry(
    options: *mut OrtSessionOptions,
    key: *const c_char,
    value: *const c_char,
) -> OrtStatusPtr {
    // SAFETY: as above; the caller gives two texts.
    unsafe { (*options.cast::<Options>()).entries.insert(text(key), text(value)) };
    FINE
}

unsafe extern "system" fn table(_: u32) -> *const OrtApi {
    static TABLE: OnceLock<usize> = OnceLock::new();
    ptr::with_exposed_provenance(*TABLE.get_or_init(|| {
        let table = Box::leak(Box::new(MaybeUninit::<OrtApi>::zeroed())).as_mut_ptr();
        // SAFETY: the places of functions in a table that nobody else has yet.
        unsafe {
            (&raw mut (*table).CreateStatus).write(create_status);
            (&raw mut (*table).CreateCustomOpDomain).write(create_domain);
            (&raw mut (*table).CustomOpDomain_Add).write(add_operator);
            (&raw mut (*table).AddCustomOpDomain).write(add_domain);
            (&raw mut (*table).HasSessionConfigEntry).write(has_entry);
            (&raw mut (*table).AddSessionConfigEntry).write(add_entry);
        }
        table.expose_provenance()
    }))
}

unsafe extern "system" fn version() -> *const c_char {
    c"1.18.0".as_ptr()
}

unsafe extern "system" fn old_version() -> *const c_char {
    c"1.17.3".as_ptr()
}

#[test]
fn nothing_of_python_is_in_it() {
    let bytes = fs::read(path()).expect("cargo has made the library");
    for name in [&b"PyErr_"[..], b"PyExc_", b"PyObject_", b"_Py_"] {
        assert!(!bytes.windows(name.len()).any(|each| each == name), "{}", String::from_utf8_lossy(name));
    }
    assert!(bytes.windows(17).any(|each| each == b"RegisterCustomOps"));
}

#[test]
fn it_is_registered_once_and_stays() {
    let library = loaded();
    let function = register(&library);
    let base = OrtApiBase { GetApi: table, GetVersionString: version };
    let mut options = Options::default();
    for _ in 0..2 {
        // SAFETY: the options and the table are this host's, and are there for the call.
        let status = unsafe { function((&raw mut options).cast(), &raw const base) };
        assert!(status.0.is_null());
        assert_eq!(options.domains, 1);
    }
    let mut count = BTreeMap::new();
    for name in OPERATORS.lock().expect("no test has failed").iter() {
        *count.entry(name.clone()).or_insert(0) += 1;
    }
    let each = ["ArgReduce", "Extremum", "OneHot", "Reduce"].map(|name| (name.to_owned(), 13));
    assert_eq!(count, BTreeMap::from(each));

    // The host closes it with the last session, and what was registered is still there for the next.
    library.close().expect("the library can be closed");
    let mut options = Options::default();
    // SAFETY: as above; the library keeps itself in memory.
    let status = unsafe { function((&raw mut options).cast(), &raw const base) };
    assert!(status.0.is_null());
    assert_eq!(options.domains, 1);
    assert_eq!(OPERATORS.lock().expect("no test has failed").len(), 4 * 13);
}

#[test]
fn an_old_host_is_told_so() {
    let base = OrtApiBase { GetApi: table, GetVersionString: old_version };
    let mut options = Options::default();
    // SAFETY: as above.
    let status = unsafe { register(&loaded())((&raw mut options).cast(), &raw const base) };
    assert!(!status.0.is_null());
    // SAFETY: a status that `create_status` made.
    let message = *unsafe { Box::from_raw(status.0.cast::<String>()) };
    assert_eq!(message, "extremum needs ONNX Runtime 1.18 or later, this is 1.17.3; help: upgrade onnxruntime");
    assert_eq!(options.domains, 0);
}
