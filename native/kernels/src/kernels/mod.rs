//! The kernels, one file for each way to go through memory. Each is a [`Task`](crate::isa::Task) over raw memory, and
//! knows nothing of shapes.

pub mod accumulate;
pub mod beyond;
pub mod cache_line;
pub mod columns;
pub mod combine;
pub mod copies;
pub mod descent;
pub mod down;
pub mod exact;
pub mod float16_bits;
pub mod mask;
pub mod omit;
pub mod outputs;
pub mod pack;
pub mod pass;
pub mod passes;
pub mod prefetch;
pub mod rows;
pub mod seek;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", miri)),
    allow(unused, reason = "no instruction set of this architecture serves them")
)]
pub mod short_rows;
pub mod source;
#[cfg(target_arch = "x86_64")]
pub mod squares;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_squares.rs"]
pub mod squares;
pub mod stream;
pub mod sweep;
pub mod transpose;
pub mod turned;
pub mod zip;
