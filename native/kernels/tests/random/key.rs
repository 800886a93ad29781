//! The order of elements by their bytes, implemented once more and as plainly as possible.

use extremum_kernels::ElementType::{self, *};

pub const ELEMENTS: [ElementType; 13] =
    [Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64];

/// An element's place in the order: the greater key wins. Its second part tells zeros apart, as elementwise operations do.
pub type Key = (i128, bool);

/// NaN, which wins at both ends.
pub const NAN: i128 = i128::MAX;

/// The key of an element whose bytes are in this machine's order, or `swapped`.
pub fn key(element: ElementType, bytes: &[u8], swapped: bool, largest: bool) -> Key {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    if swapped != cfg!(target_endian = "big") {
        wide[..bytes.len()].reverse();
    }
    let bits = u64::from_le_bytes(wide);
    let spare = 64 - 8 * bytes.len() as u32;
    let (infinity, _) = landmarks(element);
    // Floats of one sign are ordered like the bits of their magnitudes.
    let magnitude = bits << (spare + 1) >> (spare + 1);
    let negative = bits << spare >> 63 == 1;
    let value: i128 = match element {
        _ if element.is_float() && magnitude > infinity => return (NAN, false),
        _ if element.is_float() && negative => -i128::from(magnitude),
        _ if element.is_float() => magnitude.into(),
        _ if element.is_signed() => (((bits << spare) as i64) >> spare).into(),
        _ => bits.into(),
    };
    (if largest { value } else { -value }, element.is_float() && magnitude == 0 && negative != largest)
}

/// The bits of infinity, which integers do not have, and of one.
pub fn landmarks(element: ElementType) -> (u64, u64) {
    match element {
        Float16 => (0x7c00, 0x3c00),
        BFloat16 => (0x7f80, 0x3f80),
        Float32 => (0x7f80_0000, 0x3f80_0000),
        Float64 => (0x7ff0_0000_0000_0000, 0x3ff0_0000_0000_0000),
        _ => (0, 1),
    }
}

/// The lowest bytes of a number, in this machine's order.
pub fn bytes_of(bits: u64, size: usize) -> Vec<u8> {
    let mut bytes = bits.to_le_bytes()[..size].to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes
}
