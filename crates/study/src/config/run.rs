//! Sections `[precondition]`, `[run]` and `[report]`.

use interpulse_array::config::ArraySpec;
use interpulse_drive::DriveSpec;
use interpulse_drive::Impossible;
use interpulse_drive::spec::{NamespaceSpec, WearBefore, When};
use interpulse_engine::{Bytes, Duration, SECTOR};
use interpulse_flash::errors::InitialAges;
use interpulse_settings::{ConfigError, Document, Row, default, keys, optional};
use interpulse_workload::{AddressSpec, AreaSectors, Chunks, FlowSpec, Zones};

/// Initial state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PreconditionSpec {
    /// Share of the logical capacity written once, in order.
    pub fill: f64,
    /// Share of the programmed pages that are out of date after the fill.
    pub out_of_date: f64,
    /// Overwrites after the fill.
    pub overwrite: Option<OverwriteSpec>,
    /// P/E cycles of every block before preconditioning, or their mean where they are drawn.
    pub cycles: u32,
    /// Variance of drawn cycles divided by their mean; `None` if all blocks have the same.
    pub dispersion: Option<f64>,
    /// Seed of the overwrites; streams differ from those of the workload even for equal seeds.
    pub seed: u64,
}

/// Overwrites of the filled part.
#[derive(Clone, Debug, PartialEq)]
pub struct OverwriteSpec {
    /// Address pattern.
    pub addresses: AddressSpec,
    /// End condition.
    pub until: Until,
}

/// End of the overwrites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    /// When write amplification of successive quarter-drives changes by less than `tolerance`, at the latest after
    /// `max_drive_writes`.
    Steady {
        /// Relative change.
        tolerance: f64,
        /// Logical capacities written.
        max_drive_writes: f64,
    },
    /// After this many logical capacities.
    DriveWrites(f64),
}

/// Longest run.
const LONGEST: Duration = Duration::from_ms(100 * 24 * 3_600_000);

keys! {
    /// What is measured.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RunSpec, pub(super) fn read(s) {
        /// simulated time before the measurement window; without it, until the drive is at work
        pub warmup: Option<Duration> = optional_duration(optional().at_most(LONGEST)),
        /// requests completed before the measurement window, instead of run.warmup
        pub warmup_requests: Option<u64> = optional_u64(optional().at_least(1)),
        /// completed requests to measure
        pub requests: Option<u64> = optional_u64(optional().at_least(1)),
        /// simulated time to measure
        pub time: Option<Duration> = optional_duration(optional().positive().at_most(LONGEST)),
    } check {
        let why = "the window begins after a time or after so many requests: give one of the two";
        s.check_together(warmup.is_none() || warmup_requests.is_none(), &["warmup", "warmup-requests"], why)?;
    }
}

keys! {
    /// What the result holds besides what it always does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReportSpec, pub(super) fn read(s) {
        /// put the latency histograms into the result
        pub histograms: bool = bool(default(false)),
        /// put the batches of the window into the result: figures over time
        pub batches: bool = bool(default(false)),
        /// put each die's time by use and the wear of its blocks into the result
        pub dies: bool = bool(default(false)),
    }
}

/// Cycles of super blocks before a run.
const WEAR: &[(&str, bool, &str)] = &[
    ("equal", false, "precondition.cycles and those of preconditioning"),
    (
        "drawn",
        true,
        "drawn around precondition.cycles from the seed; blocks that failed meanwhile have been replaced",
    ),
];

pub(super) fn read_precondition(document: &Document) -> Result<PreconditionSpec, ConfigError> {
    let mut p = document.section("precondition")?.shaping_state();
    let fill = p.fraction("fill", "share of the capacity written once, in order", default(1.0))?;
    let out_of_date = p.fraction(
        "out-of-date",
        "share of the units that the fill programs, at random, that are out of date when it ends",
        default(0.0).at_most(0.9),
    )?;
    // Wear is added when a run starts.
    let mut wear = p.not_shaping_state();
    let cycles = wear.u32(
        "cycles",
        "program/erase cycles that every block has had before",
        default(0).within(0..=1_000_000),
    )?;
    let drawn = wear.choice("wear", "cycles of single super blocks before the run", Some("equal"), WEAR)?;
    let dispersion = wear.when(drawn, "wear = \"drawn\"", |p| {
        let doc = "variance of the cycles of super blocks divided by their mean";
        p.f64("cycles-dispersion", doc, default(0.0).within(0.0..=1000.0))
    })?;
    let mut patterns = vec![("none", None, "nothing is overwritten")];
    patterns.extend(AddressSpec::ROWS.iter().enumerate().map(|(k, row)| (row.name, Some(k), row.doc)));
    let pattern =
        p.choice("overwrite", "pattern of the overwrites after the fill", Some("none"), &patterns)?;
    let overwrite = p.when(pattern.is_some(), "an `overwrite` pattern", |p| {
        let addresses = p.policy_keys("overwrite", pattern.unwrap_or(0), AddressSpec::ROWS)?;
        let until = p.policy("until", "when overwriting ends", Some("steady"), Until::ROWS)?;
        if fill == 0.0 {
            return Err(p.conflict(&["fill", "overwrite"], "there is nothing to overwrite on an empty drive"));
        }
        Ok(OverwriteSpec { addresses, until })
    })?;
    let seed = p.u64("seed", "seed of the overwrites", default(1).at_least(0))?;
    Ok(PreconditionSpec { fill, out_of_date, overwrite, cycles, dispersion, seed })
}

