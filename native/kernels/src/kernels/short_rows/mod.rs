//! Rows of 2 elements to 32 KiB: the extremum of each, one source for all instruction sets.
//!
//! A loop over one short row waits: for the result of each comparison, and for branches that nobody foresees. So rows are read
//! several at a time, without a branch that depends on what they hold. Two kernels do that:
//!
//! - [`turned`]: rows up to a few registers. As many rows as a register has lanes are transposed and compared column by column.
//! - [`medium`]: longer rows, four at a time. While one batch is reduced, the places of the batch before it are looked for.
//!
//! Measured on Zen 3, arrays of 512 KB, one thread, over the loops that there were before: with AVX2 1.8 times as fast (geometric
//! mean of 144 cases), rows of 64 to 128 64-bit elements 2 to 5 times; with SSE4.2 1.9 times, those rows 3 to 10 times.
//!
//! Neither reads a byte outside of the rows. A batch with NaN is left to the caller: the number of rows before it is returned.
//! Left out: masks, NaN that loses, bools, and both ends in one go; AVX-512, for which `batches` is there.

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: the rows, the results and the instruction set are there"
)]

mod medium;
mod turned;

use crate::element::ElementType;
use crate::isa::{self, InstructionSet, Task};
use crate::kernels::outputs::Outputs;
use crate::kernels::source::Lines;
use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register, splat};

/// Bytes of the longest row that there is room for.
const LONGEST: usize = 1 << 15;

/// Finds the extremum of each of several rows.
pub struct ShortRows {
    /// The rows, under no mask.
    pub lines: Lines,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row.
    pub len: usize,
    /// The element type, not bool.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Receives the extremum itself and its place in the row, but neither keys nor notes.
    pub to: Outputs,
}

