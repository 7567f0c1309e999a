//! Reclaim unit handles: the owner of each super block and unit, and the write streams of handles.
//!
//! The owner of a unit is part of its out-of-band data, and that of a super block of its first page: both survive a loss of
//! power.

use crate::ftl::layout::Layout;
use crate::ftl::page::blocks::manager::BlockManager;
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::{Origin, Stream, StreamSpec, WritePointer, WriteStreams};
use crate::ftl::page::mapping::relocation::Relocation;
use crate::ftl::page::placement::counters::PlacementCounters;
use crate::ftl::page::placement::groups::Groups;
use crate::ftl::page::write_back::in_flight::ProgramInFlight;
use crate::numbers::{Lane, Ppu, SuperBlock};
use interpulse_flash::cell_mode::CellMode;
use std::collections::VecDeque;

/// Owner of super blocks with relocated data of initially isolated handles.
const SHARED: u8 = u8::MAX;

/// Reclaim unit handles of one drive. Preconditioned data belongs to handle 0.
pub(crate) struct Handles {
    /// Stream of host data, by handle.
    host: Vec<Stream>,
    /// Stream of relocated data, by handle.
    relocation: Vec<Stream>,
    /// Stream of host data in an SLC cache, of the handles that it admits.
    slc: Vec<(usize, Stream)>,
    /// Stream that initially isolated handles share for relocated data, if there are any.
    shared: Option<Stream>,
    of_block: Vec<u8>,
    of_unit: Vec<u8>,
    /// Stream of the units that a lane's collection reads and gathers now, by lane.
    pub(super) current: Vec<Stream>,
    /// Gathered units of the other relocation streams, by lane and stream.
    pub(super) parked: Vec<VecDeque<Relocation>>,
    /// Different relocation streams.
    pub(super) streams: Vec<Stream>,
    pub(crate) groups: Groups,
    pub(crate) counters: PlacementCounters,
}

impl WriteStreams {
    /// Streams of host data for each handle and of relocated data for each persistently isolated one; the others share one.
    /// Also returns the stream of relocated data of each handle.
    pub(crate) fn with_handles(persistent: &[bool]) -> (WriteStreams, Vec<Stream>) {
        let mut streams = WriteStreams::default();
        let mut add = |name: String, origin| streams.add(StreamSpec { name, origin, mode: CellMode::Native });
        let mut host = vec![Stream::HOST];
        host.extend((1..persistent.len()).map(|handle| add(format!("handle-{handle}"), Origin::Host)));
        // The stream of collection before the run holds data of handle 0 only.
        let mut shared = (!persistent[0]).then_some(Stream::GC);
        let relocation = persistent.iter().enumerate().map(|(handle, &isolated)| match (handle, isolated) {
            (0, _) => Stream::GC,
            (_, true) => add(format!("gc-handle-{handle}"), Origin::Relocation),
            (_, false) => *shared.get_or_insert_with(|| add("gc-shared".into(), Origin::Relocation)),
        });
        let relocation = relocation.collect();
        streams.set_levels(host);
        (streams, relocation)
    }
}

impl Handles {
    /// Handles over preconditioned `blocks`, which get their streams, in so many reclaim groups; each says whether it is
    /// persistently isolated.
    pub(crate) fn new(persistent: &[bool], groups: u32, blocks: &mut BlockManager) -> Handles {
        let (streams, relocation) = WriteStreams::with_handles(persistent);
        let of_handle = |handle| streams.of_level(handle);
        let host: Vec<Stream> = (0..persistent.len() as u32).map(of_handle).collect();
        let shared = persistent.iter().position(|&isolated| !isolated).map(|handle| relocation[handle]);
        blocks.set_streams(streams);
        blocks.lanes_differ = groups > 1;
        let (lanes, units) = (blocks.layout.lanes as usize, blocks.layout.units() as usize);
        let mut different = relocation.clone();
        different.sort_by_key(|stream| stream.index());
        different.dedup();
        let mut handles = Handles {
            current: vec![Stream::GC; lanes],
            parked: vec![VecDeque::new(); lanes * blocks.streams.count()],
            streams: different,
            groups: Groups::new(groups, blocks.layout.lanes, persistent.len() as u32),
            counters: PlacementCounters {
                handles: vec![Default::default(); persistent.len()],
                groups: vec![Default::default(); groups as usize],
                ..Default::default()
            },
            of_block: vec![0; blocks.layout.super_blocks() as usize],
            of_unit: vec![0; units],
            host,
            slc: Vec::new(),
            relocation,
            shared,
        };
        for lane in Lane::first(blocks.layout.lanes) {
            if let Some(open) = handles.shared.and_then(|stream| open_block(blocks, lane, stream)) {
                handles.of_block[open.index()] = SHARED;
            }
        }
        handles
    }