impl Until {
    /// End conditions by name.
    const ROWS: &'static [Row<Until>] = &[
        Row {
            name: "steady",
            doc: "when write amplification changes no more",
            read: |p| {
                let doc =
                    "steady: write amplification of successive quarter-drives changes by less than this";
                let tolerance = p.fraction("tolerance", doc, default(0.01).within(1e-5..=0.5))?;
                let doc = "steady: give up after this many capacities";
                let max_drive_writes = p.f64("max-drive-writes", doc, default(20.0).within(0.5..=1000.0))?;
                Ok(Until::Steady { tolerance, max_drive_writes })
            },
        },
        Row {
            name: "drive-writes",
            doc: "after so many capacities",
            read: |p| {
                let range = default(2.0).within(0.0..=1000.0);
                Ok(Until::DriveWrites(p.f64("drive-writes", "capacities to overwrite", range)?))
            },
        },
    ];
}

impl RunSpec {
    /// The key of an event that lies after the end of the run, with that end, if the keys of the run determine it.
    pub(super) fn never(
        &self,
        drive: &DriveSpec,
        array: Option<&ArraySpec>,
        flows: &[FlowSpec],
    ) -> Option<(String, Duration)> {
        if self.warmup_requests.is_some() {
            // Their duration is unknown.
            return None;
        }
        // A run with timed events has only an explicit warm-up.
        let end = self.warmup.unwrap_or_default() + self.time?;
        let cut = drive.power_loss.and_then(|spec| spec.at).map(|at| ("power-loss.at".to_string(), at));
        let failures = array.into_iter().flat_map(|array| array.failures.iter().flatten());
        let failures = failures.map(|failure| ("array.fail-at".to_string(), failure.at));
        let starts = (0..).zip(flows).map(|(i, flow)| (format!("flow.{i}.start"), Duration(flow.start.0)));
        let faults = (0..).zip(&drive.schedule).filter_map(|(i, fault)| match fault.when {
            When::At(at) => Some((format!("fault.{i}.at"), at)),
            When::After(_) => None,
        });
        let formats = (0..).zip(&drive.formats).map(|(i, format)| (format!("format.{i}.at"), format.at));
        let mut timed = cut.into_iter().chain(failures).chain(faults).chain(formats).chain(starts);
        let (key, _) = timed.find(|&(_, at)| at >= end)?;
        Some((key, end))
    }
}

impl PreconditionSpec {
    /// P/E cycles that are added to every block of the preconditioned state.
    pub fn equal_cycles(&self) -> u32 {
        if self.dispersion.is_some() { 0 } else { self.cycles }
    }

    /// Wear that is drawn at the start of the run.
    pub(super) fn wear_before(&self) -> Option<WearBefore> {
        self.dispersion.map(|dispersion| WearBefore { cycles: self.cycles, dispersion })
    }

    /// Zones of a zoned drive that are full at the start.
    pub fn full_zones(&self, zones: u32) -> u32 {
        (f64::from(zones) * self.fill) as u32
    }

    /// Initial state of a namespace: the drive's, with its own share of filled capacity, and without overwrites where zones do
    /// not allow them.
    pub fn of_namespace(&self, drive: &DriveSpec, namespace: u32) -> PreconditionSpec {
        let parts = drive.parts().expect("the spec has been checked");
        let of = &parts[namespace as usize];
        let mut own = PreconditionSpec { fill: of.fill.unwrap_or(self.fill), ..self.clone() };
        if of.ftl.zones.is_some() {
            (own.overwrite, own.out_of_date) = (None, 0.0);
        }
        // Equal namespaces are not overwritten alike.
        own.seed = self.seed.wrapping_add(u64::from(namespace));
        own
    }

    /// Zones of each namespace, or of the drive, as flows see them; `None` where there are none.
    pub(super) fn zones(&self, drive: &DriveSpec) -> Vec<Option<Zones>> {
        let conventional = drive.conventional_zones();
        if conventional > 0 {
            let Ok(parts) = drive.namespaces() else { return vec![Some(some_zones(drive))] };
            let all = self.zones_of_ftl(&parts[1]).map(|of| of.behind(conventional.into()));
            return vec![all];
        }
        if drive.namespaces.is_empty() {
            return vec![self.zones_of_ftl(drive)];
        }
        let Ok(namespaces) = drive.namespaces() else {
            // The check of the drive says why the namespaces do not fit.
            let zones = |of: &NamespaceSpec| of.ftl.zones.as_ref().map(|_| some_zones(drive));
            return drive.namespaces.iter().map(zones).collect();
        };
        (0..).zip(&namespaces).map(|(k, of)| self.of_namespace(drive, k).zones_of_ftl(of)).collect()
    }

