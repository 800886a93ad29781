//! Instruction sets: the one dispatch point.
//!
//! Kernels are written once, as plain loops inside a [`Task`]. Each instruction set compiles its own copy of
//! every task by inlining it into a function with those target features; the compiler's vectoriser does the
//! rest. `kernels::short_rows` and `kernels::down` are written for the vector registers of [`crate::vector`].

use std::sync::atomic::{AtomicU8, Ordering};

/// Work that is compiled once per instruction set. Mark `run` as `#[inline(always)]`.
pub trait Task {
    /// What the work returns.
    type Output;
    /// Does the work.
    ///
    /// # Safety
    /// The pointers of the task lead to what its fields say is there.
    unsafe fn run(self) -> Self::Output;
}

/// An instruction set that has its own copy of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InstructionSet {
    /// What every processor of the architecture has: SSE2 on x86-64, NEON on AArch64.
    Baseline = 1,
    /// SSE4.2: x86-64-v2. Only kernels that are written for vector registers have a copy for it.
    Sse42 = 2,
    /// AVX2 with BMI.
    Avx2 = 3,
    /// AVX-512 with the F, BW, CD, DQ and VL parts.
    Avx512 = 4,
}

/// 0: not asked yet.
static LEVEL: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// All instruction sets, simplest first.
    pub const ALL: [Self; 4] = [Self::Baseline, Self::Sse42, Self::Avx2, Self::Avx512];

    /// The name users see and may force.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Sse42 => "sse4.2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the instruction set.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Baseline => true,
            Self::Sse42 => sse42::is_available(),
            Self::Avx2 => avx2::is_available(),
            Self::Avx512 => avx512::is_available(),
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
            2 => Self::Sse42,
            3 => Self::Avx2,
            4 => Self::Avx512,
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

impl InstructionSet {
    /// Whether there is more than the baseline of an architecture that has more: kernels that only save time are not compiled
    /// for the baseline alone.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::Avx2 | Self::Avx512) || cfg!(not(target_arch = "x86_64"))
    }
}

/// Runs a task compiled for the instruction set in force, which is wide.
///
/// # Safety
/// As for [`Task::run`]; an instruction set that [is wide](InstructionSet::is_wide) has been in force, so that the processor
/// has one.
#[inline(always)]
pub unsafe fn dispatch_wide<T: Task>(task: T) -> T::Output {
    // SAFETY: the caller's; with AVX-512 there is AVX2.
    unsafe {
        match InstructionSet::current() {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => avx512::run(task),
            #[cfg(target_arch = "x86_64")]
            _ => avx2::run(task),
            #[cfg(not(target_arch = "x86_64"))]
            _ => run(task),
        }
    }
}

/// Runs a task compiled for the instruction set in force.
///
/// # Safety
/// As for [`Task::run`].
#[inline(always)]
pub unsafe fn dispatch<T: Task>(task: T) -> T::Output {
    // SAFETY: the caller's; `current` returns only what `is_available` has confirmed.
    unsafe {
        match InstructionSet::current() {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => avx512::run(task),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => avx2::run(task),
            _ => run(task),
        }
    }
}

/// Runs a task compiled for the baseline alone, where nothing wider is in force.
///
/// # Safety
/// As for [`Task::run`].
#[inline(always)]
pub unsafe fn dispatch_narrow<T: Task>(task: T) -> T::Output {
    // SAFETY: the caller's.
    unsafe { run(task) }
}

/// Runs a task compiled for the baseline. In line it would be compiled again wherever tasks are dispatched, and the memory that
/// it needs be asked for by all of them.
///
/// # Safety
/// As for [`Task::run`].
#[inline(never)]
unsafe fn run<T: Task>(task: T) -> T::Output {
    // SAFETY: the caller's.
    unsafe { task.run() }
}

