//! Vector commands of a flow on an Open-Channel drive: lists of addresses of reads, writes and chunk resets.

use super::ZoneFlow;
use super::lists::Vectors;
use interpulse_engine::{Request, VectorAction};

impl ZoneFlow {
    /// Whether the flow makes vector commands.
    pub(crate) fn has_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// Addresses of the vector command generated last.
    pub(crate) fn addresses(&self) -> &[u64] {
        self.vectors.as_ref().map_or(&[], |of| &of.list)
    }

    /// A read of places of `sectors` that were written; `None` if there are none.
    pub(super) fn read_vector(&mut self, sectors: u32) -> Option<Request> {
        let places = self.begin_list().places;
        for _ in 0..places {
            let (chunk, offset) = self.place_to_read(u64::from(sectors))?;
            self.add_addresses(chunk, offset, u64::from(sectors));
        }
        Some(self.vector(VectorAction::Read))
    }

    /// The next write, or the reset of the chunks that it needs.
    pub(super) fn write_vector(&mut self) -> Request {
        let Vectors { width, program, .. } = *self.begin_list();
        let first = self.turn;
        for place in (first..).take(width as usize) {
            if self.open[place].written == self.zone_sectors {
                self.open_next(place);
            }
        }
        if !self.commands.is_empty() {
            self.begin_list();
            while let Some(reset) = self.commands.pop_front() {
                let chunk = (reset.sector - self.base) / self.distance;
                self.add_addresses(chunk as usize, 0, self.block);
            }
            return self.vector(VectorAction::Reset);
        }
        for place in (first..).take(width as usize) {
            let (chunk, written) = (self.open[place].zone, self.open[place].written);
            self.add_addresses(chunk, written, program);
            self.open[place].written += program;
            self.note_write(chunk, program);
        }
        self.turn = (first + width as usize) % self.open.len();
        self.vector(VectorAction::Write)
    }

    fn begin_list(&mut self) -> &mut Vectors {
        let of = self.vectors.as_mut().expect("the flow makes vector commands");
        of.list.clear();
        of
    }

    /// Adds the logical blocks of `sectors` at `offset` of a chunk to the list.
    fn add_addresses(&mut self, chunk: usize, offset: u64, sectors: u64) {
        let of = self.vectors.as_mut().expect("the flow makes vector commands");
        let first = of.numbers[chunk] * self.distance + offset;
        of.list.extend((0..sectors / self.block).map(|k| first + k * self.block));
    }

    /// The command on the addresses of the list, which the host names.
    fn vector(&self, action: VectorAction) -> Request {
        Request::vector(action, 0, self.addresses().len() as u32, self.block as u32)
    }
}
