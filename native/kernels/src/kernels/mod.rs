//! The kernels, one file for each way to go through memory. Each is a [`Task`](crate::isa::Task) over raw memory, and
//! knows nothing of shapes.

pub mod columns;
pub mod down;
pub mod elementwise;
pub mod lanes;
pub mod omit;
pub mod pack;
pub mod rows;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", miri)),
    allow(unused, reason = "no instruction set of this architecture serves them")
)]
pub mod short_rows;
pub mod sweep;
pub mod transpose;
