//! The three core operations on strided memory, for every element type. Nothing here knows Python.
//!
//! [`argreduce()`] finds where the extremum lies over any set of axes, [`onehot()`] marks it, and
//! [`extremum()`] takes it elementwise over any number of operands. All three normalise the layout of their
//! arrays first ([`layout`]), then run kernels that are written once and compiled for each instruction set
//! ([`isa`]). What NaN and the zeros mean is decided in `order`, `lanes` and `halves` alone.

mod argreduce;
mod columns;
mod combine;
mod element;
mod extremum;
mod fold;
mod groups;
mod halves;
pub mod isa;
mod lanes;
pub mod layout;
mod onehot;
mod order;
mod pack;
mod plan;
pub mod pool;
mod prefetch;
mod read;
mod reduce;
mod results;
mod rows;
pub mod small;
mod space;
mod sweep;
pub mod threads;
mod transpose;

pub use argreduce::argreduce;
pub use element::{ElementType, IndexType};
pub use extremum::extremum;
pub use onehot::onehot;
pub use reduce::Input;
pub use space::Operand;
pub use sweep::sweep;
