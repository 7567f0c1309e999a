//! Zoned drives for tests: zones, preconditioned states, commands one by one, and what random worlds share.

use super::Bench;
use interpulse_drive::DriveSpec;
use interpulse_drive::PreconditionedState;
use interpulse_drive::ftl::zoned::spec::{ChunkSpec, FinishEnd, ResetEnd, ZoneSpec};
use interpulse_drive::ftl::zoned::tables::ZoneTables;
use interpulse_engine::{
    Bytes, Device, DeviceEvent, Duration, Op, Request, Rng, Status, Streams, Tag, VectorAction,
};
use interpulse_flash::suspend::{Scheme, SuspendCosts, SuspendPolicy};

/// Sequential zones of `width` lanes and one row, four of them active, whose reset ends with its erases.
pub fn zones_of(width: u32) -> ZoneSpec {
    ZoneSpec {
        width: Some(width),
        rows: 1,
        size: None,
        conventional: 0,
        max_open: None,
        max_active: 4,
        finish_end: FinishEnd::AtOnce,
        reset_end: ResetEnd::WhenErased,
        zrwa: None,
        chunks: false,
    }
}

/// Chunks of a super block, without a limit of open ones.
pub fn chunks() -> ZoneSpec {
    ChunkSpec { blocks: 1, max_open: None }.into()
}

/// A zoned drive whose first `full` zones are full.
pub fn full_zones(spec: &DriveSpec, full: u32) -> PreconditionedState {
    let mut tables = ZoneTables::new(spec.layout().unwrap(), spec.zone_geometry().unwrap().unwrap());
    tables.fill(full);
    PreconditionedState::Zoned(tables)
}

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub status: Status,
    pub bytes: u64,
    /// Sector at which an append was placed.
    pub placed: Option<u64>,
}

impl Bench {
    /// Submits a command and runs to its completion.
    pub fn execute(&mut self, op: Op, sector: u64, sectors: u32) -> Done {
        self.run_request(Request::new(op, sector, sectors))
    }

    /// As [`Bench::execute`] of a vector command on these addresses, in units of 4 KiB.
    pub fn execute_vector(&mut self, action: VectorAction, units: &[u64]) -> Done {
        let sectors: Vec<u64> = units.iter().map(|unit| 8 * unit).collect();
        let list = self.host.device.store_addresses(&sectors);
        self.run_request(Request::vector(action, list, units.len() as u32, 8))
    }

    /// Submits a vector command on these sectors, beside the flows.
    pub fn submit_vector(&mut self, tag: Tag, action: VectorAction, sectors: &[u64]) {
        let list = self.host.device.store_addresses(sectors);
        let block = (self.host.device.spec().geometry.unit_bytes / 512) as u32;
        let request = Request::vector(action, list, sectors.len() as u32, block);
        self.host.submit(&mut self.events, 0, tag, request);
    }

    fn run_request(&mut self, request: Request) -> Done {
        self.host.device.submit(&mut self.events, 0, Tag(0), request);
        loop {
            let (_, resource) = self.events.next(self.events.horizon()).expect("the command completes");
            self.host.device.handle(&mut self.events, resource);
            self.events.settle();
            if let Some(DeviceEvent::Completed(of)) = self.host.device.event() {
                let done = Done { status: of.status, bytes: of.bytes, placed: of.placed };
                assert!(done.status == Status::Success || done.bytes == 0, "{done:?}");
                self.host.device.pop_event();
                return done;
            }
        }
    }
}

/// Commands that a test submits to zones one by one.
pub struct Commands {
    pub bench: Bench,
    /// Sectors between the starts of neighbouring zones.
    pub zone: u64,
}

impl Commands {
    /// A drive with units of 4 KiB whose first `full` zones are full.
    pub fn new(spec: &DriveSpec, full: u32) -> Commands {
        let zone = u64::from(spec.zone_geometry().unwrap().unwrap().distance) * 8;
        Commands { bench: Bench::new(spec, full_zones(spec, full), &[], 1), zone }
    }

    /// Executes a command at `unit` of a zone; returns its status and the unit at which an append was placed.
    pub fn run(&mut self, op: Op, zone: u64, unit: u64, units: u32) -> (Status, Option<u64>) {
        let done = self.bench.execute(op, zone * self.zone + unit * 8, units * 8);
        (done.status, done.placed.map(|sector| sector % self.zone / 8))
    }

    /// Status of a command at `unit` of a zone.
    pub fn status(&mut self, op: Op, zone: u64, unit: u64, units: u32) -> Status {
        self.run(op, zone, unit, units).0
    }

    /// Lets everything end that is in flight.
    pub fn idle(&mut self) {
        while self.bench.step(self.bench.events.horizon()) {}
    }
}

/// Zones further apart than their capacity in some drives, and in others finishes that fill them.
pub fn spread_and_fill(spec: &mut DriveSpec, seed: u64) {
    let mut rng = Streams::new(seed).stream("test.spread-and-fill", 0);
    let Ok(Some(geometry)) = spec.zone_geometry() else { return };
    let (units, unit) = (u64::from(geometry.units), spec.geometry.unit_bytes);
    let Some(zones) = spec.ftl.zones.as_mut() else { return };
    zones.size = (rng.below(2) == 0).then(|| Bytes((units + rng.below(units)) * unit));
    zones.finish_end = [FinishEnd::AtOnce, FinishEnd::WhenFilled][rng.below(2) as usize];
}

/// Suspension of programs and erases in every second drive.
pub fn with_suspension(spec: &mut DriveSpec, rng: &mut Rng) {
    let us = Duration::from_us;
    let costs = SuspendCosts { entry: us(3), resume: us(5), reset: us(4) };
    if rng.below(2) == 0 {
        let scheme = [Scheme::Ideal, Scheme::LoopBoundary][rng.below(2) as usize];
        let suspend = SuspendPolicy::unlimited(scheme, costs);
        (spec.nand.program_suspend, spec.nand.erase_suspend) = (suspend.clone(), suspend);
        spec.nand.nesting = true;
    }
}