    fn zones_of_ftl(&self, drive: &DriveSpec) -> Option<Zones> {
        let block = Bytes(drive.geometry.unit_bytes);
        let zones = match drive.zone_geometry() {
            Ok(zones) => zones?,
            // The check of the drive says why it has no zones.
            Err(_) => return Some(some_zones(drive)),
        };
        let sectors_of = |units: u32| u64::from(units) * block.get() / SECTOR.get();
        let limits = drive.ftl.zones.as_ref().and_then(|of| of.area_limits(block.get()));
        let area = limits.map(|limits| AreaSectors {
            sectors: u64::from(limits.units) * block.get() / SECTOR.get(),
            granularity: u64::from(limits.granularity) * block.get() / SECTOR.get(),
        });
        Some(Zones {
            sectors: sectors_of(zones.units),
            distance: sectors_of(zones.distance),
            block,
            full: u64::from(self.full_zones(zones.zones)),
            area,
            chunks: drive.ftl.is_open_channel().then(|| Chunks {
                units: drive.layout().map_or(1, |layout| layout.lanes),
                program: sectors_of(zones.program),
            }),
            conventional: 0,
        })
    }

    /// Checks the initial state against the drive.
    pub(super) fn check(&self, drive: &DriveSpec) -> Result<(), Impossible> {
        if drive.is_divided() {
            let namespaces = drive.namespaces()?;
            let empties = |of: &NamespaceSpec| of.fill == Some(0.0) && of.ftl.zones.is_none();
            let why = "there is nothing to overwrite in an empty namespace: give all page namespaces a fill, or no overwrite";
            let filled = self.overwrite.is_none() || !drive.namespaces.iter().any(empties);
            Impossible::unless(filled, &["precondition.overwrite"], why)?;
            return (0..).zip(namespaces).try_for_each(|(k, of)| self.of_namespace(drive, k).check(&of));
        }
        let why = "a zone is written once, in order, until it is reset: leave out what overwrites it";
        let goes =
            |holds, key| Impossible::unless(drive.ftl.zones.is_none() || holds, &[key, "ftl.family"], why);
        goes(self.overwrite.is_none(), "precondition.overwrite")?;
        goes(self.out_of_date == 0.0, "precondition.out-of-date")?;
        let why = "a state without merges has every unit in its data block: leave out what overwrites it, and let the warm-up do so";
        let goes = |holds, key| {
            Impossible::unless(drive.ftl.log_blocks.is_none() || holds, &[key, "ftl.family"], why)
        };
        goes(self.overwrite.is_none(), "precondition.overwrite")?;
        goes(self.out_of_date == 0.0, "precondition.out-of-date")?;
        let pages = drive.ftl.zones.is_none() && drive.ftl.log_blocks.is_none() && !drive.is_divided();
        let why = "wear is drawn for the blocks of one page-mapped FTL: leave it equal";
        Impossible::unless(self.dispersion.is_none() || pages, &["precondition.wear", "ftl.family"], why)?;
        let closed = drive.nand.errors.as_ref().is_some_and(|of| of.initial_ages == InitialAges::Closed);
        let why = "only a page-mapped FTL keeps the order in which blocks were closed: choose equal or uniform ages";
        Impossible::unless(!closed || pages, &["errors.initial-ages", "ftl.family"], why)?;
        let imposes = drive.ftl.gc.imposes();
        let why = "gc = \"imposed\" keeps every unit where preconditioning put it, so fill must be 100%";
        Impossible::unless(!imposes || self.fill >= 1.0, &["precondition.fill", "ftl.gc"], why)?;
        let why = "gc = \"imposed\" writes no unit twice before a run, so out-of-date must be 0%";
        let none = self.out_of_date == 0.0;
        Impossible::unless(!imposes || none, &["precondition.out-of-date", "ftl.gc"], why)?;
        let last = drive.nand.errors.as_ref().and_then(|errors| errors.table.cycles.last().copied());
        let last = last.unwrap_or(u32::MAX);
        let why = format!("the error table ends at {last} cycles");
        Impossible::unless(self.cycles <= last, &["precondition.cycles", "errors.table"], why)
    }
}

/// Zones of a unit each, where the real ones are not known.
fn some_zones(drive: &DriveSpec) -> Zones {
    let block = Bytes(drive.geometry.unit_bytes);
    let sectors = block.get() / SECTOR.get();
    let chunks = drive.ftl.is_open_channel().then_some(Chunks { units: 65536, program: sectors });
    Zones { sectors, distance: sectors, block, full: 0, area: None, chunks, conventional: 0 }
}
