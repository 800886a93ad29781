//! What an element's bytes mean: the order, written down once more and as plainly as possible.

use extremum_kernels::ElementType::{self, *};
use std::cmp::Ordering;

pub const ELEMENTS: [ElementType; 13] =
    [Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64];

/// A number's place in the order, and NaN's, which is the extremum in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Key {
    Nan,
    /// The value, and for a zero whether it is negative.
    Number(i128, bool),
}

impl Key {
    /// The key of an element whose bytes stand in this machine's order, or in the other one.
    pub fn new(element: ElementType, bytes: &[u8], swapped: bool) -> Self {
        let mut wide = [0; 8];
        for (place, &byte) in bytes.iter().enumerate() {
            // The least byte first.
            let foreign = swapped != cfg!(target_endian = "big");
            wide[if foreign { bytes.len() - 1 - place } else { place }] = byte;
        }
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * bytes.len() as u32;
        match element {
            Bool | UInt8 | UInt16 | UInt32 | UInt64 => Self::Number(bits.into(), false),
            Int8 | Int16 | Int32 | Int64 => Self::Number((((bits << unused) as i64) >> unused).into(), false),
            Float16 => Self::float(bits, 16, 0x7c00),
            BFloat16 => Self::float(bits, 16, 0x7f80),
            Float32 => Self::float(bits, 32, 0x7f80_0000),
            Float64 => Self::float(bits, 64, 0x7ff0_0000_0000_0000),
        }
    }

    /// Floats of one sign are ordered as their magnitudes' bits are.
    fn float(bits: u64, width: u32, infinity: u64) -> Self {
        let sign = 1u64 << (width - 1);
        let (magnitude, negative) = (bits & (sign - 1), bits & sign != 0);
        match magnitude {
            magnitude if magnitude > infinity => Self::Nan,
            0 => Self::Number(0, negative),
            magnitude if negative => Self::Number(-i128::from(magnitude), false),
            magnitude => Self::Number(magnitude.into(), false),
        }
    }

    /// Whether this one wins against `other` (Greater), loses, or ties.
    pub fn against(self, other: Self, largest: bool) -> Ordering {
        match (self, other) {
            (Self::Nan, Self::Nan) => Ordering::Equal,
            (Self::Nan, _) => Ordering::Greater,
            (_, Self::Nan) => Ordering::Less,
            (Self::Number(a, _), Self::Number(b, _)) if largest => a.cmp(&b),
            (Self::Number(a, _), Self::Number(b, _)) => b.cmp(&a),
        }
    }

    /// The elementwise winner: of zeros, +0 is the larger.
    pub fn meet(self, other: Self, largest: bool) -> Self {
        match (self.against(other, largest), self, other) {
            (Ordering::Greater, ..) => self,
            (Ordering::Less, ..) => other,
            (_, Self::Number(value, a), Self::Number(_, b)) => {
                Self::Number(value, if largest { a && b } else { a || b })
            }
            _ => self,
        }
    }
}

/// The bytes of one, in this machine's order.
pub fn one(element: ElementType) -> Vec<u8> {
    let bits: u64 = match element {
        Float16 => 0x3c00,
        BFloat16 => 0x3f80,
        Float32 => 0x3f80_0000,
        Float64 => 0x3ff0_0000_0000_0000,
        _ => 1,
    };
    bytes_of(bits, element.size())
}

/// The lowest bytes of a number, in this machine's order.
pub fn bytes_of(bits: u64, size: usize) -> Vec<u8> {
    let mut bytes = bits.to_le_bytes()[..size].to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes
}
