//! Chunks of an Open-Channel drive: rules of the commands that access them (Open-Channel Solid State Drives Specification 2.0).
//!
//! A chunk is a zone of one lane. It is free (Empty), open (Implicitly Opened), closed (Full; Read Only if its flash has failed)
//! or Offline. A command is executed as a whole or not at all.

use super::geometry::ZoneOffset;
use super::state::{Piece, ZoneDescriptor, ZoneState};
use super::zoned_ftl::ZonedFtl;
use crate::numbers::Lpn;
use interpulse_engine::{Status, VectorAction, ZoneAction};

impl ZonedFtl {
    /// Whether a vector command on `addresses` is legal; a legal write moves the write pointers of its chunks.
    pub(super) fn accept_vector(&mut self, action: VectorAction, addresses: &[Lpn]) -> Result<(), Status> {
        if !self.chunks {
            return Err(Status::InvalidOpcode);
        }
        match action {
            VectorAction::Read => addresses.iter().try_for_each(|&lpn| self.check_chunk_online(lpn))?,
            VectorAction::Write => self.accept_chunk_write(addresses.iter().copied())?,
            VectorAction::Reset => {
                for (k, &lpn) in addresses.iter().enumerate() {
                    self.check_chunk_command(ZoneAction::Reset, lpn)?;
                    if addresses[..k].contains(&lpn) {
                        return Err(Status::InvalidReset);
                    }
                }
            }
        }
        let of = &mut self.zone_counters;
        match action {
            VectorAction::Read => of.vector_reads += 1,
            VectorAction::Write => of.vector_writes += 1,
            VectorAction::Reset => of.vector_resets += 1,
        }
        of.vector_addresses += addresses.len() as u64;
        Ok(())
    }

    fn check_chunk_online(&self, lpn: Lpn) -> Result<(), Status> {
        let zone = self.geometry.split(lpn).zone;
        if self.states.of(zone).state == ZoneState::Offline { Err(Status::OfflineChunk) } else { Ok(()) }
    }

    /// Whether `action` on the chunk at `lpn` is legal.
    pub(super) fn check_chunk_command(&self, action: ZoneAction, lpn: Lpn) -> Result<(), Status> {
        let ZoneOffset { zone, offset } = self.geometry.split(lpn);
        match (action, self.states.of(zone).state) {
            (ZoneAction::Reset, _) if offset != 0 => Err(Status::InvalidField),
            (ZoneAction::Reset, ZoneState::Empty) => Err(Status::InvalidReset),
            (ZoneAction::Reset, state) if state.has_failed() => Err(Status::OfflineChunk),
            (ZoneAction::Reset | ZoneAction::Report, _) => Ok(()),
            _ => Err(Status::InvalidOpcode),
        }
    }

    /// Takes a write of `units` and moves the write pointers of its chunks behind it.
    pub(super) fn accept_chunk_write(&mut self, units: impl Iterator<Item = Lpn>) -> Result<(), Status> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let legal = self.divide_write(units, &mut pieces);
        if legal.is_ok() {
            for &Piece { zone, from, to } in &pieces {
                self.states.write(zone, from, to - from).expect("it has been checked");
            }
            self.zone_counters.writes += 1;
        }
        self.pieces = pieces;
        legal
    }

    /// Divides a write of `units` by chunk, if it is legal.
    fn divide_write(&self, units: impl Iterator<Item = Lpn>, pieces: &mut Vec<Piece>) -> Result<(), Status> {
        for lpn in units {
            let ZoneOffset { zone, offset } = self.geometry.split(lpn);
            let piece = match pieces.iter_mut().rev().find(|piece| piece.zone == zone) {
                Some(piece) => piece,
                None => {
                    let from = self.write_pointer(zone)?;
                    pieces.push(Piece { zone, from, to: from });
                    pieces.last_mut().expect("it was added")
                }
            };
            if offset != piece.to {
                return Err(Status::OutOfOrderWrite);
            }
            piece.to += 1;
        }
        let program = self.geometry.program;
        if pieces.iter().any(|piece| !(piece.to - piece.from).is_multiple_of(program)) {
            return Err(Status::InvalidField);
        }
        let opens = |piece: &&Piece| !self.states.of(piece.zone).state.is_active();
        if pieces.iter().filter(opens).count() as u32 > self.states.inactive_left() {
            return Err(Status::WriteFault);
        }
        Ok(())
    }

    /// Write pointer of a chunk that takes data.
    fn write_pointer(&self, zone: u32) -> Result<u32, Status> {
        let ZoneDescriptor { state, written, .. } = self.states.of(zone);
        match state {
            ZoneState::Offline => Err(Status::OfflineChunk),
            ZoneState::Full | ZoneState::ReadOnly => Err(Status::WriteFault),
            _ => Ok(written),
        }
    }
}
