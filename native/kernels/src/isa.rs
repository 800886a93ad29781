//! Instruction sets: the one dispatch point.
//!
//! Kernels are written once, as plain loops inside a [`Task`]. Each instruction set compiles its own copy of
//! every task by inlining it into a function with those target features; the compiler's vectoriser does the
//! rest. One kernel is written for one instruction set: [`groups`](crate::kernels::groups), which a plan chooses only where
//! AVX-512 is in force.

use std::sync::atomic::{AtomicU8, Ordering};

/// Work that is compiled once per instruction set. Mark `run` as `#[inline(always)]`.
pub trait Task {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

/// An instruction set that has its own copy of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InstructionSet {
    /// What every processor of the architecture has: SSE2 on x86-64, NEON on AArch64.
    Baseline = 1,
    /// AVX2 with BMI.
    Avx2 = 2,
    /// AVX-512 with the F, BW, CD, DQ and VL parts.
    Avx512 = 3,
}

/// 0: not asked yet.
static LEVEL: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// All instruction sets, simplest first.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// The name users see and may force.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the instruction set.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Baseline => true,
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Self::Baseline
        }
    }

    /// The instruction set in force: the best available one unless [`force`](Self::force) chose another.
    #[inline]
    pub fn current() -> Self {
        match LEVEL.load(Ordering::Relaxed) {
            1 => Self::Baseline,
            2 => Self::Avx2,
            3 => Self::Avx512,
            _ => Self::detect(),
        }
    }

    /// Makes every later call use this instruction set; false where the processor lacks it.
    pub fn force(self) -> bool {
        let available = self.is_available();
        if available {
            LEVEL.store(self as u8, Ordering::Relaxed);
        }
        available
    }

    #[cold]
    fn detect() -> Self {
        let best = Self::ALL.into_iter().rev().find(|set| set.is_available()).unwrap_or(Self::Baseline);
        LEVEL.store(best as u8, Ordering::Relaxed);
        best
    }
}

/// Runs a task compiled for the instruction set in force.
#[inline]
pub fn dispatch<T: Task>(task: T) -> T::Output {
    match InstructionSet::current() {
        // SAFETY: `current` returns only what `is_available` has confirmed.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => unsafe { avx512(task) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => unsafe { avx2(task) },
        _ => task.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<T: Task>(task: T) -> T::Output {
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<T: Task>(task: T) -> T::Output {
    task.run()
}
