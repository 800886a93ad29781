//! Up to which size each kernel is the fastest: what the choice of a kernel depends on, with the measurement behind each figure.
//!
//! A name says which kernel a threshold is about, and its unit. `MOST` and `LEAST` are the last size on this side. Where a figure
//! depends on the registers of an instruction set, it stands in [`Limits`].

use crate::isa::{self, Set};
use crate::vector::Register;

/// Elements of an array that is compared element by element: that takes less time than planning. Calls for 2 to 32 elements take 0.4
/// to 0.7 times as long that way (EPYC, family 26, model 2), with the code in cache; otherwise planning pays even later.
pub const SMALL_MOST_ELEMENTS: usize = 32;

/// How many results of the first of two steps take as long to compare as a call of a kernel takes to begin: a call takes 50 to 100 ns, a
/// result 1.5 to 3. Of 1,400 random shapes and layouts in 8 KB to 8 MB, with `max` and `argmax`, none takes more than 1.22 times as long
/// as in one step, and all together 0.71 to 0.78 times by geometric mean (Xeon, family 6, model 167).
pub const TWO_STEPS_CALL_RESULTS: usize = if cfg!(debug_assertions) { 512 } else { 32 };

/// The same for a row of columns that does not follow the one before: 1.8 ns for three elements, 9 for 27.
pub const TWO_STEPS_ROW_RESULTS: usize = 1;

/// How many elements are packed in the time of such a result: one takes 0.1 to 0.5 ns.
pub const TWO_STEPS_PACKED_ELEMENTS: usize = 16;

/// How many results of calls are combined in the time of a result of two steps: one takes 0.8 ns, and one of two steps 1.5 to 3 (AVX2,
/// Xeon, family 6, model 167).
pub const TWO_STEPS_COMBINED: usize = 3;

/// The results of two steps that take as long as all that they do before they read anything.
pub const TWO_STEPS_START_RESULTS: usize = if cfg!(debug_assertions) { 0 } else { 256 };

/// The most results that the first of two steps keeps: 16 MB of them, with their indices.
pub const TWO_STEPS_MOST_RESULTS: usize = 1 << 20;

/// The most values of floats that are found in the order of memory, of at least so many elements: where one is a zero, a NaN or an
/// infinity, all are found again by their indices.
pub const ORDER_OF_MEMORY_MOST_RESULTS: usize = 64;
pub const ORDER_OF_MEMORY_LEAST_ELEMENTS: usize = if cfg!(debug_assertions) { 64 } else { 2048 };

/// Bytes of a row that is repeated for `maximum`, and the fewest lines that it meets: 200 lines of 300 elements take 0.7 to 1 times as
/// long.
pub const REPEATED_ROW_BYTES: usize = 1 << 12;
pub const REPEATED_ROWS_LEAST_LINES: usize = if cfg!(debug_assertions) { 2 } else { 32 };

/// Bytes of a block that the kernel for a small inner axis reads in one go: for a larger block, tiles of columns pay. Blocks of 48 KB
/// take 0.66 to 0.82 times as long as in tiles with AVX-512, and 0.74 to 1.15 times with AVX2; 64 MB of blocks of 128 KB 0.7 to 1.55
/// and 1.0 to 2.3 times (EPYC, family 26, model 2).
pub const SMALL_INNER_MOST_BLOCK_BYTES: isize = 1 << 16;

/// Registers of a row of such a block with many columns: 2 KiB with AVX-512, 1 KiB with AVX2. 256 KB of (n, 16, 256) of 8 and 16 bits
/// take 0.5 to 0.65 times as long as in tiles with AVX-512, and 0.6 to 0.75 times with AVX2 (16-bit floats 1.1 times); of 32 bits 0.75
/// to 0.85 times with AVX-512, and 64 MB 0.7 to 0.8 times (EPYC, family 26, model 2). Rows of 17 to 32 registers take 0.73 to 1.03 times as
/// long, of 3 rows 0.52 to 0.75 times, and 64 MB 0.58 to 1.08 times (Xeon, family 6, model 167); an earlier form took 0.9 to 1.25 times as
/// long (that EPYC). With 64 registers, 64-bit rows take 0.9 to 1.24 times as long with AVX2.
pub const SMALL_INNER_MOST_ROW_REGISTERS: usize = 32;

/// Registers of a row of such a block that are kept from crossing cache lines. 256 KB of rows of 16 registers, 16 bytes behind a line, take
/// 0.79 to 0.93 times as long with AVX-512 and 0.86 to 0.92 times for values with AVX2, but for places there 1.06 to 1.1 times; rows of 8
/// registers 0.94 to 1.11 times with AVX-512 (Xeon, family 6, model 167).
pub const SMALL_INNER_ALIGNED_LEAST_REGISTERS: usize = if cfg!(debug_assertions) { 2 } else { 12 };

