//! The lengths and strides of an array, copied.

/// Axes that are kept without an allocation, which is a large part of the cost of a small call, as is every byte moved.
const FEW: usize = 4;

/// One length and one stride in bytes for each axis.
pub struct Dimensions {
    rank: usize,
    /// What is beyond the rank means nothing.
    shape: [usize; FEW],
    strides: [isize; FEW],
    /// Where there are more axes than few.
    many: Option<Box<Many>>,
}

struct Many {
    shape: Box<[usize]>,
    strides: Box<[isize]>,
}

impl Dimensions {
    /// Copies them.
    ///
    /// # Safety
    /// Both pointers lead to as many values as there are axes; no length is negative.
    #[inline(always)]
    pub unsafe fn copy(rank: usize, lengths: *const isize, steps: *const isize) -> Self {
        // Written out, so that the values stay in registers until they have found their place.
        let at = |axis| match axis < rank {
            // SAFETY: the caller's.
            true => unsafe { (*lengths.add(axis) as usize, *steps.add(axis)) },
            false => (0, 0),
        };
        let ((a, s), (b, t), (c, u), (d, v)) = (at(0), at(1), at(2), at(3));
        // SAFETY: the caller's.
        let many = if rank > FEW { Some(unsafe { Many::copy(rank, lengths, steps) }) } else { None };
        Self { rank, shape: [a, b, c, d], strides: [s, t, u, v], many }
    }

    /// The lengths.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match &self.many {
            None => &self.shape[..self.rank],
            Some(many) => &many.shape,
        }
    }

    /// The strides.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        match &self.many {
            None => &self.strides[..self.rank],
            Some(many) => &many.strides,
        }
    }
}

impl Many {
    #[cold]
    unsafe fn copy(rank: usize, lengths: *const isize, steps: *const isize) -> Box<Self> {
        // SAFETY: the caller's.
        let (shape, strides) =
            unsafe { (std::slice::from_raw_parts(lengths.cast(), rank), std::slice::from_raw_parts(steps, rank)) };
        Box::new(Self { shape: shape.into(), strides: strides.into() })
    }
}
