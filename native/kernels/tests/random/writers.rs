//! Input that another thread writes during a call: any place inside the row is an answer, but there is one, and nothing
//! outside the output is written. (By the rules of Rust this is a race. Arrays of other languages have them.)

use crate::key::ELEMENTS;
use crate::{Random, settings, ways};
use extremum_kernels::{ElementType, IndexType, Input, argreduce, onehot};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long the kernels run.
const TIME: Duration = Duration::from_secs(2);

/// After which a kernel that has not ended never will.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes of the input.
const BYTES: usize = 1 << 19;

/// What stands before and behind the output.
const FENCE: u8 = 0xa5;

#[test]
fn a_writing_thread_cannot_lead_a_kernel_astray() {
    let _settings = settings();
    let memory: Vec<AtomicU64> = (0..BYTES / 8).map(|_| AtomicU64::new(0)).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| write(&memory, &done));
        let start = Instant::now();
        let mut random = Random(21);
        while start.elapsed() < TIME {
            for element in ELEMENTS {
                let len = random.pick(&[2, 5, 7, 16, 40, 64, 100, 300, 700, 5000, 60_000]).min(BYTES / element.size());
                call(&mut random, memory.as_ptr().cast(), element, len);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Writes extremes and takes them away again, until it is told that the kernels are done.
fn write(memory: &[AtomicU64], done: &AtomicBool) {
    let start = Instant::now();
    let mut random = Random(22);
    while !done.load(Ordering::Relaxed) {
        for _ in 0..1000 {
            let value =
                random.pick(&[0, 0, 0, u64::MAX, 0x7fff_ffff_7fff_7f7f, 0x8080_8000_8000_0080, 0x4000_3f80_3c00_0101]);
            memory[random.below(memory.len())].store(value, Ordering::Relaxed);
        }
        if start.elapsed() > PATIENCE {
            eprintln!("a kernel does not end");
            std::process::abort();
        }
    }
}

/// Reduces some rows in any direction with every instruction set.
fn call(random: &mut Random, data: *const u8, element: ElementType, len: usize) {
    let size = element.size();
    let rows = (BYTES / size / len).min(20);
    let (row, step) = ((len * size) as isize, size as isize);
    let (data, step) = if random.below(2) == 0 { (data, step) } else { (data.wrapping_offset(row - step), -step) };
    let reduced = random.pick(&[[false, true], [false, true], [true, false], [true, true]]);
    let positions: usize =
        [rows, len].iter().zip(reduced).map(|(&len, reduced)| if reduced { 1 } else { len }).product();
    let block = rows * len / positions;
    let (largest, last) = (random.below(2) == 0, random.below(2) == 0);
    let input = Input { data, element, swapped: false, largest, last, numbers: false };
    let mut found = vec![u64::MAX; positions];
    let mut hot = vec![FENCE; rows * len * size + 256];
    for way in ways() {
        let out = if reduced[0] { 0 } else { 8 };
        let axes = [(len, step, 8, reduced[1]), (rows, row, out, reduced[0])];
        // SAFETY: the axes describe the memory, and there is a place for each position.
        unsafe { argreduce(input, axes.into_iter(), found.as_mut_ptr().cast(), IndexType::UInt64) };
        let inside = found.iter().all(|&place| place < block as u64);
        assert!(inside, "{way:?} {element:?} {rows} {len} {reduced:?} {largest} {last}");
        let axes = [(len, step, size as isize, reduced[1]), (rows, row, row, reduced[0])];
        // SAFETY: as above; the output has as many elements as the input.
        unsafe { onehot(data, element, false, axes.into_iter(), hot.as_mut_ptr().add(128)) };
        let (before, behind) = (&hot[..128], &hot[hot.len() - 128..]);
        assert!(before.iter().chain(behind).all(|&byte| byte == FENCE), "{way:?} {element:?} {rows} {len} {reduced:?}");
    }
}
