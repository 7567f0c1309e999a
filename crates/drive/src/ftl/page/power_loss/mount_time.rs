//! Mount time: the reads of recovery, die by die and channel by channel.

use crate::ftl::layout::Layout;
use crate::numbers::SuperBlock;
use interpulse_engine::Duration;
use interpulse_flash::DieId;
use interpulse_flash::cell_mode::CellMode;
use interpulse_flash::die::Die;
use interpulse_flash::geometry::{Geometry, Timing};

/// Page reads on an otherwise idle drive. Each die senses and each channel transfers one page at a time, and both overlap:
/// the slowest die or channel determines the time.
pub(crate) struct Reads<'a> {
    geometry: &'a Geometry,
    timing: &'a Timing,
    dies: Vec<u64>,
    channels: Vec<u64>,
    next: DieId,
    pages: u64,
}

impl<'a> Reads<'a> {
    pub(crate) fn new(geometry: &'a Geometry, timing: &'a Timing) -> Reads<'a> {
        let (dies, channels) = (geometry.dies() as usize, geometry.channels as usize);
        Reads { geometry, timing, dies: vec![0; dies], channels: vec![0; channels], next: DieId(0), pages: 0 }
    }

    fn read(&mut self, die: DieId, page_type: u32, mode: CellMode, units: usize) {
        let sensing = mode.sensing(self.timing, page_type as usize);
        let bus = self.timing.shared_command + self.timing.transfer_units[units];
        self.dies[die.index()] += (sensing + self.timing.command + self.timing.transfer_units[units]).as_ns();
        self.channels[self.geometry.channel_of(die) as usize] += bus.as_ns();
        self.pages += 1;
    }

    /// Whole pages striped over all dies.
    pub(crate) fn spread(&mut self, pages: u64) {
        for _ in 0..pages {
            self.read(self.next, 0, CellMode::Native, self.geometry.units_per_page as usize);
            self.next = DieId((self.next.0 + 1) % self.geometry.dies());
        }
    }

    /// One unit of page `page` of a block in `mode`.
    pub(crate) fn unit(&mut self, die: DieId, page: u32, mode: CellMode) {
        self.read(die, page % self.geometry.pages_per_word_line, mode, 1);
    }

    /// Out-of-band data of the first page of a super block; one unit is transferred.
    pub(crate) fn probe(&mut self, layout: &Layout, super_block: SuperBlock) {
        let (die, _) = layout.die_of(layout.lane_of(super_block).0);
        self.read(die, 0, CellMode::Native, 1);
    }

    /// Out-of-band data of all pages of the operations up to `programs` of a super block in `mode`.
    pub(crate) fn scan(&mut self, layout: &Layout, super_block: SuperBlock, programs: u32, mode: CellMode) {
        let (die, _) = layout.die_of(layout.lane_of(super_block).0);
        let native = self.geometry.pages_per_word_line;
        let types = (0..programs * layout.pages_per_program).map(|page| page % native);
        for page_type in types.filter(|&page_type| page_type < self.geometry.pages_per_word_line(mode)) {
            for _ in 0..layout.planes {
                self.read(die, page_type, mode, 1);
            }
        }
    }

    /// Reads by which the controller finds the code of each reprogrammed word line: it tries those of fewer reprograms first.
    pub(crate) fn tries_of_codes(&mut self, layout: &Layout, super_block: SuperBlock, dies: &[Die]) {
        let (lane, block) = layout.lane_of(super_block);
        let (die, first) = layout.die_of(lane);
        for plane in first..first + layout.planes {
            for _ in 0..dies[die.index()].blocks().reprograms(plane, block) {
                self.read(die, 0, CellMode::Mlc, 1);
            }
        }
    }

    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// Time of all reads; `decode` is the latency of the last page.
    pub(crate) fn time(&self, decode: Duration) -> Duration {
        let most = self.dies.iter().chain(&self.channels).max().expect("a drive has dies");
        if *most == 0 { Duration::ZERO } else { Duration::from_ns(*most) + decode }
    }
}
