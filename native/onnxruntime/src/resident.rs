//! Keeping this library in memory once it is used.
//!
//! ONNX Runtime unloads a library with the last options and sessions that have it, and loads it again with the next.
//! What is made once for the process would then be made with every cycle, and nobody could release it: only the
//! library knows when its operators are out of use. So it stays, as Python's modules do anyway once they are imported.

/// Keeps the library loaded until the process ends. Where that fails it works all the same, at 10 KB a cycle.
pub fn stay() {
    #[cfg(unix)]
    // SAFETY: both functions are called as they are documented; the path that the first one finds is the loader's own.
    unsafe {
        let mut this: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(stay as fn() as *const libc::c_void, &raw mut this) != 0 && !this.dli_fname.is_null() {
            // A handle that is never closed.
            libc::dlopen(this.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD);
        }
    }
    #[cfg(windows)]
    // SAFETY: the function is called as it is documented: with these flags the name is an address in the library.
    unsafe {
        use windows_sys::Win32::System::LibraryLoader as loader;
        let flags = loader::GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | loader::GET_MODULE_HANDLE_EX_FLAG_PIN;
        let mut this = std::ptr::null_mut();
        loader::GetModuleHandleExW(flags, (stay as fn() as *const u16).cast(), &raw mut this);
    }
}
