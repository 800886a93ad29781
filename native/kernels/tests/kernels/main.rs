//! The kernels from outside: one program, because what is forced (an instruction set, a limit) holds for all of it.

mod agreement;
#[cfg(all(unix, not(miri)))]
mod apart;
#[cfg(all(unix, not(miri)))]
mod blocks;
#[cfg(all(unix, not(miri)))]
mod fenced;
#[cfg(all(unix, not(miri)))]
mod guard_pages;
mod invariance;
#[cfg(all(unix, not(miri)))]
mod layout;
mod loops;
#[cfg(all(unix, not(miri)))]
mod selections;
mod short_rows;
mod turned;
mod values;
#[cfg(not(miri))]
mod writers;
