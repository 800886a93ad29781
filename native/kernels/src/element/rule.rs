//! Converts elements to integer keys by a rule that is made at run time: few elements become keys, so one map serves all types.

use crate::element::ElementType;

/// How the elements of a type become keys. The earlier an element comes, the larger its key.
///
/// Kernels compare the *lane* of an element: its bits, some of them flipped, as a signed integer or a float. The larger the lane,
/// the earlier the element comes, except for NaN and the exceptions of [`Conversion`].
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub size: usize,
    /// The bits of an element to flip for its lane.
    pub flip: i64,
    conversion: Conversion,
    /// The largest key of the type.
    pub largest: i64,
    /// The bits of an element that loses to all others except its equals.
    pub identity: u64,
}

/// How the key of an element follows from its lane.
#[derive(Clone, Copy, Debug)]
enum Conversion {
    /// The key is the lane. The smallest integer may stand for Not a Time, at the wrong end of the lanes: then a shift by one
    /// wraps it around to the other end.
    Integer { shift: i64 },
    /// The key is the lane of false or of one: every nonzero byte is true.
    Bool { is_false_first: bool },
    /// Both zeros have the key 0, and all NaNs have one key, at either end. The lanes of numbers end with `infinity`.
    Float { infinity: i64, nan: i64 },
}

impl Rule {
    /// The rule for an element type. NaN comes first or last, as does the smallest integer if the elements are `times`.
    pub fn new(element: ElementType, largest: bool, nan_first: bool, times: bool) -> Self {
        let size = element.size();
        let conversion = match element.nan() {
            Some(pattern) => Conversion::Float { infinity: pattern.limit as i64, nan: nan_key(size, nan_first) },
            None if element == ElementType::Bool => Conversion::Bool { is_false_first: !largest },
            None if times && largest && nan_first => Conversion::Integer { shift: -1 },
            None if times && !largest && !nan_first => Conversion::Integer { shift: 1 },
            None => Conversion::Integer { shift: 0 },
        };
        let top = 1i64 << (8 * size - 1);
        let all = if largest { 0 } else { -1 };
        let flip = match conversion {
            Conversion::Float { .. } => all & top,
            _ if element.is_signed() => all,
            _ => all ^ top,
        };
        let highest = match conversion {
            Conversion::Float { infinity, nan } => nan.max(infinity),
            _ => i64::MAX >> (64 - 8 * size),
        };
        let identity = match (conversion, element.nan()) {
            (Conversion::Float { .. }, Some(pattern)) if !nan_first => element.identity(largest) | pattern.magnitude,
            // The integer next to Not a Time, if that is in the way.
            (Conversion::Integer { shift }, _) => element.identity(largest).wrapping_add(shift.unsigned_abs()),
            _ => element.identity(largest),
        };
        Self { size, flip, conversion, largest: highest, identity }
    }

    /// Whether the elements are floats.
    pub fn is_float(&self) -> bool {
        matches!(self.conversion, Conversion::Float { .. })
    }

    /// Whether only NaN has this key or a larger one.
    pub fn is_nan(&self, key: i64) -> bool {
        matches!(self.conversion, Conversion::Float { infinity, .. } if key > infinity)
    }

    /// Whether NaN comes after every number.
    pub fn is_nan_last(&self) -> bool {
        matches!(self.conversion, Conversion::Float { nan, .. } if nan < 0)
    }

    /// The key that every element reaches, except NaN that comes last.
    pub fn lowest(&self) -> i64 {
        match self.conversion {
            Conversion::Float { infinity, nan } if nan < 0 => -infinity,
            _ => i64::MIN,
        }
    }

    /// Whether lanes have the same order as keys, except for NaN.
    pub fn is_plain(&self) -> bool {
        matches!(self.conversion, Conversion::Integer { shift: 0 } | Conversion::Float { .. })
    }

    /// The key of an element from its bits.
    pub fn key(&self, bits: u64) -> i64 {
        self.key_as(bits, self.size, self.is_float())
    }

