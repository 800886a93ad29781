//! What the tests compare with: loops that can be checked by eye, over values that decide nothing about bits.

use extremum_kernels::ElementType::{self, *};
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::small;
use std::sync::{Mutex, MutexGuard};

/// All element types.
pub const ELEMENTS: [ElementType; 13] =
    [Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64];

/// Keeps other tests from forcing their settings in between.
pub fn settings() -> MutexGuard<'static, ()> {
    static SETTINGS: Mutex<()> = Mutex::new(());
    SETTINGS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Every way to compute: with each instruction set, and small arrays planned like others or element by element.
pub fn ways() -> impl Iterator<Item = (InstructionSet, usize)> {
    let ways = InstructionSet::ALL.into_iter().flat_map(|set| [(set, 0), (set, usize::MAX)]);
    ways.filter(|&(set, limit)| {
        small::set_limit(limit);
        set.force()
    })
}

/// A small generator of numbers; the tests have no other use for one.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Few different values, so that ties are common; both zeros and, now and then, different NaN among them.
    pub fn float(&mut self) -> f32 {
        match self.below(40) {
            0 => f32::from_bits(self.pick(&[0x7f81, 0x7fc0, 0x7fff, 0xff81, 0xffff]) << 16),
            _ => self.pick(&[0.0, -0.0, 1.0, -1.0, 2.0, f32::INFINITY, f32::NEG_INFINITY]),
        }
    }

    /// Few different bytes: the least and the largest values of every type and now and then a NaN come of them.
    pub fn bytes(&mut self, len: usize, size: usize) -> Vec<u8> {
        (0..len)
            .map(|at| match at % size == size - 1 {
                true if self.below(200) == 0 => self.pick(&[0xff, 0x7f]),
                true => self.pick(&[0, 0x80, 0x3f, 0xbf, 0x40]),
                false => self.pick(&[0, 0x80, 0xc0]),
            })
            .collect()
    }
}

/// The index of the extremum in a list: NaN first, then value, then place. What is unlike itself is NaN.
pub fn naive<T: PartialOrd + Copy>(values: &[T], largest: bool, last: bool) -> usize {
    let is_nan = |value: T| value.partial_cmp(&value).is_none();
    let mut best = 0;
    for (place, &value) in values.iter().enumerate() {
        let champion = values[best];
        let ties = value == champion || (is_nan(value) && is_nan(champion));
        let wins = !is_nan(champion) && (is_nan(value) || if largest { value > champion } else { value < champion });
        if wins || (last && ties) {
            best = place;
        }
    }
    best
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
