//! `TopK`: the k largest or smallest along one axis with their indices, best first; equal elements by ascending index.
//!
//! ```text
//! k is 1                                       select
//! a small k, many adjacent lines               insert, a tile of lines at a time
//! a small k, many short lines                  transpose a tile, then insert
//! a small k, a short line                      find
//! otherwise                                    take a bound from a sample, collect the elements that reach it, sort them
//! ```
//!
//! A sample that does not represent the line only costs time. Where the bound is too low, too much is collected: the best so far
//! are selected, and the last of them becomes the bound. Where it is too high, the line is read again without a bound.
//!
//! Under a mask, elements that do not take part are replaced, as they are packed, by the identity.
//!
//! ```text
//! insert or find, then look up the results in the mask: other elements that lose to all others take the place of masked ones
//! a line by itself: drop the masked elements from what is collected, before it is counted
//! fewer than k are left: index -1 in the places of the others
//! ```

use crate::element::ElementType;
use crate::element::rule::Rule;
use crate::isa::{Set, with_set};
use crate::kernels::top_k::{Destination, LARGEST_REGISTERS};
use crate::layout::{Axis, ReductionAxes, ReductionAxis, ReductionOffsets, merge, positions};
use crate::operations::input::{Input, Omit};
use crate::operations::select::{Target, in_c_order, select};
use crate::operations::top_k_walk::{FIND_LINES, LineForm, TopK, Walk};
use crate::threads;
use crate::vector::Register;
use smallvec::SmallVec;

/// Finds the k best elements along an axis, or of a block of neighbouring axes in row-major order.
///
/// `dimensions` yields, last dimension first, the length, the stride in bytes, that of the mask and whether it is one of those axes.
/// The values, in this machine's byte order, and the indices go to memory in C order, with one axis of length `k` in place of those
/// axes. Under a mask, a slice may have fewer than `k` elements: the places of the others come last, and their index is -1.
///
/// # Safety
/// The input, and the mask if there is one, are readable at every position; there is room for all results, which overlaps neither.
pub unsafe fn top_k(
    input: TopK,
    dimensions: impl Iterator<Item = (usize, isize, isize, bool)>,
    values: *mut u8,
    indices: *mut i64,
) {
    // SAFETY: the caller's promise.
    unsafe { find(input, &dimensions.collect::<SmallVec<[_; 8]>>(), values, indices) }
}

/// Compiled once for all iterators over dimensions.
///
/// # Safety
/// As for [`top_k`].
unsafe fn find(input: TopK, dimensions: &[Dimension], values: *mut u8, indices: *mut i64) {
    let TopK { element, k, .. } = input;
    let Axes { mut kept, line, origin, along } = axes(dimensions, k);
    let len = positions(&line);
    let elements = positions(&kept) * len;
    debug_assert!(k <= len);
    if elements == 0 || k == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    if k == 1 && unsafe { select_best(&input, dimensions, values, indices) } {
        return;
    }
    let size = element.size();
    // Lines are counted along the axis where they lie side by side, or else along the longest.
    if let Some(longest) = (0..kept.len()).max_by_key(|&axis| kept[axis].len)
        && kept[0].strides.input != size as isize
    {
        kept.swap(0, longest);
    }
    let (&across, outer) = kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    let rule = Rule::new(element, input.largest, input.nan_first, input.times);
    let Reading { form, lanes, finds, ready } = reading(&input, &rule, &line, &across);
    let num_threads = threads::num_threads(elements.saturating_mul(size));
    let tasks = threads::tasks(num_threads).div_ceil(positions(outer));
    let tiles = match form {
        // Each tile fills a register.
        LineForm::SideBySide => (across.len / (tile_registers(k) * lanes)).max(tasks.min(across.len / lanes)),
        LineForm::Transpose => across.len.div_ceil(lanes),
        LineForm::OneByOne => across.len.div_ceil(FIND_LINES).max(tasks.min(across.len)),
    };
    let results = Destination { values, indices, across: across.strides.output, along };
    let walk = Walk { input, rule, form, finds, ready, len, line, across, outer, origin, tiles, lanes, results };
    // SAFETY: the caller's promise is that of a walk; threads share the tiles without overlap.
    threads::share(tiles * positions(outer), num_threads, |units| unsafe {
        match size < 8 && len <= u32::MAX as usize {
            true => walk.run::<u64>(units),
            false => walk.run::<u128>(units),
        }
    });
}

/// The length, the stride in bytes, that of the mask, and whether elements are taken along it.
type Dimension = (usize, isize, isize, bool);

/// The axes of a call.
struct Axes {
    /// Those that are kept.
    kept: ReductionAxes,
    /// Those along which the elements of a line lie, at least one.
    line: ReductionAxes,
    origin: ReductionOffsets,
    /// Results from one of the `k` of a line to the next.
    along: isize,
}