/// Bytes of a block whose rows share a register: the numbers of its rows, as large as the block, stay in the first-level cache.
pub const SMALL_INNER_MOST_SHARED_BYTES: usize = 4096;

/// The most columns of blocks whose results are kept together, for the kernel for a small inner axis, and so of a single block: with
/// 512, 1 MB takes 0.99 to 1.05 times as long, with 256 1.03 to 1.09 times (the same processor).
pub const SMALL_INNER_TILE_COLUMNS: usize = 2048;

// The longest row, of 8-bit elements in the widest registers: a tile has room for one block at least.
const _: () = assert!(SMALL_INNER_TILE_COLUMNS >= SMALL_INNER_MOST_ROW_REGISTERS * 64);
const _: () = assert!(SMALL_INNER_TILE_COLUMNS >= TILES_LEAST_COLUMNS);

/// Columns from which on tiles of columns are faster than strips in registers: 16 rows of 96 columns take 0.96 to 1.23 times as long in
/// tiles, and of 192 columns 0.81 to 1.12 times in strips (the same processor).
pub const TILES_LEAST_COLUMNS: usize = 128;

/// Bytes of the longest row that the kernels for short rows have room for: they keep a register of each eight.
pub const SHORT_ROWS_MOST_BYTES: usize = 7 << 15;

/// Bytes of a row that is read with its mask; of shorter rows a copy replaces masked elements. Where both array and mask are in the
/// third-level cache, a copy waits for that cache and the kernel then waits for nothing: rows of 40 to 100 binary32 take 0.6
/// (AVX-512) to 0.9 times as long without it, rows of 12 to 25 64-bit elements 0.55 to 1.0 times (Xeon, family 6, model 207). Of
/// shorter rows a batch has too few bytes: rows of 10 take 1.1 to 1.3 times as long.
pub const MASKED_ROWS_LEAST_BYTES: usize = 81;

/// Registers of a row whose loop is unrolled; longer rows are read in chunks. Rows of five to eight registers take 1.05 to 1.65 times
/// as long in chunks, and rows of nine to twelve, unrolled, 0.75 to 0.95 times where values are wanted, but 1.05 to 1.4 times where
/// places are, and a fortieth of all code more (EPYC, family 26, model 2).
pub const UNROLLED_MOST_REGISTERS: usize = 8;

/// Bytes of a row whose value alone is wanted, where NaN loses: the kernel for long rows knows rows without a number, and needs no
/// place to tell them; the kernels for short rows find the place first. Rows of 3,000 bytes take 1.0 to 1.6 times as long with the
/// kernel for long rows, and rows of 6,000 bytes 0.85 to 1.14 times with those for short rows (EPYC, family 26, model 2).
pub const VALUES_WITHOUT_NAN_ROWS_LEAST_BYTES: usize = 4096;

/// Bytes of an array whose rows are those of memory, for the choice of a kernel for short rows.
pub const ROWS_OF_MEMORY_LEAST_ARRAY_BYTES: usize = prefetched_from(1 << 25);

/// Bytes of a row that is read together with three others. Four rows of 8 KiB evict each other from the first-level cache (Xeon,
/// family 6, model 167, AVX2: rows of 256 to 4096 64-bit elements, read alone in chunks of eight registers, are 1.08 to 1.26 times
/// as fast as with chunks of four and a limit of 2 KiB).
const BATCHED_ROWS_MOST_BYTES: usize = 1024;

/// The same where memory holds the array, because four rows are four streams: 64 MB of rows of 520 to 1024 bytes take 0.65 to 1.15
/// times as long one by one, but 256 KB 0.8 to 1.8 times, and 64 MB of rows of 264 to 400 bytes up to 1.75 times (EPYC, family 26,
/// model 2).
const BATCHED_ROWS_OF_MEMORY_MOST_BYTES: usize = 512;

/// Bytes of a row that is read together with three others, where memory holds them or the caches do.
pub fn batched_rows_most_bytes(of_memory: bool) -> usize {
    if of_memory { BATCHED_ROWS_OF_MEMORY_MOST_BYTES } else { BATCHED_ROWS_MOST_BYTES }
}

/// From how many bytes on an array is prefetched, as measured. Where assertions are on, every array is: the tests have small ones.
const fn prefetched_from(bytes: usize) -> usize {
    if cfg!(debug_assertions) { 1 } else { bytes }
}

