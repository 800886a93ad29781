//! Short rows where there are no vector registers for them: none.

use crate::element::ElementType;
use crate::kernels::outputs::Outputs;
use crate::kernels::source::Lines;

/// Finds the extremum of each of several rows.
pub struct ShortRows {
    pub lines: Lines,
    pub rows: usize,
    pub len: usize,
    pub element: ElementType,
    pub largest: bool,
    pub last: bool,
    pub to: Outputs,
}

/// What is wanted of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Places,
    Values,
    Both,
}

/// Never.
pub fn serve(_: ElementType, _: usize, _: usize, _: bool, _: Wanted) -> bool {
    false
}

impl ShortRows {
    /// No row is done.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn run(&self) -> usize {
        0
    }
}
