//! Static striping orders and dynamic allocation of logical pages to lanes.

use crate::numbers::{Lane, Lpn};
use interpulse_flash::geometry::Geometry;
use interpulse_settings::{ConfigError, Section};

/// Allocation of writes to lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Next ready lane in round-robin order.
    Dynamic,
    /// The same; consecutive pages go to successive lanes.
    SuperWordLine,
    /// Fixed function of the logical page: channel, way (chip), die and plane group vary in this order, fastest first.
    Static([Axis; 4]),
}

/// Axis of parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Channel.
    C,
    /// Way: the chip on a channel.
    W,
    /// Die of a chip.
    D,
    /// Plane group of a die.
    P,
}

impl Allocation {
    /// Name, value and documentation of all orders: `dynamic`, the 24 permutations, such as `cwdp`, and
    /// `super-word-line`.
    pub fn all() -> Vec<(String, Allocation, String)> {
        use Axis::{C, D, P, W};
        let axes = [(C, 'c', "channel"), (W, 'w', "way"), (D, 'd', "die"), (P, 'p', "plane")];
        let next = "the next lane that is ready for a program, in turn".to_string();
        let spread = "the next ready lane in turn for each program, and successive lanes for consecutive pages, which a \
                      super word line in the write cache gathers"
            .to_string();
        let mut all = vec![("dynamic".to_string(), Allocation::Dynamic, next)];
        for code in 0..1 << 8 {
            let order = [code >> 6, code >> 4 & 3, code >> 2 & 3, code & 3];
            if (0..4).all(|axis| order.contains(&axis)) {
                let name = order.iter().map(|&i| axes[i].1).collect();
                let doc = format!("static striping, fastest first: {}", order.map(|i| axes[i].2).join(", "));
                all.push((name, Allocation::Static(order.map(|i| axes[i].0)), doc));
            }
        }
        all.push(("super-word-line".to_string(), Allocation::SuperWordLine, spread));
        all
    }

    /// Reads the allocation order.
    pub fn read(s: &mut Section) -> Result<Allocation, ConfigError> {
        let doc = "dynamic, super-word-line, or a static striping order of channel, way, die and plane, fastest first";
        s.choice("allocation", doc, Some("dynamic"), &Allocation::all())
    }
}

/// Lane of each position of the striping order.
#[derive(Clone, Debug)]
pub struct Stripe {
    lanes: Vec<Lane>,
    units_per_page: u32,
}

impl Stripe {
    /// Static allocation order over the lanes of `geometry`; `None` for dynamic allocation.
    pub fn new(allocation: Allocation, geometry: &Geometry, lanes_per_die: u32) -> Option<Stripe> {
        let Allocation::Static(order) = allocation else { return None };
        let size = |axis| match axis {
            Axis::C => geometry.channels,
            Axis::W => geometry.chips_per_channel,
            Axis::D => geometry.dies_per_chip,
            Axis::P => lanes_per_die,
        };
        let total = geometry.dies() * lanes_per_die;
        let lanes = (0..total)
            .map(|position| {
                let (mut rest, mut at) = (position, [0; 4]);
                for axis in order {
                    at[axis as usize] = rest % size(axis);
                    rest /= size(axis);
                }
                let [c, w, d, p] = at;
                let die = (c * geometry.chips_per_channel + w) * geometry.dies_per_chip + d;
                Lane(die * lanes_per_die + p)
            })
            .collect();
        Some(Stripe { lanes, units_per_page: geometry.units_per_page })
    }

    /// Units of one page from `lpn` on, itself included.
    #[inline]
    pub fn rest_of_page(&self, lpn: Lpn) -> u32 {
        self.units_per_page - lpn.0 % self.units_per_page
    }

    /// Lane of logical unit `lpn`; the units of one page share a lane.
    #[inline]
    pub fn lane(&self, lpn: Lpn) -> Lane {
        self.lanes[(lpn.0 / self.units_per_page) as usize % self.lanes.len()]
    }
}
