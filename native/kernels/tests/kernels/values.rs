//! Elements of every type as bytes: random ones, and what they say.

use crate::loops::Random;
use extremum_kernels::ElementType::{self, *};

/// Few different bytes: the least and the largest values of every type and now and then a NaN come of them.
pub fn bytes(random: &mut Random, len: usize, size: usize) -> Vec<u8> {
    (0..len)
        .map(|at| match at % size == size - 1 {
            true if random.below(200) == 0 => random.pick(&[0xff, 0x7f]),
            true => random.pick(&[0, 0x80, 0x3f, 0xbf, 0x40]),
            false => random.pick(&[0, 0x80, 0xc0]),
        })
        .collect()
}

/// What an element says.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Value {
    Integer(i128),
    Float(f64),
}

/// The value of the bytes of an element, in this machine's order.
pub fn value(element: ElementType, bytes: &[u8]) -> Value {
    macro_rules! read {
        ($type:ty) => {
            <$type>::from_ne_bytes(bytes.try_into().expect("as many bytes as an element has"))
        };
    }
    match element {
        Bool => Value::Integer((bytes[0] != 0).into()),
        Int8 => Value::Integer(read!(i8).into()),
        Int16 => Value::Integer(read!(i16).into()),
        Int32 => Value::Integer(read!(i32).into()),
        Int64 => Value::Integer(read!(i64).into()),
        UInt8 => Value::Integer(read!(u8).into()),
        UInt16 => Value::Integer(read!(u16).into()),
        UInt32 => Value::Integer(read!(u32).into()),
        UInt64 => Value::Integer(read!(u64).into()),
        Float16 => Value::Float(half(read!(u16))),
        BFloat16 => Value::Float(f32::from_bits(u32::from(read!(u16)) << 16).into()),
        Float32 => Value::Float(read!(f32).into()),
        Float64 => Value::Float(read!(f64)),
    }
}

/// IEEE 754 binary16 by its definition.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}
