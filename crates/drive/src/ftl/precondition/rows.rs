//! A fill that goes to all lanes in turn, laid out row by row.
//!
//! A *row* is as much of a fill as goes round all lanes once: a program operation of each, or a page of each where a stripe
//! decides. While every lane has room and none collects, arithmetic says where all units of a row are, and nothing that
//! writing them one after the other looks at can come out otherwise. So what is written for each unit is its two entries,
//! and those of either table from front to back: where logical units are, row by row; what physical units hold, block by
//! block. Row by row, the latter would go round as many places as there are lanes, at distances that are often powers of
//! two, for which caches have the same few lines.

use super::{Partial, Preconditioner};
use crate::ftl::place::ProgramPlace;
use crate::ftl::streams::{Frontier, Stream};
use crate::numbers::{Lane, Lpn, SuperBlock};

/// What came of laying out rows.
pub(super) enum Rows {
    /// Whole rows up to this unit.
    UpTo(Lpn),
    /// A program operation or a page has been begun: nothing yet.
    Begun,
    /// Nothing, and nothing after some more units either.
    None,
}

/// What the rows give one lane.
struct Column {
    lane: Lane,
    block: SuperBlock,
    /// The unit of the block that is next.
    next: u32,
    /// Of the block, the units from this one on are not noted yet; they are those of the rows from `lpn` on.
    noted: u32,
    lpn: Lpn,
}

impl Preconditioner<'_> {
    /// Writes as many whole rows as `from..to` has, as long as all of it is nowhere yet, every lane has blocks to spare, and all
    /// lanes hold about as much.
    pub(super) fn write_rows(&mut self, from: Lpn, to: Lpn) -> Rows {
        let Some(chunk) = self.chunk(from) else { return Rows::Begun };
        let row = chunk * self.ftl.layout.lanes;
        if to.0 - from.0 < row || !self.ftl.stay_level(chunk) {
            return Rows::None;
        }
        let least = self.ftl.never_collects_above();
        if Lane::first(self.ftl.layout.lanes).any(|lane| self.ftl.free_blocks(lane) < least) {
            return Rows::None;
        }
        debug_assert!(!self.undealt, "what has been overwritten is dealt out first");
        let mut columns = self.columns(from, chunk);
        let (mut next, mut units) = (from, Vec::with_capacity(columns.len()));
        loop {
            let rows = self.rows_before_a_block_ends(&columns, chunk).min((to.0 - next.0) / row);
            let count = rows * row;
            if count == 0
                || !self.ftl.map().are_nowhere(next, count)
                || !self.open_blocks(&mut columns, next, chunk, least)
            {
                break;
            }
            units.clear();
            units.extend(columns.iter().map(|c| self.ftl.layout.first_unit(c.block) + c.next));
            self.ftl.units.map_mut().set_rows(next, count, chunk, &mut units);
            next += count;
            for column in &mut columns {
                column.next += count / self.ftl.layout.lanes;
                if column.next == self.ftl.layout.units_per_block {
                    self.note(column, chunk);
                    self.ftl.close(column.block);
                }
            }
        }
        columns.iter_mut().for_each(|column| self.note(column, chunk));
        self.ftl.counters.host_units += u64::from(next.0 - from.0);
        if next == from { Rows::None } else { Rows::UpTo(next) }
    }

    /// The units of a row that go to one lane; `None` while one of them is begun.
    fn chunk(&self, from: Lpn) -> Option<u32> {
        let filled = |lane: &[Option<Partial>; 2]| lane[Stream::Host as usize].map_or(0, |p| p.filled);
        match &self.stripe {
            Some(stripe) => {
                let page = stripe.rest_of_page(Lpn(0));
                let whole = self.partial.iter().all(|lane| filled(lane).is_multiple_of(page));
                (stripe.rest_of_page(from) == page && whole).then_some(page)
            }
            None => {
                let program = self.ftl.layout.units_per_program;
                self.partial.iter().all(|lane| filled(lane) == 0).then_some(program)
            }
        }
    }

    /// The lanes in their order in a row that begins with `from`.
    fn columns(&self, from: Lpn, chunk: u32) -> Vec<Column> {
        let lanes = self.ftl.layout.lanes;
        (0..lanes)
            .map(|i| {
                let lane = match &self.stripe {
                    Some(stripe) => stripe.lane(from + i * chunk),
                    None => Lane((self.next_lane.0 + 1 + i) % lanes),
                };
                let open = self.ftl.lanes[lane.index()].frontiers[Stream::Host as usize];
                let next = match self.partial[lane.index()][Stream::Host as usize] {
                    Some(p) => p.place.first_offset + p.filled,
                    None => open.next_program * self.ftl.layout.units_per_program,
                };
                Column { lane, block: open.block, next, noted: next, lpn: from + i * chunk }
            })
            .collect()
    }

    /// Rows for which no lane needs a further block, but for one where it has none open.
    fn rows_before_a_block_ends(&self, columns: &[Column], chunk: u32) -> u32 {
        let full = self.ftl.layout.units_per_block;
        let room = |c: &Column| if c.next == full { full } else { full - c.next };
        columns.iter().map(|c| room(c) / chunk).min().unwrap_or(0)
    }

    /// Opens a block for each lane that has none open, for a row that begins with `from`. False, and none is opened, if a lane
    /// would keep fewer free ones than `least`.
    fn open_blocks(&mut self, columns: &mut [Column], from: Lpn, chunk: u32, least: u32) -> bool {
        let full = self.ftl.layout.units_per_block;
        if columns.iter().any(|c| c.next == full && self.ftl.free_blocks(c.lane) <= least) {
            return false;
        }
        let mut lpn = from;
        for column in columns {
            if column.next == full {
                let block = self.ftl.take_free(column.lane).expect("it has more than that");
                *column = Column { block, next: 0, noted: 0, lpn, ..*column };
            }
            lpn += chunk;
        }
        true
    }

    /// Notes what is in the block of a column that is not noted yet, and how far its lane has come.
    fn note(&mut self, column: &mut Column, chunk: u32) {
        let layout = &self.ftl.layout;
        let (program, lanes) = (layout.units_per_program, layout.lanes);
        let (began, ends) = (column.noted.div_ceil(program), column.next.div_ceil(program));
        let count = column.next - column.noted;
        self.ftl.units.map_mut().note_rows(
            column.lpn,
            chunk * lanes,
            chunk,
            column.block,
            column.noted..column.next,
        );
        column.noted = column.next;
        column.lpn += count * lanes;
        let filled = column.next % program;
        self.ftl.programs_assigned(
            column.lane,
            Frontier { block: column.block, next_program: ends },
            ends - began,
        );
        self.ftl.in_flight[column.block.index()] = u16::from(filled > 0);
        self.partial[column.lane.index()][Stream::Host as usize] = (filled > 0).then(|| {
            let place = ProgramPlace {
                super_block: column.block,
                program: ends - 1,
                first_offset: (ends - 1) * program,
                two_bit: None,
            };
            Partial { place, filled }
        });
    }
}
