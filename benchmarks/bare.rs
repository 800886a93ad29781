//! A bare loop: reads pieces of memory, and writes some bytes after each of them, without any other work.

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{uint8x16_t as Vector, vorrq_u8 as join};
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx2")))]
use std::arch::x86_64::{__m128i as Vector, _mm_or_si128 as join};
#[cfg(all(target_feature = "avx2", not(target_feature = "avx512f")))]
use std::arch::x86_64::{__m256i as Vector, _mm256_or_si256 as join};
#[cfg(target_feature = "avx512f")]
use std::arch::x86_64::{__m512i as Vector, _mm512_or_si512 as join};
use std::hint::black_box;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Registers that are joined side by side, so that no instruction waits for the one before it.
const SIDE_BY_SIDE: usize = 4;

/// What is read and written; `Walk` in `bare.py` has the same fields.
#[repr(C)]
pub struct Walk {
    from: *const u8,
    to: *mut u8,
    /// How many pieces there are, and bytes from one to the next.
    pieces: usize,
    piece: usize,
    /// How many rows a piece has, bytes from one to the next, and bytes of a row that belong to the piece.
    rows: usize,
    row: usize,
    width: usize,
    /// Bytes that are written after each piece.
    written: usize,
}

/// Reads all pieces, each row after row, and writes after each of them. Vectors are aligned: what is left at the ends is left out.
///
/// # Safety
/// The memory may be read and written, and nothing else writes it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn walk(walk: &Walk) {
    // SAFETY: registers may have any bits; the caller's promise.
    unsafe {
        let mut seen: [Vector; SIDE_BY_SIDE] = std::mem::zeroed();
        for piece in 0..walk.pieces {
            let start = walk.from.wrapping_add(piece * walk.piece);
            for row in 0..walk.rows {
                let bytes = from_raw_parts(start.wrapping_add(row * walk.row), walk.width);
                let groups = bytes.align_to::<Vector>().1.chunks_exact(SIDE_BY_SIDE);
                for vector in groups.remainder() {
                    seen[0] = join(seen[0], *vector);
                }
                for group in groups {
                    for at in 0..SIDE_BY_SIDE {
                        seen[at] = join(seen[at], group[at]);
                    }
                }
            }
            let to = from_raw_parts_mut(walk.to.wrapping_add(piece * walk.written), walk.written);
            to.align_to_mut::<Vector>().1.fill(seen[0]);
        }
        black_box(seen);
    }
}
