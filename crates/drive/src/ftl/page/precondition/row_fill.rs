//! Sequential fill over all lanes, laid out row by row.
//!
//! A *row* is as much of a fill as goes round all lanes once: a program operation of each, or a page of each where a stripe
//! decides. While every lane has room and none collects, arithmetic says where all units of a row are, and nothing that
//! writing them one after the other looks at can come out otherwise. So what is written for each unit is its two entries,
//! and those of either table from front to back: where logical units are, row by row; what physical units hold, block by
//! block. Row by row, the latter would go round as many places as there are lanes, at distances that are often powers of
//! two, for which caches have the same few lines.

use super::{Partial, Preconditioner, Rows};
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::{Stream, WritePointer};
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};

/// What the rows give one lane.
struct Column {
    lane: Lane,
    block: SuperBlock,
    /// Of the block, the units from this one on are not noted yet; they are those of the rows from `lpn` on.
    noted: u32,
    lpn: Lpn,
}

/// The lanes in their order in a row. Lanes fill their blocks to different heights, so that one of them opens another every few
/// rows: what is looked at then is small numbers, several at a time.
struct Columns {
    each: Vec<Column>,
    /// The physical unit of each that is next.
    units: Vec<Ppu>,
    /// The row before which the block of each is full, counted from the first one.
    full_at: Vec<u32>,
    /// Rows of a block.
    of_block: u32,
    /// Rows that are laid out.
    done: u32,
    /// Those of which the block is full now.
    full: Vec<usize>,
}

impl Columns {
    /// Rows for which no lane needs a further block, but for one where it has none open.
    fn rows_before_a_block_ends(&self) -> u32 {
        // A block that is full comes round to the largest number.
        let soonest = self.full_at.iter().map(|at| at.wrapping_sub(self.done + 1)).fold(u32::MAX, u32::min);
        soonest.saturating_add(1).min(self.of_block)
    }

    /// So many rows have been laid out.
    fn advance(&mut self, rows: u32) {
        self.done += rows;
        let done = self.done;
        self.full.clear();
        self.full.extend(self.full_at.iter().enumerate().filter(|(_, at)| **at == done).map(|(k, _)| k));
    }
}

impl Preconditioner<'_> {
    /// Writes as many whole rows as `from..to` has, as long as all of it is nowhere yet, every lane has blocks to spare, and all
    /// lanes hold about as much.
    pub(super) fn write_rows(&mut self, from: Lpn, to: Lpn) -> Rows {
        let Some(chunk) = self.chunk(from) else { return Rows::Begun };
        let row = chunk * self.ftl.layout.lanes;
        if to.0 - from.0 < row || !self.ftl.stay_balanced(chunk) {
            return Rows::None;
        }
        let least = self.ftl.never_collects_above();
        if Lane::first(self.ftl.layout.lanes).any(|lane| self.ftl.free_blocks(lane) < least) {
            return Rows::None;
        }
        debug_assert!(!self.unassigned, "what has been overwritten is dealt out first");
        let mut columns = self.columns(from, chunk);
        let mut next = from;
        loop {
            let rows = columns.rows_before_a_block_ends().min((to.0 - next.0) / row);
            let count = rows * row;
            if count == 0
                || !self.ftl.map().are_nowhere(next, count)
                || !self.open_blocks(&mut columns, next, chunk, least)
            {
                break;
            }
            self.ftl.units.map_mut().set_rows(next, count, chunk, &mut columns.units);
            next += count;
            columns.advance(rows);
            for i in 0..columns.full.len() {
                let k = columns.full[i];
                self.note(&mut columns, k, chunk);
                self.ftl.close(columns.each[k].block);
            }
        }
        (0..columns.each.len()).for_each(|k| self.note(&mut columns, k, chunk));
        self.ftl.counters.host_units += u64::from(next.0 - from.0);
        if next == from { Rows::None } else { Rows::UpTo(next) }
    }

    /// The units of a row that go to one lane; `None` while one of them is begun.
    fn chunk(&self, from: Lpn) -> Option<u32> {
        let filled = |lane: &[Option<Partial>; 2]| lane[Stream::HOST.index()].map_or(0, |p| p.filled);
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
    fn columns(&self, from: Lpn, chunk: u32) -> Columns {
        let (lanes, full) = (self.ftl.layout.lanes, self.ftl.layout.units_per_block);
        let mut columns = Columns {
            each: Vec::with_capacity(lanes as usize),
            units: Vec::with_capacity(lanes as usize),
            full_at: Vec::with_capacity(lanes as usize),
            of_block: full / chunk,
            done: 0,
            full: Vec::new(),
        };
        for i in 0..lanes {
            let lane = match &self.stripe {
                Some(stripe) => stripe.lane(from + i * chunk),
                None => Lane((self.next_lane.0 + 1 + i) % lanes),
            };
            let open = self.ftl.lanes[lane.index()].write_pointers[Stream::HOST.index()];
            let next = match self.partial[lane.index()][Stream::HOST.index()] {
                Some(p) => p.place.first_offset + p.filled,
                None => open.next_program * self.ftl.layout.units_per_program,
            };
            columns.each.push(Column { lane, block: open.block, noted: next, lpn: from + i * chunk });
            columns.units.push(self.ftl.layout.first_unit(open.block) + next);
            columns.full_at.push((full - next) / chunk);
        }
        columns.advance(0);
        columns
    }

    /// Opens a block for each lane that has none open, for a row that begins with `from`. False, and none is opened, if a lane
    /// would keep fewer free ones than `least`.
    fn open_blocks(&mut self, columns: &mut Columns, from: Lpn, chunk: u32, least: u32) -> bool {
        if columns.full.iter().any(|&k| self.ftl.free_blocks(columns.each[k].lane) <= least) {
            return false;
        }
        for &k in &columns.full {
            let column = &mut columns.each[k];
            let block = self.ftl.take_free(column.lane).expect("it has more than that");
            *column = Column { block, noted: 0, lpn: from + k as u32 * chunk, ..*column };
            columns.units[k] = self.ftl.layout.first_unit(block);
            columns.full_at[k] += columns.of_block;
        }
        true
    }

    /// Notes what is in the block of a column that is not noted yet, and how far its lane has come.
    fn note(&mut self, columns: &mut Columns, k: usize, chunk: u32) {
        let layout = &self.ftl.layout;
        let (program, lanes) = (layout.units_per_program, layout.lanes);
        let next = layout.units_per_block - (columns.full_at[k] - columns.done) * chunk;
        let column = &mut columns.each[k];
        let (began, ends) = (column.noted.div_ceil(program), next.div_ceil(program));
        let count = next - column.noted;
        let map = self.ftl.units.map_mut();
        map.note_rows(column.lpn, chunk * lanes, chunk, column.block, column.noted..next);
        column.noted = next;
        column.lpn += count * lanes;
        let filled = next % program;
        self.ftl.programs_assigned(
            column.lane,
            WritePointer { block: column.block, next_program: ends },
            ends - began,
        );
        self.ftl.in_flight[column.block.index()] = u16::from(filled > 0);
        self.partial[column.lane.index()][Stream::HOST.index()] = (filled > 0).then(|| {
            let place = ProgramAddress {
                super_block: column.block,
                program: ends - 1,
                first_offset: (ends - 1) * program,
                two_bit: None,
            };
            Partial { place, filled }
        });
    }
}
