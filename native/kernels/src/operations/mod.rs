//! The operations: each plans its walk over memory and chooses the kernels that read it.

pub mod argreduce;
pub mod block;
pub mod down;
pub mod extremum;
pub mod input;
pub mod interleaved;
pub mod line;
pub mod masks;
pub mod onehot;
pub mod plan;
pub mod reduce;
pub mod results;
pub mod row_batches;
pub mod select;
pub mod share;
pub mod sink;
pub mod small;
pub mod target;