    /// The same in a kernel, which is compiled for elements of one size, either for floats or not: those of the rule.
    #[inline(always)]
    pub fn key_as(&self, bits: u64, size: usize, float: bool) -> i64 {
        debug_assert!(size == self.size && float == self.is_float(), "{size} bytes, float {float}: {self:?}");
        let spare = 64 - 8 * size as u32;
        let lane = |bits: u64| (bits as i64 ^ self.flip) << spare >> spare;
        match self.conversion {
            Conversion::Integer { shift } if !float => lane(bits).wrapping_add(shift),
            Conversion::Bool { .. } if size == 1 && !float => lane(bits.min(1)),
            Conversion::Float { infinity, nan } if float => {
                let magnitude = lane(bits) & (i64::MAX >> spare);
                let sign = lane(bits) >> 63;
                // Sign and magnitude to two's complement, where both zeros are 0.
                if magnitude > infinity { nan } else { (magnitude ^ sign) - sign }
            }
            _ => unreachable!("elements of other types"),
        }
    }

    /// The bits of a bound: no lane below the lane of these bits has this key or a larger one.
    pub fn bits(&self, key: i64) -> i64 {
        debug_assert!(key <= self.largest, "{key} is not a key of {self:?}");
        let spare = 64 - 8 * self.size as u32;
        let least = i64::MIN >> spare;
        let lane = match self.conversion {
            // Where keys have another order than lanes, no lane is excluded.
            Conversion::Integer { shift } if shift != 0 => least,
            // The bytes of true have the lanes below that of false, down to the least.
            Conversion::Bool { is_false_first: true } if key < self.largest => least,
            // Otherwise they have the lanes from that of one on.
            Conversion::Integer { .. } | Conversion::Bool { .. } => key.clamp(least, i64::MAX >> spare),
            Conversion::Float { infinity, .. } => {
                // Wider floats stop at infinity, because comparisons with NaN do not hold.
                let most = infinity + i64::from(self.size == 2);
                let magnitude = key.unsigned_abs().min(most as u64) as i64;
                if key < 0 { magnitude | least } else { magnitude }
            }
        };
        lane ^ self.flip
    }
}

/// The key of NaN, larger or smaller than that of every number.
fn nan_key(size: usize, first: bool) -> i64 {
    match (size, first) {
        (8, true) => i64::MAX,
        (8, false) => i64::MIN,
        (_, true) => i32::MAX.into(),
        (_, false) => i32::MIN.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::*;

    /// Each rule for some types.
    fn rules(elements: &[ElementType]) -> impl Iterator<Item = (ElementType, bool, Rule)> {
        let ends = [(true, true), (true, false), (false, true), (false, false)];
        elements.iter().flat_map(move |&element| {
            let times = [false, element == Int64];
            ends.into_iter().flat_map(move |(largest, nan_first)| {
                times.map(|times| (element, largest, Rule::new(element, largest, nan_first, times)))
            })
        })
    }

    #[test]
    fn losers_lose_to_all_others() {
        for (element, largest, rule) in rules(&[Int8, UInt16, Int64, Float16, Float64]) {
            let key = |bits: u64| rule.key(bits & u64::MAX >> (64 - 8 * rule.size));
            let top = 1 << (8 * rule.size - 1);
            let others = [0, 1, top - 1, top, top + 1, u64::MAX, element.identity(largest), element.identity(!largest)];
            assert!(others.into_iter().all(|bits| key(bits) >= key(rule.identity)), "{rule:?}");
        }
    }

    #[test]
    fn lanes_below_a_bound_have_smaller_keys() {
        for (element, _, rule) in rules(&[Bool, Int8, UInt8, Float16, BFloat16]) {
            let spare = 64 - 8 * rule.size;
            let lane = |bits: i64| {
                let integer = (bits ^ rule.flip) << spare >> spare;
                // Sign and magnitude to two's complement.
                let magnitude = integer & (i64::MAX >> spare);
                if element.is_float() && integer < 0 { -magnitude } else { integer }
            };
            let all = 1i64 << (8 * rule.size);
            // Not every pair of 16-bit elements, but bounds and elements at primes.
            let [bounds, elements] = if rule.size == 1 { [1, 1] } else { [1021, 31] };
            let sparse = if cfg!(miri) { 13 } else { 1 };
            for bound in (0..all).step_by(sparse * bounds) {
                let key = rule.key(bound as u64);
                let least = lane(rule.bits(key));
                for bits in (0..all).step_by(sparse * elements) {
                    let other = rule.key(bits as u64);
                    // A NaN of 16 bits is always looked at.
                    let is_below = lane(bits) < least && !rule.is_nan(other.abs());
                    assert!(!is_below || other < key, "{bits:#x} below {bound:#x}: {rule:?}");
                }
            }
        }
    }
}