/// Bytes of an array whose short rows are prefetched, in the kernel that transposes them: 4 MB take 0.8 to 1 times as long, 64 MB
/// 0.3 to 0.65 times, but 256 KB 1 to 1.08 times (rows of 16, EPYC, family 26, model 2, AVX-512 and AVX2).
pub const PREFETCHED_TRANSPOSED_LEAST_ARRAY_BYTES: usize = prefetched_from(1 << 21);

/// The same for longer rows of few registers: 64 MB of rows of 64 take 0.6 to 0.95 times as long, but 4 MB of narrow elements 1.15 to
/// 1.4 times (the same processor).
pub const PREFETCHED_UNROLLED_LEAST_ARRAY_BYTES: usize = prefetched_from(1 << 25);

/// The same for rows in chunks, with AVX2; with AVX-512 they are always prefetched. `argmax` of 64 MB of rows of 1024 takes 0.3 to 0.85
/// times as long, and of rows of 64 64-bit elements 0.55 times, but of 256 KB up to 1.2 times (the same processor).
pub const PREFETCHED_CHUNKS_LEAST_ARRAY_BYTES: usize = prefetched_from(1 << 25);

/// The same for rows that are swept one after the other. 64 MB of rows of 1024 or more, whose values are wanted, take 0.7 to 0.85 times
/// as long with AVX2 and SSE4.2 and 0.9 to 1 times with AVX-512; 4 MB would take 0.8 (64-bit integers) to 1.1 times (floats), and 256 KB
/// of 8 bits 1.1 times. Without AVX the branch alone costs floats in the caches 1.15 to 1.26, and gains 64-bit integers 0.77 to 0.92: in
/// a loop around the sweep it was the other way round (the same processor).
pub const PREFETCHED_SWEEP_LEAST_ARRAY_BYTES: usize = prefetched_from(1 << 25);

/// Bytes from a row that is swept to what is prefetched of it meanwhile: with 4 KiB, 64 MB take 1.05 to 1.15 times as long.
pub const PREFETCHED_SWEEP_AHEAD_BYTES: usize = 8192;

/// The same under a mask, wherever elements and mask lie. Rows of 1024 elements in 64 MB take 0.5 to 0.7 times as long as without
/// prefetches (of 8 bits 0.95 to 1.02 times), rows of 4000 elements 0.65 to 0.9 times; in the caches rows take 0.87 to 1.1 times as
/// long (the same processor, AVX-512 and AVX2).
pub const PREFETCHED_MASKED_SWEEP_AHEAD_BYTES: usize = 4096;

/// Bytes of an array whose columns are those of memory. Of values alone of integers, nothing is prefetched in long rows: they are
/// compared so fast that the processor does better by itself (64 MB of 4 to 1000 rows of 64 KiB and more 1.05 to 1.3 times with
/// AVX-512, 0.85 to 1.15 times with AVX2; EPYC, family 26, model 2, as for all of these figures).
pub const COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES: usize = prefetched_from(1 << 25);

/// Columns of such an array: rows of a pass, and bytes of each that are prefetched at a time. With 128, 192 or 512 bytes, 64 MB take 1.15
/// to 1.6 times as long.
pub const OF_MEMORY_HEIGHT: usize = 4;
pub const OF_MEMORY_STRETCH_BYTES: usize = 256;

/// Rows from a row to the one that is prefetched, where a tile has whole rows. 64 MB of rows of 1 to 4 KiB are 1.3 to 1.9 times as fast as
/// in passes of eight rows whose next 2 KiB are prefetched, and along a middle axis 1.0 to 1.2 times; with 11 to 18 rows they take the same
/// time, with 8 rows up to 1.2 times as long, with 4 rows 1.2 to 1.6 times; in passes of one, two or eight rows 1.05 to 1.4 times.
pub const WHOLE_ROWS_AHEAD_ROWS: isize = 12;

/// Bytes along a row to those that are prefetched, where a pass reads a tile of [`TILE_OF_MEMORY_BYTES`]. 64 MB of rows of 16 KiB to 2
/// MiB are 1.1 to 1.4 times as fast as in tiles of 8 KiB (AVX-512). With 2 or 8 KiB ahead they take 1.1 to 1.3 times as long.
///
/// [`TILE_OF_MEMORY_BYTES`]: crate::kernels::passes::TILE_OF_MEMORY_BYTES
pub const LONG_ROWS_AHEAD_BYTES: isize = 4096;

/// Rows from which on such a tile is read. It is copied to the stack and back for each pass: 64 MB of 21 to 100 rows take 0.9 (EPYC, AVX-512)
/// to 1.15 times as long as in tiles of 8 KiB (EPYC with AVX2; Xeon, family 6, model 167), of 300 rows and more 0.65 to 0.95 times on
/// both.
pub const TILE_OF_MEMORY_LEAST_ROWS: usize = if cfg!(debug_assertions) { 2 } else { 256 };

