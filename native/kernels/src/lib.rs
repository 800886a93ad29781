//! The core operations on strided memory, for every element type. Nothing here knows Python.
//!
//! [`argreduce()`] finds where the extremum lies over any set of axes, [`onehot()`] marks it, [`extremum()`] takes it
//! elementwise over any number of operands, and [`top_k()`] finds the k best along an axis. All normalise the layout of their
//! arrays first ([`layout`]), then run kernels that are written once and compiled for each instruction set ([`isa`]). Only
//! `element` decides how NaN and the zeros compare.

mod element;
pub mod isa;
mod kernels;
pub mod layout;
mod operations;
pub mod threads;
mod thresholds;
mod vector;

pub use element::rank::Extreme;
pub use element::{ElementType, IndexType};
pub use layout::Operand;
pub use operations::choice::set_small_limit;
pub use operations::extremum::extremum;
pub use operations::input::{Input, Omit};
pub use operations::onehot::onehot;
pub use operations::reduce::argreduce;
pub use operations::select::{Target, in_c_order, select};
pub use operations::top_k::top_k;
pub use operations::top_k_walk::TopK;
