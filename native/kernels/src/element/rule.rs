//! Elements as integer keys, by a rule that is made at run time: where few elements become keys, one map serves all types.

use crate::element::ElementType;

/// How the elements of a type become keys, which are larger the earlier an element comes.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub size: usize,
    pub float: bool,
    /// Bits of an element to be flipped so that the largest is wanted, as integers with a sign or as floats.
    pub flip: i64,
    /// The key of NaN; what is added to an integer.
    shift: i64,
    /// The largest byte that counts; the infinity of a float.
    limit: i64,
    /// The largest key that there is.
    pub largest: i64,
}

impl Rule {
    /// The rule for an element type. NaN, and the smallest integer of `times`, comes first or last.
    pub fn new(element: ElementType, largest: bool, nan_first: bool, times: bool) -> Self {
        let (size, float) = (element.size(), element.is_float());
        let (all, top) = (if largest { 0 } else { -1 }, 1i64 << (8 * size - 1));
        let nan = match (size, nan_first) {
            (8, true) => i64::MAX,
            (8, false) => i64::MIN,
            (_, true) => i32::MAX.into(),
            (_, false) => i32::MIN.into(),
        };
        let (flip, shift, limit, most) = match float {
            // (Infinity loses to all others where the smallest is wanted.)
            true => {
                let infinity = element.loser(false) as i64;
                (all & top, nan, infinity, nan.max(infinity))
            }
            false => {
                let flip = if element.is_signed() { all } else { all ^ top };
                let shift = if times && largest == nan_first { if largest { -1 } else { 1 } } else { 0 };
                (flip, shift, if element == ElementType::Bool { 1 } else { 0xff }, i64::MAX >> (64 - 8 * size))
            }
        };
        Self { size, float, flip, shift, limit, largest: most }
    }

    /// Whether nothing but NaN has this key or a larger one.
    pub fn is_nan(&self, key: i64) -> bool {
        self.float && key > self.limit
    }

    /// Whether lanes are in the order of keys but for NaN.
    pub fn is_plain(&self) -> bool {
        self.float || self.shift == 0 && self.limit != 1
    }

    /// The key of an element, by its bits.
    #[inline(always)]
    pub fn key(&self, bits: u64, size: usize, float: bool) -> i64 {
        let unused = 64 - 8 * size as u32;
        let bits = if size == 1 { bits.min(self.limit as u64) } else { bits };
        let lane = (bits as i64 ^ self.flip) << unused >> unused;
        if !float {
            return lane.wrapping_add(self.shift);
        }
        let (magnitude, sign) = (lane & (i64::MAX >> unused), lane >> 63);
        // Sign and magnitude to two's complement, where both zeros are 0.
        if magnitude > self.limit { self.shift } else { (magnitude ^ sign) - sign }
    }

    /// The bits of an element such that no lane below its own has this key or a larger one.
    pub fn bits(&self, key: i64) -> i64 {
        let unused = 64 - 8 * self.size as u32;
        let lane = match self.float {
            true => {
                // (Comparisons of the wider ones with NaN do not hold.)
                let most = self.limit + i64::from(self.size == 2);
                let magnitude = key.unsigned_abs().min(most as u64) as i64;
                if key < 0 { magnitude | i64::MIN >> unused } else { magnitude }
            }
            // Every byte but zero is true, and the last of them comes first where the smallest is wanted.
            false if self.is_plain() || self.limit == 1 && (self.flip & 1 == 0 || key == 0x7f) => {
                key.clamp(i64::MIN >> unused, i64::MAX >> unused)
            }
            false => i64::MIN >> unused,
        };
        lane ^ self.flip
    }
}
