//! The extremum of each row, for rows of 2 elements to 224 KiB: one source for all instruction sets.
//!
//! A loop over one short row waits for the result of each comparison and for mispredicted branches. So rows are read several at a
//! time, without a branch that depends on their elements. Two kernels read rows of any length:
//!
//! - [`transposed`]: rows of up to a few registers. One row for each lane of a register: transposed, then compared column by column.
//! - [`batched`]: longer rows, four at a time. While it reduces one batch, it finds the places in the batch before.
//!
//! A third takes the place of both where rows follow one another and fill registers: [`whole_registers`].
//!
//! Measured on Zen 3, arrays of 512 KB, one thread, against the loops that they replaced: with AVX2 1.8 times as fast (geometric
//! mean of 144 cases), rows of 64 to 128 64-bit elements 2 to 5 times; with SSE4.2 1.9 times, those rows 3 to 10 times.
//!
//! With AVX-512 (Xeon, family 6, model 167) they replace 2,600 lines that were specific to it: argmax is 0.94 times as fast
//! (geometric mean of 85 cases), at worst 0.59 (8-bit rows of 64), at best 1.9.
//!
//! Neither kernel reads a byte outside the rows. Where NaN loses, the identity replaces it. Otherwise a
//! kernel stops at a batch with NaN, which it leaves to the caller, and returns the number of rows before it. Masks are supported
//! for rows of up to eight registers; for other rows a copy replaces masked elements first. Bools are not
//! supported.

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

mod batched;
mod chunked;
mod transposed;
mod unrolled;
mod whole_registers;
mod zips;

use crate::element::ElementType;
use crate::isa::with_set;
use crate::kernels::by_integers::{in_turns, is_undecided};
use crate::kernels::lanes::{Lines, Outputs, read_bits, write_bits};
use crate::thresholds::Limits;
use crate::vector::extent::{Readable, Writable};
use crate::vector::{Kind, Lanes, Nans, fold_four, splat, spread, spread_four, with_kind};
use std::ops::Deref;
use std::ptr;

pub use transposed::TRANSPOSED_PART_BYTES;

/// How short rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortKernel {
    /// One row for each lane of a register.
    Transposed,
    /// Four rows at a time, in a loop over their registers that is unrolled; under a mask too.
    Unrolled,
    /// Four rows at a time, in chunks of registers.
    Chunked,
    /// One row at a time, in chunks of registers.
    Alone,
}

/// Finds the extremum of each of several rows.
#[derive(Clone, Copy)]
pub struct ShortRows {
    /// The rows, with a mask only for [`ShortKernel::Unrolled`].
    pub lines: Lines,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row.
    pub len: usize,
    /// The element type, not bool.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equal elements wins.
    pub last: bool,
    /// Whether NaN is ignored, as by `maximumNumber`: it loses to all numbers. Then only the places of results are written, not their values.
    pub ignore_nan: bool,
    /// Whether to write place -1 for a row whose extremum equals the identity.
    pub minus_one_for_identity: bool,
    /// Receives the extremum itself and its place in the row, but no keys.
    pub to: Outputs,
    /// Set where an element, masked or not, equals the identity, which replaces masked ones; may be null without a mask.
    pub identity_seen: *mut bool,
    /// Receives the extremum at the other end of the order, which [`ShortKernel::Transposed`] and [`ShortKernel::Unrolled`] find
    /// where no place is wanted; or nothing.
    pub other: Writable,
    /// Memory that is read next, as long as the rows, for [`transposed`] to prefetch; or null.
    pub ahead: *const u8,
    /// Whether the rows fill registers and are many, so that [`whole_registers`] reads them; of 16-bit floats, those that integers decide.
    pub fill_registers: bool,
    /// Bytes of the array that the rows are read from; 0 where they are a copy, which the first-level cache holds.
    pub bytes: usize,
}

/// What a kernel does: the rows, and what their elements are compared with.
#[derive(Clone, Copy)]
struct Job {
    short_rows: ShortRows,
    /// Bits of an element to flip before elements are compared, so that the largest of the kind is wanted.
    flip: i64,
    /// The bits of infinity, for 16-bit floats.
    infinity: i64,
    /// The bits of the identity.
    identity: i64,
}

/// The fields of the rows are those of the job.
impl Deref for Job {
    type Target = ShortRows;
    #[inline(always)]
    fn deref(&self) -> &ShortRows {
        &self.short_rows
    }
}

impl Job {
    /// The same job for the other end of the order.
    fn opposite<K: Kind>(&self) -> Self {
        // SAFETY: the other end has room for an element of each row.
        let to = unsafe { Outputs::new(ptr::null_mut(), self.other.address(), ptr::null_mut(), self.rows) };
        let short_rows = ShortRows { to, ..self.short_rows };
        Self { short_rows, flip: self.flip ^ Self::reversal::<K>(), ..*self }
    }

