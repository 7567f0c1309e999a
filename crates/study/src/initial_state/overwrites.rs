//! Overwrites after the fill: sampled or looked up.

use interpulse_drive::DriveSpec;
use interpulse_drive::numbers::Lpn;
use interpulse_drive::{Draws, Preconditioner};
use interpulse_engine::{SimTime, Streams};
use interpulse_workload::{AddressSpec, Flow, FlowSpec, SyntheticPacing, SyntheticSpec};

/// Stream instance of preconditioning; no workload flow uses it.
const INSTANCE: u64 = 0x70_7265_636f_6e64;
/// Sampling is used if at least this share of all units is valid: below it most samples miss, and lookups cost less.
const DRAWN_FROM: f64 = 0.2;

/// Overwrite method.
pub(crate) enum Overwrites {
    /// Uniform: samples the blocks that lose a unit without reading the map.
    Anywhere(Box<Draws>),
    /// Other patterns: generates logical units and looks them up.
    Pattern(Box<Addresses>),
}

impl Overwrites {
    /// Overwrites of `pattern` over the first `filled` units, which `p` has written.
    pub(crate) fn new(
        pattern: &AddressSpec,
        filled: u64,
        drive: &DriveSpec,
        p: &Preconditioner,
        streams: &Streams,
    ) -> Overwrites {
        let stream = |of: &str| streams.stream(&format!("precondition.{of}"), 0);
        let units = drive.layout().expect("the spec has been checked").units();
        if *pattern == AddressSpec::Uniform && filled as f64 >= DRAWN_FROM * units as f64 {
            return Overwrites::Anywhere(Box::new(p.draws(stream("draws"), stream("deal"))));
        }
        Overwrites::Pattern(Box::new(Addresses::new(
            pattern,
            filled,
            drive.geometry.unit_bytes / 512,
            streams,
        )))
    }

    /// Overwrites `count` units.
    pub(crate) fn make(&mut self, p: &mut Preconditioner, count: u64) {
        match self {
            Overwrites::Anywhere(draws) => p.overwrite_anywhere(count, draws),
            Overwrites::Pattern(addresses) => p.overwrite(count, || addresses.next()),
        }
    }

    /// Assigns the logical units of sampled overwrites. `progress` gets parts done and total and returns false to
    /// stop; returns whether it completed.
    pub(crate) fn end(&mut self, p: &mut Preconditioner, progress: &mut dyn FnMut(u64, u64) -> bool) -> bool {
        match self {
            Overwrites::Anywhere(draws) => p.assign_lpns(draws, progress),
            Overwrites::Pattern(_) => true,
        }
    }
}

/// Logical units of a pattern, one write at a time.
pub(crate) struct Addresses {
    flow: Flow,
    sectors: u64,
}

impl Addresses {
    /// Units of `sectors` sectors in the filled part.
    fn new(pattern: &AddressSpec, filled: u64, sectors: u64, streams: &Streams) -> Addresses {
        let spec = FlowSpec::synthetic(
            "precondition",
            SyntheticSpec {
                pacing: SyntheticPacing::Closed { depth: 1 },
                read_share: 0.0,
                write_share: 1.0,
                addresses: pattern.clone(),
                ..SyntheticSpec::default()
            },
        );
        debug_assert_eq!(spec.start, SimTime::ZERO);
        let flow = Flow::new(&spec, filled * sectors, streams, INSTANCE);
        Addresses { flow: flow.expect("patterns are checked when they are read"), sectors }
    }

    #[inline]
    fn next(&mut self) -> Lpn {
        let (_, request) = self.flow.next().expect("no trace is read").expect("there is no limit");
        Lpn((request.sector / self.sectors) as u32)
    }
}
