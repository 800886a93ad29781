//! What the tests compare with: loops that can be checked by eye, over values that decide nothing about bits.

use extremum_kernels::ElementType::{self, *};
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::small;
use std::sync::{Mutex, MutexGuard};

/// How many cases of `all` are run. An interpreter takes as long for one as a processor for thousands: it gets as many
/// as end in minutes.
pub const fn cases(all: usize, interpreted: usize) -> usize {
    if cfg!(miri) { interpreted } else { all }
}

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