/// The most positions of such a tile, whose indices take half of the second-level cache: with half as many, 8-bit elements take 1.05
/// times as long.
pub const TILE_OF_MEMORY_MOST_POSITIONS: usize = 1 << 16;

/// Bytes along a row to those that are prefetched, in passes of eight rows, where rows are longer than a tile of the caches and such a
/// tile is not read: where other blocks follow, 16 rows of 16 to 80 KiB take 0.8 to 1.5 times as long in it.
pub const ROWS_IN_PIECES_AHEAD_BYTES: isize = 2048;

/// Bytes from narrow rows, several of which are read at a time, to those that are prefetched: 64 MB of 32 columns are 1.2 to 1.9 times as
/// fast as without prefetches, with 12 KiB 1.1 times; a middle axis of 16-bit floats takes 0.8 times as long as with 8 KiB.
pub const NARROW_ROWS_AHEAD_BYTES: usize = 16 << 10;

/// Bytes of each wide row that are prefetched at a time, where narrow rows are read as wide ones. In lower passes, with 256 bytes, 32
/// columns take 1.03 to 1.14 times as long, and 96 columns 0.96 times.
pub const INTERLEAVED_STRETCH_BYTES: usize = 128;

/// Columns behind the last whole cache line from which on they are cut off as a stretch that overlaps the one before: 256 KB of 150, 300 and
/// 500 columns of 8 and 16 bits take 0.73 to 1.05 times as long with AVX-512 and AVX2, but 200 columns of 8 bits 1.14 to 1.27 times (Xeon,
/// family 6, model 167).
pub const CUT_TAIL_LEAST_COLUMNS: usize = 16;

/// From how many bytes on the vectors of a row keep to cache lines, as measured. Where assertions are on, those of most rows do.
const fn aligned_from(bytes: usize) -> usize {
    if cfg!(debug_assertions) { 128 } else { bytes }
}

/// The same for the columns of wide rows.
const fn aligned_column(bytes: usize) -> usize {
    if cfg!(debug_assertions) { 8 } else { bytes }
}

/// Bytes of a row of a tile whose vectors do not cross cache lines, where it is prefetched: 64 MB of 32 columns of 64 bits, read as rows
/// of 2 KiB, are 1.05 to 1.45 times as fast, from one process to the next (AVX-512; AVX2 1.2 times); rows of 1 KiB take 1.1 times as
/// long (the same processor).
pub const ALIGNED_LEAST_ROW_OF_MEMORY_BYTES: usize = aligned_from(2048);

/// Bytes of a column whose result is written past the caches, where memory holds the array: results are then many. 64 MB of 8- and
/// 16-bit elements along a middle axis of 16 take 0.75 to 0.85 times as long, 32 rows of 8 bits 0.8 to 0.88 times, of 32 bits 0.9 to 1
/// times; short rows gain nothing (EPYC, family 26, model 2).
pub const PAST_CACHES_MOST_COLUMN_BYTES: usize = 128;

/// 16-bit floats of a block that is swept by its bits, as signed and as unsigned integers in one go; a smaller block is swept by its
/// keys. Arrays of 512 to 1,950 elements take 0.88 to 1.04 times as long by their bits, of 256 elements as long (Xeon, family 6, model 167).
pub const FLOAT16_BITS_LEAST_ELEMENTS: usize = 256;

/// Elements of a row that is read by itself; shorter rows are transposed into columns, 8-bit rows up to twice as long.
pub fn rows_least_elements(size: usize) -> usize {
    if size == 1 { 2 * ROWS_LEAST_ELEMENTS } else { ROWS_LEAST_ELEMENTS }
}

/// See [`rows_least_elements`]. Rows with gaps of 48 elements take 0.8 to 4.5 times as long by themselves, and rows of 96 elements 0.64 to
/// 1.75 times transposed; of bools 1.25 and 2.05 times (EPYC, family 26, model 2).
pub const ROWS_LEAST_ELEMENTS: usize = 64;

/// Columns of a narrow kept axis: fewer do not keep vector registers busy, so several rows are read as one. `argmax` of 96 columns of 8
/// bits takes 1.35 to 1.6 times as long row by row, `max` 0.63 to 0.88 times, and of wider elements both take 1.0 to 1.03 times (EPYC,
/// family 26, model 2).
pub const INTERLEAVED_BELOW_COLUMNS: usize = 128;