    /// Begins to follow the blocks that an SLC cache has open for `streams`, one for each handle that it admits.
    pub(crate) fn follow_slc(&mut self, streams: &[Option<Stream>]) {
        let admitted = streams.iter().enumerate().filter_map(|(handle, stream)| Some((handle, (*stream)?)));
        self.slc = admitted.collect();
    }

    /// Stream of host data of `handle`.
    #[inline]
    pub(crate) fn host_stream(&self, handle: u32) -> Stream {
        self.host[handle as usize]
    }

    /// Stream of the units relocated from `victim`.
    pub(crate) fn relocation_of(&self, victim: SuperBlock) -> Stream {
        match (self.of_block[victim.index()], self.shared) {
            (SHARED, shared) => shared.expect("handles share a stream"),
            (handle, _) => self.relocation[usize::from(handle)],
        }
    }

    /// Notes the units of a host program to `place`, all of `class`.
    pub(crate) fn host_program(&mut self, layout: &Layout, place: &ProgramAddress, units: usize, class: u32) {
        let handle = self.groups.handle_of(class);
        let group = self.groups.of_class(class);
        if self.groups.of_block(layout, place.super_block) != group {
            self.counters.groups[group as usize].outside_units += units as u64;
        }
        if place.program == 0 {
            self.of_block[place.super_block.index()] = handle as u8;
        }
        for k in 0..units as u32 {
            self.of_unit[layout.unit(place.unit(layout, k)).index()] = handle as u8;
        }
    }

    /// Notes the units `moved` by a program to `place` of the stream that `lane` gathers for.
    pub(crate) fn relocation_program(
        &mut self,
        layout: &Layout,
        lane: Lane,
        place: &ProgramAddress,
        moved: &[Relocation],
    ) {
        if place.program == 0 {
            let stream = self.current[lane.index()];
            let handle =
                self.relocation.iter().position(|&of| of == stream).expect("a handle has the stream");
            self.of_block[place.super_block.index()] =
                if self.shared == Some(stream) { SHARED } else { handle as u8 };
        }
        for (k, unit) in (0..).zip(moved) {
            self.of_unit[layout.unit(place.unit(layout, k)).index()] = self.of_unit[unit.source.index()];
        }
    }

    /// Counts a host program of `units` units with data and `padding` without.
    pub(crate) fn host_program_done(
        &mut self,
        layout: &Layout,
        place: &ProgramAddress,
        units: u64,
        padding: u64,
    ) {
        let group = self.groups.of_block(layout, place.super_block);
        self.counters.groups[group as usize].host_units += units;
        let of = &mut self.counters.handles[usize::from(self.of_block[place.super_block.index()])];
        of.host_units += units;
        of.padding_units += padding;
    }

    /// Counts a program of relocated units. Padding counts where all units belong to one handle.
    pub(crate) fn relocation_program_done(
        &mut self,
        layout: &Layout,
        place: &ProgramAddress,
        moved: &[Relocation],
        padding: u64,
    ) {
        let group = self.groups.of_block(layout, place.super_block);
        self.counters.groups[group as usize].relocated_units += moved.len() as u64;
        for unit in moved {
            self.counters.handles[usize::from(self.of_unit[unit.source.index()])].relocated_units += 1;
        }
        if let Some(of) = self.counters.handles.get_mut(usize::from(self.of_block[place.super_block.index()]))
        {
            of.padding_units += padding;
        }
    }

    /// Drops gathered units, and counts the reclaim units that handles had open `before` the loss of power and have no longer.
    pub(crate) fn lose_power(&mut self, before: &[SuperBlock], blocks: &BlockManager) {
        self.parked.iter_mut().for_each(VecDeque::clear);
        self.current.fill(Stream::GC);
        let after = self.open_units(blocks);
        self.counters.events.reset_modified +=
            before.iter().filter(|unit| !after.contains(unit)).count() as u64;
    }

