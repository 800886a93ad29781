//! The kernels, one file for each way to go through memory. Each is a [`Task`](crate::isa::Task) over raw memory, and
//! knows nothing of shapes.

mod by_integers;
pub mod columns;
pub mod elementwise;
#[cfg(all(test, debug_assertions))]
mod extents;
pub mod lanes;
pub mod omit;
pub mod pack;
pub mod passes;
pub mod rows;
pub mod short_rows;
pub mod small_inner;
pub mod streaming;
pub mod sweep;
pub mod top_k;
pub mod top_k_columns;
pub mod transpose;
mod undecided;