    /// The job for `rows` rows from number `first` on.
    fn part<K: Kind>(&self, first: usize, rows: usize) -> Self {
        debug_assert!(first + rows <= self.rows);
        let lines = self.lines.from(first as isize);
        let to = self.to.from(first, K::SIZE);
        let short_rows = ShortRows { lines, rows, to, ..self.short_rows };
        Self { short_rows, ..*self }
    }

    /// Bits whose flip reverses the order.
    const fn reversal<K: Kind>() -> i64 {
        if K::FLOAT { 1 << (8 * K::SIZE - 1) } else { -1 }
    }

    /// Where a row begins. Only the elements of the rows may be read from there.
    #[inline(always)]
    fn row(&self, row: usize) -> Readable {
        self.lines.from(row as isize).data
    }

    /// Where the mask of a row begins.
    #[inline(always)]
    fn mask(&self, row: usize) -> Readable {
        self.lines.from(row as isize).mask
    }

    /// Where the extrema of the rows are written.
    ///
    /// # Safety
    /// There is room for them, unless they are not wanted.
    #[inline(always)]
    unsafe fn values<K: Kind>(&self) -> Writable {
        self.to.values_of(self.rows, K::SIZE)
    }

    /// Writes the places of the extrema of some rows, and the elements there. All bits set are -1 for any pointer width.
    ///
    /// # Safety
    /// There is room for them, and the places lie in the rows; values are wanted only where no place is -1.
    #[inline(always)]
    unsafe fn put<K: Kind, const ROWS: usize>(&self, first: usize, places: [usize; ROWS]) {
        debug_assert!(first + ROWS <= self.rows);
        if self.to.wants_places() {
            let index = self.to.places_of(self.rows);
            for (row, &place) in places.iter().enumerate() {
                index.element::<i64>(first + row).write_unaligned(place as isize as i64);
            }
        }
        if self.to.wants_values() {
            for (row, &place) in places.iter().enumerate() {
                self.put_element::<K>(first + row, place);
            }
        }
    }

    /// Writes the element at a place of a row as its extremum.
    ///
    /// # Safety
    /// There is room for it, and the place lies in the row.
    #[inline(always)]
    unsafe fn put_element<K: Kind>(&self, row: usize, place: usize) {
        let from = self.row(row).add(place * K::SIZE);
        self.put_bits::<K>(row, read_bits(from.read(K::SIZE), K::SIZE));
    }

    /// Writes an element as the extremum of a row.
    ///
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    unsafe fn put_bits<K: Kind>(&self, row: usize, bits: u64) {
        debug_assert!(row < self.rows && self.to.wants_values());
        write_bits(self.values::<K>().add(row * K::SIZE).write(K::SIZE), bits, K::SIZE);
    }

    /// The constants for making lanes.
    ///
    /// # Safety
    /// The registers belong to the instruction set in force.
    #[inline(always)]
    unsafe fn constants<K: Kind, V: Lanes<K>>(&self) -> Constants<V> {
        let flip = splat::<K, V>(self.flip);
        Constants {
            flip,
            infinity: splat::<K, V>(self.infinity),
            least: splat::<K, V>(self.identity).xor(flip).lanes(),
        }
    }
}

/// Constants in every lane: the bits to flip, the infinity of 16-bit floats, and the lane of the identity.
#[derive(Clone, Copy)]
struct Constants<V> {
    flip: V,
    infinity: V,
    least: V,
}

/// A way to make lanes from elements: the largest lane wins. Each is a type, so that a kernel has the code of its own mode alone.
///
/// # Safety
/// As for [`Register`](crate::vector::Register), every operation requires that the instruction set is in force.
trait Mode {
    /// Whether bits of the elements are flipped, so that the largest of the kind is wanted.
    const FLIPS: bool = true;
    /// Whether NaN is replaced by the identity.
    const IGNORES_NAN: bool = false;
    /// Whether both ends of the order are wanted.
    const BOTH: bool = false;
    /// Whether 16-bit floats are compared as integers, which have the order of the floats above zero.
    const AS_INTEGERS: bool = false;
    /// Whether masked elements are replaced by the identity.
    const MASKED: bool = false;

    /// Elements with bits flipped, as far as this mode flips them.
    ///
    /// # Safety
    /// See [`Mode`].
    #[inline(always)]
    unsafe fn elements<K: Kind, V: Lanes<K>>(constants: Constants<V>, elements: V) -> V {
        if Self::FLIPS { elements.xor(constants.flip) } else { elements }
    }