    /// Super blocks that handles have open for host data.
    pub(crate) fn open_units(&self, blocks: &BlockManager) -> Vec<SuperBlock> {
        let lanes = Lane::first(blocks.layout.lanes);
        let streams = || self.host.iter().copied().chain(self.slc.iter().map(|&(_, stream)| stream));
        lanes.flat_map(|lane| streams().filter_map(move |s| open_block(blocks, lane, s))).collect()
    }

    /// State of the streams on a lane.
    pub(crate) fn diagnosis(&self, blocks: &BlockManager, lane: Lane) -> String {
        let of = |(owner, stream): (usize, Stream)| {
            let parked = self.parked[self.parked_at(lane, stream)].len();
            format!(
                ", stream {} of {owner}: room {}, {parked} parked",
                stream.index(),
                blocks.open_room(lane, stream)
            )
        };
        let streams: String = self.owners().map(of).collect();
        format!(", gathers for stream {}{streams}", self.gathers_for(lane).index())
    }

    /// Whether the stream with index `stream` may continue to write `block`.
    pub(crate) fn owns(&self, stream: usize, block: SuperBlock) -> bool {
        let owner = usize::from(self.of_block[block.index()]);
        self.owners().any(|(of, owned)| owned.index() == stream && of == owner)
    }

    /// Streams with the owner of their super blocks.
    fn owners(&self) -> impl Iterator<Item = (usize, Stream)> + '_ {
        let host = self.host.iter().copied().enumerate().chain(self.slc.iter().copied());
        let relocation = self.relocation.iter().copied().enumerate();
        let owner = |handle, stream| if self.shared == Some(stream) { usize::from(SHARED) } else { handle };
        host.chain(relocation.map(move |(handle, stream)| (owner(handle, stream), stream)))
    }

    /// Checks that super blocks hold units of their owner only, that streams have blocks of their owner open, and that the
    /// counts of handles add up to those of the drive.
    pub(crate) fn audit(&self, blocks: &BlockManager) -> Result<(), String> {
        for block in SuperBlock::first(blocks.layout.super_blocks()) {
            let owner = self.of_block[block.index()];
            if owner == SHARED {
                continue;
            }
            let mut alien: Option<Ppu> = None;
            blocks.units.each_valid(&blocks.layout, block, |ppu| {
                if self.of_unit[ppu.index()] != owner {
                    alien = Some(ppu);
                }
            });
            if let Some(ppu) = alien {
                let of = self.of_unit[ppu.index()];
                return Err(format!("unit {ppu} of handle {of} is in block {block} of handle {owner}"));
            }
        }
        for lane in Lane::first(blocks.layout.lanes) {
            for (owner, stream) in self.owners() {
                let open = open_block(blocks, lane, stream);
                if let Some(block) = open.filter(|b| usize::from(self.of_block[b.index()]) != owner) {
                    let of = self.of_block[block.index()];
                    return Err(format!(
                        "stream {stream:?} of {owner} on lane {lane} has block {block} of {of} open"
                    ));
                }
            }
        }
        let sum = |of: fn(&super::counters::HandleCounters) -> u64| {
            self.counters.handles.iter().map(of).sum::<u64>()
        };
        let found = (sum(|of| of.host_units), sum(|of| of.relocated_units));
        let expected = (blocks.counters.host_units, blocks.counters.gc_units);
        if found != expected {
            return Err(format!("handles count {found:?} host and relocated units, the drive {expected:?}"));
        }
        let groups = &self.counters.groups;
        let found = (
            groups.iter().map(|of| of.host_units).sum::<u64>(),
            groups.iter().map(|of| of.relocated_units).sum::<u64>(),
        );
        if found != expected {
            return Err(format!(
                "reclaim groups count {found:?} host and relocated units, the drive {expected:?}"
            ));
        }
        Ok(())
    }

    /// Handle that wrote a unit.
    pub(crate) fn of_unit(&self, ppu: Ppu) -> u8 {
        self.of_unit[ppu.index()]
    }
}

/// Super block that `stream` has open on `lane`, if any.
fn open_block(blocks: &BlockManager, lane: Lane, stream: Stream) -> Option<SuperBlock> {
    let WritePointer { block, next_program } = blocks.lanes[lane.index()].write_pointers[stream.index()];
    (next_program < blocks.layout.programs_per_block).then_some(block)
}

/// Handle-related part of a program in flight.
impl ProgramInFlight {
    /// Units of the program without data.
    pub(crate) fn padding(&self, layout: &Layout) -> u64 {
        let taken = self.place.map_or(0, |place| place.units(layout));
        u64::from(taken) - self.units() as u64
    }
}