/// An instruction set with the register that it works on.
trait Wide {
    type Register: Lanes<Int8>
        + Lanes<Int16>
        + Lanes<Int32>
        + Lanes<Int64>
        + Lanes<Float16>
        + Lanes<Float32>
        + Lanes<Float64>;
    /// Bytes of the longest row that is turned, by the size of an element: 1, 2, 4 and 8 bytes. Those of 128 bits were measured
    /// with SSE4.2, on Zen 3 and Zen 4.
    const TURNED: [usize; 4] = [15, 80, 48, 96];
    /// Bytes of the longest row at all, likewise, for each of what may be [`Wanted`]: one row after the other is faster from there
    /// on. Measured on Zen 3.
    const LONGEST: [[usize; 4]; 3] =
        [[512, LONGEST / 2, LONGEST / 2, LONGEST], [512, 2048, 1024, 8192], [512, 2048, 1024, 8192]];
    /// Runs a task compiled for it.
    ///
    /// # Safety
    /// It is in force; besides, as for [`Task::run`].
    unsafe fn run<T: Task>(task: T) -> T::Output;
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
struct Avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
struct Sse42;
/// What every AArch64 has, and what Miri runs.
#[cfg(any(target_arch = "aarch64", miri))]
struct Narrow;

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Wide for Avx2 {
    type Register = std::arch::x86_64::__m256i;
    const TURNED: [usize; 4] = [31, 80, 60, 256];
    const LONGEST: [[usize; 4]; 3] =
        [[1024, LONGEST / 2, LONGEST / 2, LONGEST], [512, 2048, 512, 4096], [8, 0, 32, 1024]];
    #[inline(always)]
    unsafe fn run<T: Task>(task: T) -> T::Output {
        isa::avx2::run(task)
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Wide for Sse42 {
    type Register = std::arch::x86_64::__m128i;
    #[inline(always)]
    unsafe fn run<T: Task>(task: T) -> T::Output {
        isa::sse42::run(task)
    }
}

// (The limits are those of SSE4.2: by a model of processors, not measured.)
#[cfg(any(target_arch = "aarch64", miri))]
impl Wide for Narrow {
    #[cfg(not(miri))]
    type Register = std::arch::aarch64::uint8x16_t;
    #[cfg(miri)]
    type Register = crate::vector::portable::Part;
    #[inline(always)]
    unsafe fn run<T: Task>(task: T) -> T::Output {
        isa::dispatch_narrow(task)
    }
}

/// Evaluates an expression with a name for the instruction set in force, where it is one of these.
macro_rules! with_set {
    ($I:ident => $body:expr, $otherwise:expr) => {
        match InstructionSet::current() {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            InstructionSet::Avx2 => {
                type $I = Avx2;
                $body
            }
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            InstructionSet::Sse42 => {
                type $I = Sse42;
                $body
            }
            #[cfg(any(target_arch = "aarch64", miri))]
            InstructionSet::Baseline => {
                type $I = Narrow;
                $body
            }
            _ => $otherwise,
        }
    };
}

/// What is wanted of each row; the order is that of [`Wide::LONGEST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The place of the extremum, and perhaps its value.
    Places,
    /// The value alone.
    Values,
    /// The values at both ends of the order, for which there are kernels that read rows once.
    Both,
}

/// Whether rows of `len` elements are read so, which may follow one another in memory.
pub fn serve(element: ElementType, rows: usize, len: usize, follow: bool, wanted: Wanted) -> bool {
    let size = element.size();
    let bytes = len * size;
    // The value of a key is fetched by its place, which takes rows that are turned longer than packed columns.
    let fetched = size == 2 && wanted == Wanted::Values && bytes < 2 * turned::PART;
    len >= 2
        && element != ElementType::Bool
        && !fetched
        && with_set!(I => {
            let turned = bytes <= longest_turned::<I>(size);
            let lanes = <I as Wide>::Register::BYTES / size;
            let there = if turned { rows >= lanes && (follow || bytes >= turned::PART) } else { rows >= medium::BATCH };
            there && bytes <= I::LONGEST[wanted as usize][size.trailing_zeros() as usize]
        }, false)
}

/// Bytes of the longest row of elements of `size` bytes that is turned.
const fn longest_turned<I: Wide>(size: usize) -> usize {
    I::TURNED[size.trailing_zeros() as usize]
}

/// What a kernel reads and writes: elements of a kind.
#[derive(Clone, Copy)]
struct Job {
    data: *const u8,
    stride: isize,
    rows: usize,
    len: usize,
    last: bool,
    /// Bits of an element to be flipped before elements are compared as the largest of the kind is wanted.
    flip: i64,
    /// The bits of infinity, for 16-bit floats.
    infinity: i64,
    to: Outputs,
}

impl Job {
    /// Where a row begins.
    #[inline(always)]
    fn row(&self, row: usize) -> *const u8 {
        self.data.wrapping_offset(self.stride * row as isize)
    }

    /// Writes the place of the extremum of a row, and the element there.
    #[inline(always)]
    unsafe fn put<K: Kind>(&self, row: usize, place: usize) {
        if !self.to.index.is_null() {
            self.to.index.add(row).write_unaligned(place as i64);
        }
        if !self.to.values.is_null() {
            let (from, to) = (self.row(row).add(place * K::SIZE), self.to.values.add(row * K::SIZE));
            match K::SIZE {
                1 => to.write(*from),
                2 => to.cast::<u16>().write_unaligned(from.cast::<u16>().read_unaligned()),
                4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
                _ => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            }
        }
    }

    /// The bits to be flipped, in every lane.
    #[inline(always)]
    unsafe fn flip<K: Kind, V: Lanes<K>>(&self) -> V {
        splat::<K, V>(self.flip)
    }

    /// The infinity of 16-bit floats, in every lane.
    #[inline(always)]
    unsafe fn infinity<K: Kind, V: Lanes<K>>(&self) -> V {
        splat::<K, V>(self.infinity)
    }
}

impl ShortRows {
    /// Returns the number of rows done: among the next ones there is NaN, or they are too few.
    ///
    /// # Safety
    /// There are as many rows and as many results as there are said to be.
    pub unsafe fn run(&self) -> usize {
        debug_assert!(self.lines.mask.is_null());
        with_set!(I => self.by_kind::<I>(), 0)
    }

    unsafe fn by_kind<I: Wide>(&self) -> usize {
        let flip = if self.largest { 0 } else { -1 };
        let top = 1 << (8 * self.element.size() - 1);
        match self.element {
            ElementType::Bool => 0,
            ElementType::Int8 => self.by_length::<I, Int8>(flip, 0),
            ElementType::UInt8 => self.by_length::<I, Int8>(flip ^ top, 0),
            ElementType::Int16 => self.by_length::<I, Int16>(flip, 0),
            ElementType::UInt16 => self.by_length::<I, Int16>(flip ^ top, 0),
            ElementType::Int32 => self.by_length::<I, Int32>(flip, 0),
            ElementType::UInt32 => self.by_length::<I, Int32>(flip ^ top, 0),
            ElementType::Int64 => self.by_length::<I, Int64>(flip, 0),
            ElementType::UInt64 => self.by_length::<I, Int64>(flip ^ top, 0),
            ElementType::Float16 => self.by_length::<I, Float16>(flip & top, 0x7c00),
            ElementType::BFloat16 => self.by_length::<I, Float16>(flip & top, 0x7f80),
            ElementType::Float32 => self.by_length::<I, Float32>(flip & top, 0),
            ElementType::Float64 => self.by_length::<I, Float64>(flip & top, 0),
        }
    }

    unsafe fn by_length<I: Wide<Register: Lanes<K>>, K: Kind>(&self, flip: i64, infinity: i64) -> usize {
        let Self { lines: Lines { data, stride, .. }, rows, len, last, to, .. } = *self;
        let job = Job { data, stride, rows, len, last, flip, infinity, to };
        let bytes = len * K::SIZE;
        let turned = bytes <= longest_turned::<I>(K::SIZE);
        if turned && rows >= <I::Register as Lanes<K>>::LANES && (bytes >= turned::PART || stride == bytes as isize) {
            turned::run::<I, K>(&job)
        } else if !turned && rows > 0 && bytes <= LONGEST {
            medium::run::<I, K>(&job)
        } else {
            0
        }
    }
}