    /// The lanes of elements whose bits are flipped.
    ///
    /// # Safety
    /// See [`Mode`].
    #[inline(always)]
    unsafe fn lanes<K: Kind, V: Lanes<K>>(constants: Constants<V>, elements: V) -> V {
        if Self::AS_INTEGERS {
            elements
        } else if Self::IGNORES_NAN {
            elements.lanes().replace_nan(constants.least, constants.infinity)
        } else {
            elements.lanes()
        }
    }

    /// Whether lanes are keys of 16-bit floats, which take several instructions to make.
    #[inline(always)]
    fn has_keys<K: Kind>() -> bool {
        K::KEYS && !Self::AS_INTEGERS
    }
}

/// Elements as they are.
struct PlainMode;
/// Elements with bits flipped.
struct FlipMode;
/// The same, without NaN.
struct IgnoreNanMode;
/// Both ends of the order.
struct BothMode;
/// 16-bit floats as integers.
struct AsIntegersMode;
/// The same, with no bits flipped.
struct PlainAsIntegersMode;
/// Elements under a mask.
struct MaskedMode;

impl Mode for PlainMode {
    const FLIPS: bool = false;
}
impl Mode for FlipMode {}
impl Mode for IgnoreNanMode {
    const IGNORES_NAN: bool = true;
}
impl Mode for BothMode {
    const BOTH: bool = true;
}
impl Mode for AsIntegersMode {
    const AS_INTEGERS: bool = true;
}
impl Mode for PlainAsIntegersMode {
    const FLIPS: bool = false;
    const AS_INTEGERS: bool = true;
}
impl Mode for MaskedMode {
    const MASKED: bool = true;
}

/// Reads rows of 16-bit floats [in turns](in_turns): by `integers`, or by `keys`, in batches of `batch` rows.
#[inline(always)]
fn with_keys<K: Kind>(
    job: &Job,
    batch: usize,
    integers: impl Fn(&Job) -> usize,
    keys: impl Fn(&Job) -> usize,
) -> usize {
    let integers = |first, rows| integers(&job.part::<K>(first, rows));
    let keys = |first, rows| keys(&job.part::<K>(first, rows));
    in_turns(job.rows, batch, integers, keys)
}

/// Rows of a batch.
pub const BATCH_ROWS: usize = 4;

/// Bytes of the registers that a batch of longer rows keeps, one for each chunk of each row.
const SPILLED_BYTES: usize = 1 << 15;

/// One way to read `ROWS` rows at a time.
///
/// # Safety
/// Every operation requires what [`ShortRows::run`] does, and that the job has `ROWS` rows from number `first` on. `spill` has room
/// for the lanes that [`reduce`](Self::reduce) keeps, and [`find`](Self::find) gets what it has kept of the same rows.
trait Batch<K: Kind, V: Lanes<K>, const ROWS: usize> {
    /// How elements become lanes.
    type Mode: Mode;
    /// Whether the loop over a row is unrolled: then few lanes are kept.
    const IS_SHORT: bool;

    /// Reads the rows from number `first` on, and keeps in `spill` what the search wants.
    ///
    /// # Safety
    /// See [`Batch`].
    unsafe fn reduce(job: &Job, first: usize, constants: Constants<V>, spill: *mut V) -> Reduced<V, ROWS>;

    /// Finds the first (or last) places of `needle`, the largest lane of each row.
    ///
    /// # Safety
    /// See [`Batch`].
    unsafe fn find<const LAST: bool>(
        job: &Job,
        first: usize,
        constants: Constants<V>,
        spill: *const V,
        needle: [V; ROWS],
    ) -> [usize; ROWS];

    /// Whether an element of the rows, masked or not, equals the identity. Only batches under a mask are asked.
    ///
    /// # Safety
    /// See [`Batch`].
    unsafe fn has_identity(_job: &Job, _first: usize, _identity: V) -> bool {
        false
    }
}

/// What is known of a batch once it is read.
#[derive(Clone, Copy)]
struct Reduced<V, const ROWS: usize> {
    /// The largest lane of each row, in all lanes; for both ends of the order, as [`fold`] joins them.
    best: [V; ROWS],
    /// For both ends of the order, the same for the other end.
    other_end: [V; ROWS],
    /// Whether this kernel cannot decide, because there is NaN or, for [`AsIntegersMode`], a row with nothing above zero.
    undecided: bool,
}

