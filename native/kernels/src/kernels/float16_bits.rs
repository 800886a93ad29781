//! Blocks of 16-bit floats, swept by their bits.

use crate::element::compare::utmost;
use crate::element::float16_bits::{Float16Bits, Numbered, SIGN};
use crate::element::order::{Largest, Order, Smallest};
use crate::kernels::sweep::{Sweep, sweep_lanes};

/// Elements from which a block of 16-bit floats is swept by its bits.
const LONG: usize = 2048;

impl<const INFINITY: i16, const ONE: u16> Sweep for Numbered<Float16Bits<INFINITY, ONE>> {}

impl<const INFINITY: i16, const ONE: u16> Sweep for Float16Bits<INFINITY, ONE> {
    /// By bits, which are no more to compare than integers: as signed ones the positive are in order and above all
    /// others, as unsigned ones the negative are, the other way round. A block is small enough to be read twice.
    #[inline(always)]
    unsafe fn sweep<O: Order>(data: *const Self, len: usize, champion: Option<i16>) -> Option<i16> {
        // SAFETY: the caller's.
        unsafe {
            if len < LONG {
                return sweep_lanes::<Self, O>(data, len, champion);
            }
            let (signed, unsigned) = (data.cast::<i16>(), data.cast::<u16>());
            let key = if O::LARGEST {
                if sweep_lanes::<u16, Largest>(unsigned, len, Some(INFINITY as u16 | SIGN)).is_some() {
                    return Some(utmost::<O, _>());
                }
                match sweep_lanes::<i16, Largest>(signed, len, Some(champion.unwrap_or(-1).max(-1))) {
                    Some(bits) if bits > INFINITY => utmost::<O, _>(),
                    Some(bits) => bits,
                    None if champion.is_some_and(|champion| champion >= 0) => return None,
                    None => -((sweep_lanes::<u16, Smallest>(unsigned, len, None)? & !SIGN) as i16),
                }
            } else {
                if sweep_lanes::<i16, Largest>(signed, len, Some(INFINITY)).is_some() {
                    return Some(utmost::<O, _>());
                }
                let floor = champion.filter(|key| *key < 0).map_or(!SIGN, |key| key.unsigned_abs() | SIGN);
                match sweep_lanes::<u16, Largest>(unsigned, len, Some(floor)) {
                    Some(bits) if bits & !SIGN > INFINITY as u16 => utmost::<O, _>(),
                    Some(bits) => -((bits & !SIGN) as i16),
                    None if champion.is_some_and(|champion| champion < 0) => return None,
                    None => sweep_lanes::<i16, Smallest>(signed, len, None)?,
                }
            };
            Some(key).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
        }
    }
}
