//! What batches have noted of the slices of a tile: where no element takes part, and where that has to be looked at.

use crate::kernels::doubtful::{Doubtful, PIECE};
use crate::kernels::omit::Bits;
use crate::kernels::outputs::UNKNOWN;
use crate::layout::reduction::{ReductionAxis, ReductionOffsets};
use crate::operations::found::{ALL, Found};
use crate::operations::input::Omission;
use crate::operations::plan::POSITIONS;
use crate::operations::sink::Tile;
use std::slice;
use std::sync::atomic::Ordering;

/// One position in so many makes it worth while to look at the mask of all.
const MANY: usize = 64;

impl Found<'_> {
    /// Takes what is noted, and looks again at the positions that are unknown. Where what was found does not take part, all elements
    /// that do are equal, if there are any.
    ///
    /// # Safety
    /// As for [`take`](Sink::take) of a tile with notes; `T` has the size of an element.
    pub unsafe fn take_notes<T: Bits>(
        &self,
        omission: &Omission,
        at: ReductionOffsets,
        axis: &ReductionAxis,
        tile: &Tile,
        doubtful: Doubtful<T>,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let notes = slice::from_raw_parts(tile.notes, tile.len);
            let unknown = self.leave::<T>(at.output, axis.strides.output, notes);
            if unknown == 0 {
                return;
            }
            let is_unknown = |&note: &u8| note == UNKNOWN;
            // A mask is looked at for all positions at once where many are unknown.
            let mut presence = ALL;
            if omission.is_of_mask() && MANY * unknown > tile.len {
                presence = [0; POSITIONS];
                self.presence(omission, at, axis.strides, &mut presence[..tile.len]);
                presence.iter_mut().zip(notes).for_each(|(there, note)| *there |= !is_unknown(note) as u8);
                self.leave::<T>(at.output, axis.strides.output, &presence[..tile.len]);
            }
            let pieces = notes.chunks(PIECE).zip(presence.chunks(PIECE));
            for (piece, (notes, presence)) in pieces.enumerate() {
                let positions = || notes.iter().zip(presence).map(|(note, &there)| is_unknown(note) & (there != 0));
                if !positions().fold(false, |any, is_open| any | is_open) {
                    continue;
                }
                for (number, _) in positions().enumerate().filter(|&(_, is_open)| is_open) {
                    let number = piece * PIECE + number;
                    let at = axis.moved(at, number);
                    let stays = match tile.index.is_null() {
                        true => !doubtful.is(number),
                        false => self.takes_part(omission, self.place(at, tile.index(number))),
                    };
                    if !stays {
                        let found = self.look_again(omission, at);
                        self.lacking.fetch_add(found.is_none().into(), Ordering::Relaxed);
                        self.write(at.output, found);
                    }
                }
            }
        }
    }
}
