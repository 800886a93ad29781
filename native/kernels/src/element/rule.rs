//! Converts elements to integer keys by a rule that is made at run time: few elements become keys, so one map serves all types.

use crate::element::ElementType;

/// How the elements of a type become keys. The earlier an element comes, the larger its key.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub size: usize,
    pub float: bool,
    /// The bits of an element to flip, so that the largest signed integer or float comes first.
    pub flip: i64,
    /// For floats, the key of NaN; for integers, a number to add.
    shift: i64,
    /// For floats, the bits of infinity; for bytes, the value to clamp to.
    limit: i64,
    /// The largest key of the type.
    pub largest: i64,
}

impl Rule {
    /// The rule for an element type. NaN comes first or last, as does the smallest integer if the elements are `times`.
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
            // Infinity loses to all others if the smallest is wanted.
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

    /// Whether only NaN has this key or a larger one.
    pub fn is_nan(&self, key: i64) -> bool {
        self.float && key > self.limit
    }

    /// Whether lanes have the same order as keys, except for NaN.
    pub fn is_plain(&self) -> bool {
        self.float || self.shift == 0 && self.limit != 1
    }

    /// The key of an element from its bits.
    #[inline(always)]
    pub fn key(&self, bits: u64, size: usize, float: bool) -> i64 {
        let spare = 64 - 8 * size as u32;
        let bits = if size == 1 { bits.min(self.limit as u64) } else { bits };
        let lane = (bits as i64 ^ self.flip) << spare >> spare;
        if !float {
            return lane.wrapping_add(self.shift);
        }
        let (magnitude, sign) = (lane & (i64::MAX >> spare), lane >> 63);
        // Sign and magnitude to two's complement, where both zeros are 0.
        if magnitude > self.limit { self.shift } else { (magnitude ^ sign) - sign }
    }

    /// The bits of a bound: no lane below the lane of these bits has this key or a larger one.
    pub fn bits(&self, key: i64) -> i64 {
        let spare = 64 - 8 * self.size as u32;
        let lane = match self.float {
            true => {
                // Wider floats stop at infinity, because comparisons with NaN do not hold.
                let most = self.limit + i64::from(self.size == 2);
                let magnitude = key.unsigned_abs().min(most as u64) as i64;
                if key < 0 { magnitude | i64::MIN >> spare } else { magnitude }
            }
            // Every nonzero byte is true. If the smallest is wanted, the largest byte has the lowest lane.
            false if self.is_plain() || self.limit == 1 && (self.flip & 1 == 0 || key == 0x7f) => {
                key.clamp(i64::MIN >> spare, i64::MAX >> spare)
            }
            false => i64::MIN >> spare,
        };
        lane ^ self.flip
    }
}
