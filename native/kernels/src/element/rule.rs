//! Converts elements to integer keys by a rule that is made at run time: few elements become keys, so one map serves all types.

use crate::element::ElementType;

/// How the elements of a type become keys. The earlier an element comes, the larger its key.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub size: usize,
    pub float: bool,
    /// The bits of an element to flip, so that the largest signed integer or float comes first.
    pub flip: i64,
    /// The key of NaN, and the bits of infinity, for floats.
    nan: i64,
    infinity: i64,
    /// What is added to an integer.
    shift: i64,
    /// Whether elements are bools: every nonzero byte is true.
    is_bool: bool,
    /// The largest key of the type.
    pub largest: i64,
    /// The bits of an element that loses to all others except its equals.
    pub identity: u64,
}

impl Rule {
    /// The rule for an element type. NaN comes first or last, as does the smallest integer if the elements are `times`.
    pub fn new(element: ElementType, largest: bool, nan_first: bool, times: bool) -> Self {
        let size = element.size();
        let float = element.is_float();
        let all = if largest { 0 } else { -1 };
        let top = 1i64 << (8 * size - 1);
        let nan = match (size, nan_first) {
            (8, true) => i64::MAX,
            (8, false) => i64::MIN,
            (_, true) => i32::MAX.into(),
            (_, false) => i32::MIN.into(),
        };
        let flip = match float {
            true => all & top,
            false if element.is_signed() => all,
            false => all ^ top,
        };
        // Not a Time is the smallest integer. The other end of the integers follows when it wraps around.
        let shift: i64 = match times && largest == nan_first {
            false => 0,
            true if largest => -1,
            true => 1,
        };
        // Infinity loses to all others if the smallest is wanted.
        let infinity = if float { element.identity(false) as i64 } else { 0 };
        let highest = if float { nan.max(infinity) } else { i64::MAX >> (64 - 8 * size) };
        let identity = match element.nan() {
            Some(pattern) if !nan_first => element.identity(largest) | pattern.magnitude,
            // Not a Time comes last, or the integer next to it.
            _ => element.identity(largest).wrapping_add(shift.unsigned_abs()),
        };
        Self {
            size,
            float,
            flip,
            nan,
            infinity,
            shift,
            is_bool: element == ElementType::Bool,
            largest: highest,
            identity,
        }
    }

    /// Whether only NaN has this key or a larger one.
    pub fn is_nan(&self, key: i64) -> bool {
        self.float && key > self.infinity
    }

    /// Whether NaN comes after every number.
    pub fn is_nan_last(&self) -> bool {
        self.float && self.nan < 0
    }

    /// The key that every element reaches, except NaN that comes last.
    pub fn lowest(&self) -> i64 {
        if self.is_nan_last() { -self.infinity } else { i64::MIN }
    }

    /// Whether lanes have the same order as keys, except for NaN.
    pub fn is_plain(&self) -> bool {
        self.float || self.shift == 0 && !self.is_bool
    }

    /// The key of an element from its bits.
    #[inline(always)]
    pub fn key(&self, bits: u64, size: usize, float: bool) -> i64 {
        let spare = 64 - 8 * size as u32;
        let bits = if size == 1 && self.is_bool { bits.min(1) } else { bits };
        let lane = (bits as i64 ^ self.flip) << spare >> spare;
        if !float {
            return lane.wrapping_add(self.shift);
        }
        let magnitude = lane & (i64::MAX >> spare);
        let sign = lane >> 63;
        // Sign and magnitude to two's complement, where both zeros are 0.
        if magnitude > self.infinity { self.nan } else { (magnitude ^ sign) - sign }
    }

    /// The bits of a bound: no lane below the lane of these bits has this key or a larger one.
    pub fn bits(&self, key: i64) -> i64 {
        debug_assert!(key <= self.largest, "{key} is not a key of {self:?}");
        let spare = 64 - 8 * self.size as u32;
        let lane = match self.float {
            true => {
                // Wider floats stop at infinity, because comparisons with NaN do not hold.
                let most = self.infinity + i64::from(self.size == 2);
                let magnitude = key.unsigned_abs().min(most as u64) as i64;
                if key < 0 { magnitude | i64::MIN >> spare } else { magnitude }
            }
            false => {
                // Every nonzero byte is true, up to the largest, which has the lowest lane if the smallest is wanted. Where the
                // largest is wanted, or only false will do, the key is the lowest lane of such bytes after all.
                let follows = self.is_bool && (self.flip & 1 == 0 || key == 0x7f);
                let least = i64::MIN >> spare;
                if self.is_plain() || follows { key.clamp(least, i64::MAX >> spare) } else { least }
            }
        };
        lane ^ self.flip
    }
}

#[cfg(test)]
#[test]
fn losers_lose_to_all_others() {
    use ElementType::*;
    for (element, times) in
        [(Int8, false), (UInt16, false), (Int64, false), (Int64, true), (Float16, false), (Float64, false)]
    {
        for (largest, nan_first) in [(true, true), (true, false), (false, true), (false, false)] {
            let rule = Rule::new(element, largest, nan_first, times);
            let key = |bits: u64| rule.key(bits & u64::MAX >> (64 - 8 * rule.size), rule.size, rule.float);
            let top = 1 << (8 * rule.size - 1);
            let others = [0, 1, top - 1, top, top + 1, u64::MAX, element.identity(largest), element.identity(!largest)];
            assert!(others.into_iter().all(|bits| key(bits) >= key(rule.identity)), "{rule:?}");
        }
    }
}