/// Narrow columns are packed along a longer kept axis if they are at most this many, or if those beyond have fewer elements than this in
/// a call: a call takes 0.1 us, a narrow row 2 to 8 ns, and packing 0.3 ns for an element in the caches, 1.5 where they do not hold it
/// (AVX2, Xeon, family 6, model 167).
pub const PACKED_MOST_COLUMNS: usize = 5;
pub const PACKED_BELOW_ELEMENTS: usize = 256;

/// Rows that are too few for a call, where there are more along another kept axis; bytes of such rows that are always too few; and
/// bytes of an array from which on others are not. Two rows of 8 elements of 32 bits in each of 200,000 blocks take 0.1 times as long
/// apart, two of 1024 in each of 300 0.4 to 0.6, and in each of 10,000 1.4 to 2 times (AVX2, Xeon, family 6, model 167).
pub const FEW_ROWS: usize = 16;
pub const FEW_ROWS_MOST_BLOCK_BYTES: usize = 512;
pub const FEW_ROWS_LEAST_ARRAY_OF_MEMORY_BYTES: usize = if cfg!(debug_assertions) { 1 << 12 } else { 1 << 21 };

/// Bytes of a wide row that is made of many rows, where there are so many times as many: 256 KB of 32 columns of 8 bits take 0.6 to 0.7
/// times as long as with rows of 256 columns, of 16 bits 0.85 to 0.95 times (EPYC, family 26, model 2).
pub const INTERLEAVED_MANY_BYTES: usize = 1024;
pub const INTERLEAVED_MANY_LEAST_ROWS: usize = 128;

/// The most columns of a wide row.
pub const INTERLEAVED_MOST_COLUMNS: usize = INTERLEAVED_MANY_BYTES + INTERLEAVED_BELOW_COLUMNS;

/// The most positions of a tile, for all element types: their indices take 16 KiB.
pub const TILE_MOST_POSITIONS: usize = 2048;

/// The same of short rows whose results go directly to the output. A tile takes 0.2 us to begin: 256 KB of rows of 2 to 8
/// elements take 0.65 to 1 times as long as in tiles of 2048 rows, and of 16 elements 0.9 to 1 times (Xeon, family 6, model 167).
pub const DIRECT_TILE_MOST_POSITIONS: usize = 1 << 16;

/// Rows and columns of a tile by which is guessed whether integers decide its columns of 16-bit floats, and how many of those columns they
/// may leave undecided. With 8 rows, of which random columns leave every 256th undecided, 256 KB of 8 rows take 1.5 times as
/// long as by their keys with AVX-512 (Xeon, family 6, model 167).
pub const PROBED_ROWS: usize = 16;
pub const PROBED_COLUMNS: usize = 16;
pub const PROBED_MOST_UNDECIDED: usize = 2;

/// Elements of such a tile: of fewer, a look at some would be a tenth of the work.
pub const QUICK_LEAST_ELEMENTS: usize = if cfg!(debug_assertions) { 256 } else { 1 << 13 };

/// Batches of 16-bit floats that are read by their keys once integers could not decide one. With 32, rows that are never above zero take
/// 1.05 to 1.15 times as long as by their keys alone, with 128 1.0 to 1.05 times (Xeon, family 6, model 167).
pub const KEYS_BATCHES: usize = if cfg!(debug_assertions) { 2 } else { 128 };

/// At least this many rows are read in another way where a batch has NaN. Rows of 8 to 300 floats, of which 0.05 % to all have NaN,
/// take 1.04 times as long with 8 (rows of 20 with NaN in every tenth 1.5 times), and 0.97 to 0.99 times with 32, but rows of 100
/// 16-bit floats with NaN in every hundredth 1.4 times (EPYC, family 26, model 2, AVX-512 and AVX2).
pub const NAN_RETRY_ROWS: usize = 16;

/// Bytes of short rows that are read for one end of the order, then for the other: they stay in the first-level cache.
pub const BOTH_ENDS_TILE_BYTES: usize = 1 << 14;

/// Rows that fill all lanes of the widest register, whatever the element.
pub const BATCH_MULTIPLE_ROWS: usize = 64;

/// Columns under a mask that is copied, and bytes of that copy: many rows, since each block starts anew. Columns of 4 MB of
/// binary32 take 1.96 times as long as without a mask, and 2.07 times with 512 and 32 KiB (Xeon, family 6, model 207, AVX2).
pub const MASKED_TILE_COLUMNS: usize = 256;
pub const MASK_COPY_BYTES: usize = 1 << 16;

