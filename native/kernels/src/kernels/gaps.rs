//! Masks for rows of which every so manieth element counts.

/// Elements from one that counts to the next, at most.
pub const WIDEST: usize = 4;

/// Elements of a mask.
pub const SPAN: usize = 16384;

/// The masks for every second element, every third and every fourth.
static GAPS: [[u8; SPAN]; WIDEST - 1] = [mask(2), mask(3), mask(4)];

const fn mask(step: usize) -> [u8; SPAN] {
    let mut all = [0; SPAN];
    let mut at = 0;
    while at < SPAN {
        all[at] = 1;
        at += step;
    }
    all
}

/// The mask under which every `step`th element counts, the first of all among them: [`SPAN`] elements.
pub fn gaps(step: usize) -> *const u8 {
    GAPS[step - 2].as_ptr()
}
