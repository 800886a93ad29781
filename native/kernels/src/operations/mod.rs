//! The operations: each plans its walk over memory and chooses the kernels that read it.

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: what is read, its mask and the outputs are there wherever the layout leads"
)]

pub mod block;
pub mod down;
pub mod extremum;
pub mod input;
pub mod onehot;
pub mod plan;
pub mod reduce;
pub mod select;
pub mod sink;
pub mod small;
pub mod top_k;