/// Columns are cut across where each task has at least this many rows. Cut along instead, 1024 to 16384 rows of 1 to 16 KiB take 1.6
/// times as long on 16 threads, at most 3.1 times; on two threads the two take the same time, and so do 4 and 64 rows in place of 16
/// on both (EPYC, family 26, model 2, two cores, AVX-512 and AVX2).
pub const SPLIT_TASK_LEAST_ROWS: usize = 16;

/// Bytes of a row that a thread reads before it looks whether another thread has found what cannot be beaten. With 256 KB or 4 MB, two
/// threads take 0.98 to 1.05 times as long for 64 MB, wherever such an element lies (EPYC, family 26, model 2).
pub const PART_BLOCK_BYTES: usize = 1 << 20;

/// Bytes that the caller reads of a tile before threads start: they take less than a microsecond, and a start takes ten.
pub const HEAD_BYTES: usize = 1 << 14;

/// Columns that are read with their mask; fewer are packed as rows. Arrays of 8 to 63 columns take 0.1 to 0.8 times as long as packed
/// ones in 256 KB, and 0.03 to 0.45 times in 64 MB (AVX-512 and AVX2); with SSE4.2, where a copy replaces the masked elements, 256 KB
/// take 0.35 to 0.8 times as long; of 4 or 6 columns some take up to 1.9 times as long (EPYC, family 26, model 2).
pub const MASKED_COLUMNS_LEAST_COLUMNS: usize = 8;

/// The same for short columns, which are else packed as columns, and where the mask has gaps along the row: 8 to 63 columns of 4 or 16
/// elements take 0.67 to 1.35 times as long as packed ones, and 8 or 12 columns under a mask in Fortran's order 0.6 to 2.4 times (the
/// same processor).
pub const MASKED_OTHER_COLUMNS_LEAST_COLUMNS: usize = 64;

/// Elements of a row under a mask: of shorter rows, a copy that replaces masked elements is faster than reading both elements and
/// mask (Xeon, family 6, model 207: rows of 300 elements take 0.55 to 0.8 times as long with AVX2, and 0.9 to 1.25 times with
/// AVX-512).
pub const MASK_COPIED_BELOW_ELEMENTS: usize = 512;
pub const MASK_COPIED_BELOW_ELEMENTS_AVX512: usize = 256;

/// Bytes of a one-hot tile that several threads clear: two of them take 0.55 to 0.7 times as long for 4 to 16 MB, but 1 to 1.3 times
/// for 32 and 64 MB, where one long call writes past the caches (EPYC, family 26, model 2).
pub const CLEARED_BY_THREADS_MOST_BYTES: usize = 1 << 24;

/// What is wanted of each row, in the order of [`Limits::MOST_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The place of the extremum, and perhaps its value.
    Places,
    /// The value alone.
    Values,
    /// The values at both ends of the order, which some kernels find in one pass.
    Both,
}

/// What was measured for the registers of an instruction set: up to which length the kernels for short rows are the fastest, by the
/// [number of a kind](kind_number) of elements. All were measured in 256 KB and 64 MB (EPYC, family 26, model 2), those for registers
/// of 128 bits with SSE4.2.
pub trait Limits: Set {
    /// Bytes of the longest row that is transposed. Rows that are longer than a register, but shorter than this, take 1.05 to 1.7 times
    /// as long in registers; the next longer rows 0.6 to 1 times. Rows of 64 to 112 bytes of 8 bits take 1.05 to 1.5 times as long there,
    /// longer ones 0.9 to 1.03 times, but up to 128 bytes with SSE4.2 1.1 times. Rows of 34 to 80 bytes of 16-bit integers take 1.0 to 1.2
    /// times as long there, of 16-bit floats up to 200 bytes 1.05 to 1.4 times, but of 128 bytes with AVX-512 0.87 times (Xeon, family 6,
    /// model 167).
    const TRANSPOSED_MOST_BYTES: [usize; KINDS] = [128, 80, 200, 48, 48, 48, 48];
    /// The same where values alone are wanted, which registers tell without a search: rows of 64 bytes of 64-bit elements take 0.4 to
    /// 0.65 times as long in registers with SSE4.2, and 0.75 to 0.85 times with AVX2.
    const TRANSPOSED_VALUES_MOST_BYTES: [usize; KINDS] = [31, 80, 80, 24, 24, 15, 15];
    /// The same where memory holds the array: with AVX-512, 64 MB of rows of 64 to 200 bytes take 0.65 to 0.95 times as long in
    /// registers, but the places of 256 KB 1.1 to 1.4 times; with AVX2, rows of 64 to 128 bytes of 8 bits 0.55 to 0.95 times.
    const TRANSPOSED_OF_MEMORY_MOST_BYTES: [usize; KINDS] = [usize::MAX; KINDS];
    /// Bytes of the longest row that these kernels read, for each [`Answer`]: beyond it, one row after the other is faster. Shorter
    /// rows take 0.25 to 1 times as long as one after the other (integers in 64 MB up to 1.15 times), the next longer ones 0.95 to 1.3
    /// times. With AVX2 and AVX-512, both ends of rows of 1000 bytes take 1.15 (integers) and 0.7 to 1 times as long (floats) in
    /// 256 KB, and 0.95 to 1.65 times in 64 MB.
    const MOST_BYTES: [[usize; KINDS]; 3] = [
        [2048, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 15, SHORT_ROWS_MOST_BYTES],
        [1 << 14, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 15, SHORT_ROWS_MOST_BYTES],
        [8192; KINDS],
    ];

