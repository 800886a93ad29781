//! Which axes a node means, whatever the rank of its input turns out to be.

use crate::api::{Refusal, Result};
use crate::attributes::Attributes;
use crate::operator::PerAxis;
use smallvec::smallvec;

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
        let listed = attributes.ints(c"axes")?.filter(|axes| !axes.is_empty());
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

    /// Whether each axis of an input of some rank is meant.
    pub fn of(&self, rank: usize) -> Result<PerAxis<bool>> {
        let mut chosen: PerAxis<bool> = smallvec![false; rank];
        match self {
            Self::Listed(axes) => {
                for &axis in axes {
                    let place = &mut chosen[position(axis, rank)?];
                    if *place {
                        return Err(Refusal::new(format!("axis {axis} is listed twice"), "list each axis once").into());
                    }
                    *place = true;
                }
            }
            Self::One(axis) => chosen[position(*axis, rank)?] = true,
            Self::ToLast(axis) => chosen[position(*axis, rank)?..].fill(true),
        }
        Ok(chosen)
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
        axes.of(rank).map(|chosen| chosen.to_vec()).map_err(|failure| match failure {
            Failure::Refusal(refusal) => refusal.reason,
            Failure::Status(_) => unreachable!("no call was made"),
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
