//! The operations: each plans its walk over memory and chooses the kernels that read it.

pub mod block;
pub mod choice;
mod copies;
mod empty_slices;
pub mod extremum;
pub mod input;
pub mod onehot;
pub mod plan;
pub mod reduce;
mod repeated_rows;
pub mod select;
pub mod sink;
pub mod small;
pub mod small_inner;
pub mod top_k;
pub mod top_k_walk;
mod two_steps;
mod wide_rows;
