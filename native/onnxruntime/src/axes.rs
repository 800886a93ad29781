//! Which axes a node means, whatever the rank of its input turns out to be.

use crate::api::{Refusal, Result};
use crate::attributes::Attributes;
use crate::operator::PerAxis;
use std::mem;
use std::ops::Range;

/// The axes that a node looks along.
#[derive(Debug, PartialEq, Eq)]
pub enum Axes {
    /// `axes`: those that are listed.
    Listed(Vec<i64>),
    /// `axis`: one.
    One(i64),
    /// `axis` with `to_last`: one and all that follow it.
    ToLast(i64),
}

impl Axes {
    /// Reads `axes`, `axis` and `to_last`; the defaults are those of `axis` without and with `to_last`.
    pub fn read(attributes: &impl Attributes, one: i64, to_last: i64) -> Result<Self> {
        let listed = attributes.ints(c"axes")?;
        let axis = attributes.int(c"axis")?;
        match (listed, axis, attributes.flag(c"to_last", false)?) {
            (None, axis, false) => Ok(Self::One(axis.unwrap_or(one))),
            (None, axis, true) => Ok(Self::ToLast(axis.unwrap_or(to_last))),
            (Some(axes), None, false) => Ok(Self::Listed(axes)),
            (Some(_), ..) => {
                let reason = "attribute 'axes' cannot stand beside 'axis' or 'to_last'";
                Err(Refusal::new(reason, "list all axes, or give one axis").into())
            }
        }
    }

    /// Those of an input of some rank.
    pub fn of(&self, rank: usize) -> Result<Chosen> {
        Ok(match self {
            Self::One(axis) => {
                let axis = position(*axis, rank)?;
                Chosen::Run(axis..axis + 1)
            }
            Self::ToLast(axis) => Chosen::Run(position(*axis, rank)?..rank),
            Self::Listed(axes) => Chosen::listed(axes, rank)?,
        })
    }
}

/// Axes of an input whose rank is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Neighbours, or one.
    Run(Range<usize>),
    /// Whether each axis is among them.
    Listed(Vec<bool>),
}

impl Chosen {
    /// Those of a list.
    pub fn listed(axes: &[i64], rank: usize) -> Result<Self> {
        let mut chosen = vec![false; rank];
        for &axis in axes {
            if mem::replace(&mut chosen[position(axis, rank)?], true) {
                return Err(Refusal::new(format!("axis {axis} is listed twice"), "list each axis once").into());
            }
        }
        Ok(Self::Listed(chosen))
    }

    /// Whether an axis is among them.
    pub fn contains(&self, axis: usize) -> bool {
        match self {
            Self::Run(axes) => axes.contains(&axis),
            Self::Listed(chosen) => chosen[axis],
        }
    }

    /// Refuses a shape of which one of them has no element.
    pub fn refuse_empty(&self, shape: &[i64]) -> Result<()> {
        match shape.iter().enumerate().position(|(axis, &size)| size == 0 && self.contains(axis)) {
            None => Ok(()),
            Some(axis) => {
                let reason = format!("there is nothing to choose from: axis {axis} of the input has no element");
                Err(Refusal::new(reason, "reduce axes that are not empty").into())
            }
        }
    }

    /// What a reduction over them leaves of a shape.
    pub fn reduced(&self, shape: &[i64], keepdims: bool) -> PerAxis<i64> {
        let sizes = shape.iter().enumerate();
        sizes
            .filter_map(|(axis, &size)| match self.contains(axis) {
                false => Some(size),
                true => keepdims.then_some(1),
            })
            .collect()
    }
}

fn position(axis: i64, rank: usize) -> Result<usize> {
    let from_front = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    if (0..rank as i64).contains(&from_front) {
        return Ok(from_front as usize);
    }
    let help = match rank {
        0 => "give it at least one axis".into(),
        _ => format!("use an axis in [-{rank}, {}]", rank - 1),
    };
    Err(Refusal::new(format!("axis {axis} is out of range for an input of rank {rank}"), help).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Failure;

    fn chosen(axes: &Axes, rank: usize) -> std::result::Result<Vec<bool>, String> {
        axes.of(rank).map(|chosen| (0..rank).map(|axis| chosen.contains(axis)).collect()).map_err(|failure| {
            match failure {
                Failure::Refusal(refusal) => refusal.reason,
                Failure::Status(_) => unreachable!("no call was made"),
            }
        })
    }

    #[test]
    fn axes_are_resolved_against_the_rank() {
        assert_eq!(chosen(&Axes::One(-1), 3), Ok(vec![false, false, true]));
        assert_eq!(chosen(&Axes::ToLast(-2), 3), Ok(vec![false, true, true]));
        assert_eq!(chosen(&Axes::Listed(vec![2, -3]), 3), Ok(vec![true, false, true]));
    }

    #[test]
    fn axes_out_of_range_and_twice_are_refused() {
        assert_eq!(chosen(&Axes::One(0), 0), Err("axis 0 is out of range for an input of rank 0".into()));
        assert_eq!(chosen(&Axes::ToLast(1), 1), Err("axis 1 is out of range for an input of rank 1".into()));
        assert_eq!(
            chosen(&Axes::One(i64::MIN), 2),
            Err(format!("axis {} is out of range for an input of rank 2", i64::MIN))
        );
        assert_eq!(chosen(&Axes::Listed(vec![1, -1]), 2), Err("axis -1 is listed twice".into()));
    }
}