/// Tells the axes of lines from those that are kept, and merges those that continue others. The results are in C order.
fn axes(dimensions: &[Dimension], k: usize) -> Axes {
    let mut kept = ReductionAxes::new();
    let mut line = ReductionAxes::new();
    let mut origin = ReductionOffsets::default();
    let mut step = 1;
    let mut along = 0;
    for &(len, stride, mask, reduced) in dimensions {
        let strides = ReductionOffsets { input: stride, mask, output: step, index: 0 };
        let axis = Axis { len, strides };
        if !reduced {
            step *= len as isize;
            kept.extend((len != 1).then(|| axis.upwards(&mut origin)));
            continue;
        }
        if along == 0 {
            (along, step) = (step, step * k as isize);
        }
        match line.last_mut() {
            _ if len == 1 => {}
            Some(inner) if continues(inner, stride, mask) => inner.len *= len,
            _ => line.push(axis),
        }
    }
    merge(&mut kept);
    if line.is_empty() {
        line.push(ReductionAxis::POINT);
    }
    Axes { kept, line, origin, along }
}

/// Whether an axis with these strides continues where `inner` ends.
fn continues(inner: &ReductionAxis, stride: isize, mask: isize) -> bool {
    let len = inner.len as isize;
    stride == inner.strides.input.wrapping_mul(len) && mask == inner.strides.mask.wrapping_mul(len)
}

/// Finds the one best element of each line by a reduction, if one has this order. Returns whether all results are right: a reduction
/// has none for a line of NaN alone, where NaN comes last.
///
/// # Safety
/// As for [`top_k`], with a `k` of 1.
unsafe fn select_best(input: &TopK, dimensions: &[Dimension], values: *mut u8, indices: *mut i64) -> bool {
    let &TopK { data, element, swapped, largest, nan_first, times, mask, .. } = input;
    // As an integer, NaT is the smallest: no reduction puts it before the largest, or behind the smallest.
    if times && largest == nan_first {
        return false;
    }
    let omit = match nan_first {
        false if times => Omit::NotATime,
        false if element.is_float() => Omit::Nan,
        _ => Omit::Nothing,
    };
    let input = Input { data, element, swapped, largest, last: false, omit, mask };
    let target = Target { values, indices: indices.cast(), index: ElementType::Int64, only_empty: false };
    // SAFETY: the caller's promise; there is room for one value and one index of each line.
    unsafe { select(input, in_c_order(dimensions.iter().copied()), &[target]) == 0 }
}

/// How lines are read.
struct Reading {
    form: LineForm,
    /// Lanes of the widest register; 0 where there is no kernel.
    lanes: usize,
    /// Whether lines that are read one by one are short enough to be read twice.
    finds: bool,
    /// Whether they need not be packed first.
    ready: bool,
}

/// Chooses how lines along the axes `line` are read, which lie side by side along `across`.
fn reading(input: &TopK, rule: &Rule, line: &[ReductionAxis], across: &ReductionAxis) -> Reading {
    let &TopK { element, swapped, k, mask, .. } = input;
    let size = element.size();
    let len = positions(line);
    let adjacent = |axis: &ReductionAxis| axis.strides.input == size as isize;
    let has_kernel = rule.is_plain() && line.len() == 1;
    let lanes = if has_kernel { with_set!(I => <I as Set>::Register::BYTES / size, 0) } else { 0 };
    let masked = !mask.is_null();
    // Masked elements are replaced in a copy.
    let ready = adjacent(&line[0]) && !swapped && !masked;
    let finds = lanes > 0
        && 5 * k <= 4 * lanes * LARGEST_REGISTERS.min(len / lanes)
        && len * size <= READ_TWICE_MOST_BYTES[usize::from(!ready)];
    // The kernels for lanes number the elements of a line in integers as wide as an element.
    let fits = size > 2 && len <= u32::MAX as usize || len <= 1 << (8 * size);
    let plain = adjacent(across) && !swapped;
    let few = if finds { FEW_MOST_K } else { FEW_OF_LONG_MOST_K };
    let form = match lanes > 0 && fits && k <= few {
        true if plain && !masked && across.len >= lanes => LineForm::SideBySide,
        true if (!plain || masked) && len <= TRANSPOSED_MOST_ELEMENTS && 2 * across.len >= lanes => LineForm::Transpose,
        _ => LineForm::OneByOne,
    };
    Reading { form, lanes, finds, ready }
}

/// The largest k that counts as few: where lines could also be read one by one, and where they are long and not contiguous.
const FEW_MOST_K: usize = 16;
const FEW_OF_LONG_MOST_K: usize = 64;

/// The most elements of lines that are transposed.
const TRANSPOSED_MOST_ELEMENTS: usize = 128;

/// The most bytes of lines that are read twice, in place and packed: for longer lines a sample takes less time.
const READ_TWICE_MOST_BYTES: [usize; 2] = [1 << 18, 1 << 14];

/// Registers of adjacent lines that are read at a time: their best of each lane stay in the first-level cache, and from a wide tile
/// the processor gets many bytes of each row at once.
fn tile_registers(k: usize) -> usize {
    (TILE_STATE_REGISTERS / k).max(TILE_LEAST_REGISTERS)
}

/// Registers that hold the best of all lanes of a tile, and as many their places.
const TILE_STATE_REGISTERS: usize = 128;

/// The fewest registers of a tile.
const TILE_LEAST_REGISTERS: usize = 8;
