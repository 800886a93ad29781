//! Short rows that lie contiguous in memory, a batch of them at a time. There is AVX-512 for it, and no other
//! instruction set yet: the masks that it compares into are what makes batches fast.
//!
//! Each row is reduced to one vector. Where that is all of a row, vectors are then combined in pairs, so that the extremes of all
//! rows of a batch end up side by side for three instructions a row. Longer rows stay in registers, and each is reduced alone:
//! to read them again would take longer. Last, each row is compared with its extreme, and the place of the first (or last) hit
//! is a count of zero bits. No step depends on the values.
//!
//! The lanes of every kind are mapped so that the largest is wanted: eight kinds stand for all element
//! types and both orders.

pub mod batch;
#[cfg(target_arch = "x86_64")]
mod bools;
#[cfg(target_arch = "x86_64")]
mod both;
#[cfg(target_arch = "x86_64")]
mod chunked;
#[cfg(target_arch = "x86_64")]
pub mod dispatch;
#[cfg(not(target_arch = "x86_64"))]
#[path = "without.rs"]
pub mod dispatch;
#[cfg(target_arch = "x86_64")]
mod few;
#[cfg(target_arch = "x86_64")]
mod hits;
#[cfg(target_arch = "x86_64")]
mod join;
#[cfg(target_arch = "x86_64")]
mod kept;
#[cfg(target_arch = "x86_64")]
mod kind;
#[cfg(target_arch = "x86_64")]
mod kinds;
#[cfg(target_arch = "x86_64")]
mod marks;
#[cfg(target_arch = "x86_64")]
mod masked;
#[cfg(target_arch = "x86_64")]
mod numbers;
#[cfg(target_arch = "x86_64")]
mod padded;
#[cfg(target_arch = "x86_64")]
mod padded_values;
pub mod period;
#[cfg(target_arch = "x86_64")]
mod periods;
#[cfg(target_arch = "x86_64")]
mod single;
#[cfg(target_arch = "x86_64")]
mod spread;
#[cfg(target_arch = "x86_64")]
mod wanted;
#[cfg(target_arch = "x86_64")]
mod watch;