    /// Bytes of a row of a tile whose vectors do not cross cache lines, where the caches hold it: where places are wanted, and where
    /// values alone are.
    const ALIGNED_LEAST_ROW_BYTES: [usize; 2] = [usize::MAX; 2];

    /// Bytes of a column of wide rows that begin at a cache line, where places are wanted: what lies before and behind them is then combined
    /// as well. `argmax` of 256 KB of 32 columns of 16 to 64 bits takes 0.85 to 0.88 times as long with AVX-512 and 0.98 to 1 times with
    /// AVX2, but of 8 bits, where places are counted anew after 256 rows, 1.06 to 1.09 times, and 32 KB 1 to 1.2 times; vectors of 16 bytes
    /// gain nothing (Xeon, family 6, model 167).
    const WIDE_ROWS_ALIGNED_LEAST_COLUMN_BYTES: usize = aligned_column(usize::MAX);

    /// Bytes of the shortest row that the kernel for rows of whole registers reads, where places are wanted and where values alone are, and
    /// of the longest. 256 KB of these rows take 0.7 to 1 times (places) and 0.6 to 0.97 times (values) as long as with the kernels for other
    /// short rows. With AVX2, places of rows of 32 bytes take 0.9 to 1.3 times as long, and their values of 16 bits 1.12 to 1.2 times; with
    /// AVX-512, rows of 512 bytes 0.9 to 1.07 times; with SSE4.2, places of 8 bits 1.16 to 1.3 times, and of 16 bits in 32 bytes 0.9 to 1.5
    /// times (Xeon, family 6, model 167).
    const WHOLE_REGISTERS_LEAST_BYTES: [[usize; KINDS]; 2] =
        [[usize::MAX, 64, 64, 32, 32, 32, 32], [32, 64, 64, 32, 32, 32, 32]];
    const WHOLE_REGISTERS_MOST_BYTES: usize = 128;

    /// Registers of the longest row without a mask whose loop is unrolled, where one end of the order is wanted.
    const UNROLLED_MOST_REGISTERS: usize = UNROLLED_MOST_REGISTERS;

    /// Bytes of the longest row without a mask whose loop is unrolled. Both ends of the order have no other kernel.
    #[inline(always)]
    fn unrolled_most_bytes(both: bool) -> usize {
        let registers = if both { UNROLLED_MOST_REGISTERS } else { Self::UNROLLED_MOST_REGISTERS };
        registers * <Self::Register as Register>::BYTES
    }

    /// Bytes of the longest row of a kind of elements that is transposed, where memory holds it or the caches do.
    #[inline(always)]
    fn transposed_most_bytes(kind: usize, answer: Answer, of_memory: bool) -> usize {
        let most = match answer {
            Answer::Places => Self::TRANSPOSED_MOST_BYTES[kind],
            Answer::Values => Self::TRANSPOSED_VALUES_MOST_BYTES[kind],
            Answer::Both => Self::TRANSPOSED_MOST_BYTES[kind].min(Self::TRANSPOSED_VALUES_MOST_BYTES[kind]),
        };
        if of_memory { most.min(Self::TRANSPOSED_OF_MEMORY_MOST_BYTES[kind]) } else { most }
    }

    /// Whether rows of a kind of elements that follow one another are read as whole registers. Not both ends of the order.
    #[inline(always)]
    fn whole_registers_are_fastest(kind: usize, answer: Answer, bytes: usize) -> bool {
        let register = <Self::Register as Register>::BYTES;
        let least = match answer {
            Answer::Places => Self::WHOLE_REGISTERS_LEAST_BYTES[0][kind],
            Answer::Values => Self::WHOLE_REGISTERS_LEAST_BYTES[1][kind],
            Answer::Both => usize::MAX,
        };
        let fill = bytes.is_multiple_of(register) && (bytes / register).is_power_of_two();
        fill && bytes >= least && bytes <= Self::WHOLE_REGISTERS_MOST_BYTES
    }