/// For each instruction set, all that the compiler may use, which is all that a processor is asked for: a hypervisor may
/// hide any of it. A set has the features of those before it; what they imply for the compiler is listed too.
macro_rules! instruction_sets {
    ([$($has:tt)*]) => {};
    ([$($has:tt)*] $(#[$doc:meta])* $set:ident [$($more:tt)*] $($rest:tt)*) => {
        instruction_set! { $(#[$doc])* $set [$($has)* $($more)*] }
        instruction_sets! { [$($has)* $($more)*] $($rest)* }
    };
}

macro_rules! instruction_set {
    ($(#[$doc:meta])* $set:ident [$($feature:tt)+]) => {
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        pub(crate) mod $set {
            use crate::isa::Task;
            use std::sync::atomic::{AtomicU8, Ordering};

            /// What the compiler may use.
            #[cfg(all(test, not(miri)))]
            pub const FEATURES: &[&str] = &[$($feature),+];

            /// Whether this processor has all of it.
            #[inline]
            pub fn is_available() -> bool {
                const UNKNOWN: u8 = 2;
                // No lock: a child that was forked while it was taken would wait for ever.
                static AVAILABLE: AtomicU8 = AtomicU8::new(UNKNOWN);
                let known = AVAILABLE.load(Ordering::Relaxed);
                if known != UNKNOWN {
                    return known == 1;
                }
                let available = $(is_x86_feature_detected!($feature))&&+;
                AVAILABLE.store(available.into(), Ordering::Relaxed);
                available
            }

            /// Runs a task compiled for it.
            ///
            /// # Safety
            /// It [is available](is_available); besides, as for [`Task::run`].
            $(#[target_feature(enable = $feature)])+
            pub unsafe fn run<T: Task>(task: T) -> T::Output {
                // SAFETY: the caller's.
                unsafe { task.run() }
            }
        }
    };
}

instruction_sets! {
    []
    /// SSE4.2, and what x86-64-v2 has beside it.
    sse42 ["sse3" "ssse3" "sse4.1" "sse4.2" "popcnt"]
    /// AVX2 with BMI.
    avx2 ["avx" "avx2" "bmi1" "bmi2" "lzcnt"]
    /// AVX-512 with the F, BW, CD, DQ and VL parts.
    avx512 ["f16c" "fma" "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"]
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    /// What the compiler may use where it is told of some features.
    fn enabled(features: &[&str]) -> BTreeSet<String> {
        let flags: Vec<String> = features.iter().map(|feature| format!("+{feature}")).collect();
        let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        let output = Command::new(rustc)
            .args(["--print=cfg", "--target=x86_64-unknown-linux-gnu", "-C"])
            .arg(format!("target-feature={}", flags.join(",")))
            .output()
            .expect("the compiler runs");
        let text = String::from_utf8(output.stdout).expect("it prints text");
        let names = text.lines().filter_map(|line| line.strip_prefix("target_feature=\"")?.strip_suffix('"'));
        names.map(str::to_owned).collect()
    }

    #[test]
    fn a_processor_is_asked_for_all_that_the_compiler_may_use() {
        let baseline = enabled(&[]);
        assert!(baseline.contains("sse2"));
        for features in [sse42::FEATURES, avx2::FEATURES, avx512::FEATURES] {
            let asked: BTreeSet<String> = features.iter().map(|&feature| feature.to_owned()).collect();
            let all: BTreeSet<String> = enabled(features).difference(&baseline).cloned().collect();
            assert_eq!(asked, all);
        }
    }

    /// Elsewhere nothing is compiled for features, and no processor asked.
    #[test]
    fn the_lists_above_are_the_only_ones() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the sources are there") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                files += 1;
                let text = fs::read_to_string(&path).expect("a source is text");
                let own = path.file_name().is_some_and(|name| name == "isa.rs");
                let found = text.contains("target_feature(") || text.contains("feature_detected!");
                assert_eq!(found, own, "{}", path.display());
            }
        }
        assert!(files > 20);
    }
}
