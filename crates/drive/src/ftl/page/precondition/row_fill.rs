//! Sequential fill over all lanes, laid out row by row.
//!
//! A *row* is one round of all lanes: a program operation of each, or a page of each under static striping. While every
//! lane has room and none collects, unit positions follow from arithmetic, with the same result as single writes. Each
//! table is filled in its own order: the map row by row, physical-to-logical entries block by block. Filling the latter by
//! row would touch as many places as there are lanes, at power-of-two distances that share cache lines.

use super::{Partial, Preconditioner, Rows};
use crate::ftl::page::blocks::program_address::ProgramAddress;
use crate::ftl::page::blocks::write_streams::{Stream, WritePointer};
use crate::numbers::{Lane, Lpn, Ppu, SuperBlock};
use interpulse_flash::cell_mode::CellMode;

/// Units of one lane in the rows.
struct Column {
    lane: Lane,
    block: SuperBlock,
    /// First unit of the block whose reverse entries are not yet set; they belong to the rows from `lpn` on.
    noted: u32,
    lpn: Lpn,
}

/// Lanes in row order. Lanes open blocks at different rows; the arrays keep that check vectorised.
struct Columns {
    each: Vec<Column>,
    /// Next physical unit of each lane.
    units: Vec<Ppu>,
    /// Row before which each lane's block is full, counted from the first row.
    full_at: Vec<u32>,
    /// Rows per block.
    of_block: u32,
    done: u32,
    /// Lanes whose block is full now.
    full: Vec<usize>,
}

impl Columns {
    /// Rows for which no lane needs another block, except lanes without an open one.
    fn rows_before_a_block_ends(&self) -> u32 {
        // A full block wraps to the largest number.
        let soonest = self.full_at.iter().map(|at| at.wrapping_sub(self.done + 1)).fold(u32::MAX, u32::min);
        soonest.saturating_add(1).min(self.of_block)
    }

    fn advance(&mut self, rows: u32) {
        self.done += rows;
        let done = self.done;
        self.full.clear();
        self.full.extend(self.full_at.iter().enumerate().filter(|(_, at)| **at == done).map(|(k, _)| k));
    }
}

impl Preconditioner<'_> {
    /// Writes the whole rows of `from..to` that are unmapped, while lanes have blocks to spare and are balanced.
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
        debug_assert!(!self.unassigned, "overwritten units are assigned first");
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

    /// Units of a row per lane; `None` while a program or page is partly filled.
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

    /// Lanes in the order of a row that begins with `from`.
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

    /// Opens a block for each lane without one, for a row that begins with `from`. False, without opening any, if a lane
    /// would keep fewer than `least` free blocks.
    fn open_blocks(&mut self, columns: &mut Columns, from: Lpn, chunk: u32, least: u32) -> bool {
        if columns.full.iter().any(|&k| self.ftl.free_blocks(columns.each[k].lane) <= least) {
            return false;
        }
        for &k in &columns.full {
            let column = &mut columns.each[k];
            let block = self.ftl.take_free(column.lane).expect("the lane has enough free blocks");
            *column = Column { block, noted: 0, lpn: from + k as u32 * chunk, ..*column };
            columns.units[k] = self.ftl.layout.first_unit(block);
            columns.full_at[k] += columns.of_block;
        }
        true
    }

    /// Sets the outstanding reverse entries of a column's block and the write pointer of its lane.
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
            let place = ProgramAddress::new(&self.ftl.layout, column.block, ends - 1, CellMode::Native);
            Partial { place, filled }
        });
    }
}