/// Joins the largest lanes at each position of the registers of each row, and looks for what the kernel cannot decide.
///
/// # Safety
/// The registers belong to the instruction set in force.
#[inline(always)]
unsafe fn decide<K: Kind, V: Lanes<K>, M: Mode, const ROWS: usize>(
    best: [V; ROWS],
    other_end: [V; ROWS],
    nans: Nans<K, V>,
    constants: Constants<V>,
) -> Reduced<V, ROWS> {
    if M::BOTH {
        let undecided = V::has_nan(nans, constants.flip, constants.flip);
        return Reduced { best: fold(best), other_end: fold(other_end), undecided };
    }
    let best = spread_rows(fold(best));
    // A NaN that has a key may be the largest lane of any row.
    let mut all = best[0];
    for row in 1..ROWS {
        all = all.max(best[row]);
    }
    let mut undecided = !M::IGNORES_NAN && V::has_nan(nans, all, constants.infinity);
    if M::AS_INTEGERS {
        let mut least = best[0];
        for row in 1..ROWS {
            least = least.min(best[row]);
        }
        undecided |= is_undecided::<K, V>(least);
    }
    Reduced { best, other_end: best, undecided }
}

/// The largest lanes of a batch, joined in two registers.
///
/// # Safety
/// As for [`decide`].
#[inline(always)]
unsafe fn fold<K: Kind, V: Lanes<K>, const ROWS: usize>(mut best: [V; ROWS]) -> [V; ROWS] {
    if ROWS == BATCH_ROWS {
        [best[0], best[1 % ROWS]] = fold_four::<K, V>([best[0], best[1 % ROWS], best[2 % ROWS], best[3 % ROWS]]);
    }
    best
}

/// The largest lane of each row in all lanes of a register.
///
/// # Safety
/// As for [`decide`].
#[inline(always)]
unsafe fn spread_rows<K: Kind, V: Lanes<K>, const ROWS: usize>(mut best: [V; ROWS]) -> [V; ROWS] {
    if ROWS == BATCH_ROWS {
        let four = spread_four::<K, V>([best[0], best[1 % ROWS]]);
        #[allow(clippy::manual_memcpy, reason = "a copy of memory is none of registers")]
        for row in 0..ROWS {
            best[row] = four[row];
        }
    } else {
        for row in 0..ROWS {
            best[row] = spread::<K, V>(best[row]);
        }
    }
    best
}

impl ShortRows {
    /// Reads the rows with a kernel. Returns the number of rows done: the next rows have NaN among them, or are too few.
    ///
    /// # Safety
    /// The memory holds the rows, and has room for the results, that the fields describe.
    pub unsafe fn run(&self, kernel: ShortKernel) -> usize {
        self.check();
        with_set!(I, set => with_kind!(self.element, self.largest, K, flip, infinity => {
            self.of_kind::<I, K>(set, kernel, flip, infinity)
        }), 0)
    }

    /// Stops a test whose rows are not as the fields describe.
    fn check(&self) {
        let Self { lines, rows, len, element, ignore_nan, minus_one_for_identity, to, other, .. } = *self;
        debug_assert!(len > 0 && element != ElementType::Bool, "rows of {len} elements of {element:?}");
        match element.size() {
            1 => lines.debug_assert_there::<u8>(rows, len),
            2 => lines.debug_assert_there::<u16>(rows, len),
            4 => lines.debug_assert_there::<u32>(rows, len),
            _ => lines.debug_assert_there::<u64>(rows, len),
        }
        debug_assert!(!(ignore_nan || minus_one_for_identity) || !to.wants_values(), "a place of -1 has no element");
        debug_assert!(other.is_null() || !to.wants_places(), "both ends of the order have no places");
    }

    /// Reads rows of elements of a kind.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn of_kind<I: Limits<Register: Lanes<K>>, K: Kind>(
        &self,
        set: I,
        kernel: ShortKernel,
        flip: i64,
        infinity: i64,
    ) -> usize {
        let identity = self.element.identity(self.largest) as i64;
        let job = Job { short_rows: *self, flip, infinity, identity };
        if !self.fill_registers {
            return Self::by_kernel::<I, K>(set, kernel, &job);
        }
        let whole = |job: &Job| whole_registers::run::<I, K>(set, job);
        if const { K::KEYS } {
            with_keys::<K>(&job, <I::Register as Lanes<K>>::LANES, whole, |job| {
                Self::by_kernel::<I, K>(set, kernel, job)
            })
        } else {
            whole(&job)
        }
    }

    /// Reads rows with the kernel that was chosen.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn by_kernel<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, kernel: ShortKernel, job: &Job) -> usize {
        match kernel {
            ShortKernel::Transposed => transposed::run::<I, K>(set, job),
            ShortKernel::Unrolled if job.lines.mask.is_null() => batched::unrolled::<I, K>(set, job),
            ShortKernel::Unrolled => batched::masked::<I, K>(set, job),
            ShortKernel::Chunked => batched::chunked::<I, K>(set, job),
            ShortKernel::Alone => batched::alone::<I, K>(set, job),
        }
    }
}
