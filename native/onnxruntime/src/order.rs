//! The attribute `order`: which end of the order is the extremum.

use crate::api::{Refusal, Result};
use crate::attributes::Attributes;

/// Reads `order`: whether the largest is wanted, or the smallest.
pub fn largest(attributes: &impl Attributes) -> Result<bool> {
    match attributes.text(c"order")?.as_deref() {
        None | Some("max") => Ok(true),
        Some("min") => Ok(false),
        Some(other) => {
            Err(Refusal::new(format!("attribute 'order' is '{other}'"), "use 'max', the default, or 'min'").into())
        }
    }
}
