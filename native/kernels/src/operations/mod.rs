//! The three operations: each plans its walk over memory and chooses the kernels that read it.

pub mod argreduce;
pub mod extremum;
pub mod onehot;
pub mod plan;
pub mod read;
pub mod reduce;
pub mod results;
pub mod sweep;