    /// Bytes up to which every row of a kind of elements is transposed.
    #[inline(always)]
    fn always_transposed_most_bytes(kind: usize) -> usize {
        let places = Self::transposed_most_bytes(kind, Answer::Places, true);
        places.min(Self::transposed_most_bytes(kind, Answer::Values, true))
    }

    /// Bytes of the longest row of a kind of elements that the kernels for short rows read.
    #[inline(always)]
    fn most_bytes(kind: usize, answer: Answer) -> usize {
        Self::MOST_BYTES[answer as usize][kind]
    }
}

/// How many kinds of elements have limits of their own.
const KINDS: usize = 7;

/// The number of a kind of elements: integers of 8 bits, then integers and floats of 16, of 32 and of 64 bits.
#[inline(always)]
pub const fn kind_number(size: usize, is_float: bool) -> usize {
    (2 * size.trailing_zeros() as usize + is_float as usize).saturating_sub(1)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Limits for isa::sse42::Token {}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Limits for isa::avx2::Token {
    const TRANSPOSED_MOST_BYTES: [usize; KINDS] = [112, 80, 200, 72, 72, 96, 96];
    const TRANSPOSED_OF_MEMORY_MOST_BYTES: [usize; KINDS] = [63, 80, 200, 72, 72, 96, 96];
    const TRANSPOSED_VALUES_MOST_BYTES: [usize; KINDS] = [31, 40, 80, 48, 48, 48, 48];
    // 256 KB of rows of 512 bytes to 8 KiB, 16 bytes behind a line, take 0.84 to 0.95 times as long where values are wanted; where places
    // are, rows of 512 bytes to 2 KiB 1.02 to 1.35 times, of 8 KiB 0.92 to 1.03 times (Xeon, family 6, model 167).
    const ALIGNED_LEAST_ROW_BYTES: [usize; 2] = [aligned_from(4096), aligned_from(1024)];
    const WIDE_ROWS_ALIGNED_LEAST_COLUMN_BYTES: usize = aligned_column(512);
    const WHOLE_REGISTERS_LEAST_BYTES: [[usize; KINDS]; 2] =
        [[128, 64, 64, 64, 64, 64, 64], [32, 64, 64, 32, 32, 32, 32]];
    const WHOLE_REGISTERS_MOST_BYTES: usize = 256;
    const MOST_BYTES: [[usize; KINDS]; 3] = [
        [2048, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 14, 1 << 15, 1 << 15, 1 << 15],
        [1 << 14, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 14, 1 << 15, 1 << 15, 1 << 15],
        [512, 512, 1024, 512, 1024, 512, 1024],
    ];
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Limits for isa::avx512::Token {
    const TRANSPOSED_MOST_BYTES: [usize; KINDS] = [112, 96, 120, 64, 64, 200, 200];
    const TRANSPOSED_VALUES_MOST_BYTES: [usize; KINDS] = [63, 80, 80, 63, 63, 63, 63];
    // 256 KB of rows of 1 to 8 KiB, 16 bytes behind a line, take 0.7 to 0.95 times as long, of 512 bytes 0.85 (values) to 1.07 times, of
    // 256 bytes 1.13 to 1.3 times (Xeon, family 6, model 167).
    const ALIGNED_LEAST_ROW_BYTES: [usize; 2] = [aligned_from(1024); 2];
    const WIDE_ROWS_ALIGNED_LEAST_COLUMN_BYTES: usize = aligned_column(512);
    const TRANSPOSED_OF_MEMORY_MOST_BYTES: [usize; KINDS] = [63, 63, 120, 63, 63, 63, 63];
    const WHOLE_REGISTERS_LEAST_BYTES: [[usize; KINDS]; 2] = [[64; KINDS]; 2];
    const WHOLE_REGISTERS_MOST_BYTES: usize = 256;
    const MOST_BYTES: [[usize; KINDS]; 3] = [
        [1 << 14, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 14, 1 << 15, 1 << 14, 1 << 15],
        [1 << 14, 1 << 14, SHORT_ROWS_MOST_BYTES, 1 << 14, 1 << 15, 1 << 14, 1 << 15],
        [512, 512, 1024, 512, 1024, 512, 1024],
    ];
    // In chunks, the search reads half as much of rows of eight registers (rows of 64 64-bit elements 1.1 times as fast, of 200
    // 16-bit floats 0.9 times, on a Xeon of family 6, model 207).
    const UNROLLED_MOST_REGISTERS: usize = 6;
}

// The limits are those of SSE4.2: none was measured on another architecture.
#[cfg(any(not(target_arch = "x86_64"), miri))]
impl Limits for isa::baseline::Token {}
