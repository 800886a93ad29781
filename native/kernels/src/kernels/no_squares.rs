//! In place of squares where there is no AVX-512: no tile fits.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::kernels::turned::Turned;

/// # Safety
/// None: nobody calls it.
pub unsafe fn accumulate(_: Turned, _: ElementType, _: Extreme) {
    unreachable!("no tile fits");
}
