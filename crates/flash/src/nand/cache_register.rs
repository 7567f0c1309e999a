//! Cache program: data of the next program moves into the cache register while a program pulses.
//!
//! The register has a timer of its own; the die keeps the state of the pulsing program. The next program stays in its queue
//! until the die starts it, so that no decision is early: if another transaction comes first, the part ([`CacheOnRead`])
//! keeps or loses the data. Its page loads count in its wait for the program before it.

use super::Nand;
use super::channel::Transfer;
use super::channel::Waiter;
use super::observer::DataMove;
use super::register::{Page, Register};
use crate::command::{Effect, Step};
use crate::die::State;
use crate::ids::{BlockId, DieId, TxnId};
use crate::parts::{CacheOnRead, CacheProgram};
use interpulse_engine::{Duration, EventQueue, ResourceId, SimTime};

impl Nand {
    #[inline]
    pub(super) fn register_timer(&self, d: usize) -> ResourceId {
        ResourceId(self.first + (self.dies.len() + self.channels.len() + self.decoders.len() + d) as u32)
    }

    // ---- loading --------------------------------------------------------------------------------------

    /// While a program pulses on die `d`: requests the bus for a page of the next program, if the part can.
    #[cold]
    #[inline(never)]
    pub(super) fn load_ahead(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.cache.program == CacheProgram::None || self.dies[d].state() != State::Pulsing {
            return;
        }
        if self.registers[d].page != Page::None {
            return;
        }
        let Some((id, pages)) = self.next_program(d) else { return };
        let register = &mut self.registers[d];
        if register.program == TxnId::NONE {
            (register.program, register.loaded) = (id, 0);
        }
        if register.program != id || register.loaded == pages {
            return;
        }
        let txn = self.txns.get(id);
        register.category = txn.kind.command().category;
        register.page = Page::Waits;
        let command =
            if register.loaded == 0 { self.timing.command * u64::from(txn.planes) } else { Duration::ZERO };
        self.request_bus_for_register(events, now, d, command + self.timing.page_load);
    }

    pub(super) fn request_bus_for_register(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        length: Duration,
    ) {
        if self.takes_bus(now, d, Transfer::Data, length) {
            self.granted_to_register(events, now, d, length);
            return;
        }
        self.queue_for_bus(events, Waiter::register(DieId(d as u32)), Transfer::Data, length);
    }

    /// Predicted next program of the die and the number of its pages that may be loaded ahead; `None` if there is none.
    fn next_program(&self, d: usize) -> Option<(TxnId, u32)> {
        let op = self.dies[d].long()?;
        if op.effect != Effect::Programs || self.dies[d].beneath().is_some() {
            return None;
        }
        let past_reads = self.cache.on_read == CacheOnRead::Kept;
        let id =
            self.contexts[d].queue.next(&self.txns, self.config.policy, self.config.gc_reads, past_reads)?;
        let txn = self.txns.get(id);
        let same = (txn.block != BlockId::NONE).then_some(txn.block) == op.block && txn.planes() == op.planes;
        let fits = self.cache.program == CacheProgram::Die || same;
        let loads_first = !txn.kind.command().cached.is_empty() && !txn.is_special();
        let pages = self.geometry.pages_per_program(txn.cell_mode());
        (fits && loads_first).then(|| (id, u32::from(txn.planes) * pages.min(self.cache.pages)))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn granted_to_register(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        length: Duration,
    ) {
        let end = now + length;
        if self.registers[d].count > 0 {
            self.register_out_begins(events, now, d, end);
            return;
        }
        let register = &mut self.registers[d];
        (register.page, register.ends) = (Page::Moves, end + self.timing.buffer_setup);
        let ends = register.ends;
        events.arm(self.register_timer(d), ends);
        if self.observed {
            let channel = self.geometry.channel_of(DieId(d as u32));
            self.observers.notify_move(DataMove {
                channel,
                into: true,
                bytes: self.page_bytes(),
                at: now,
                end,
            });
        }
    }

    /// A page has moved into the cache register, or out of it.
    #[cold]
    #[inline(never)]
    pub(super) fn on_register(&mut self, events: &mut EventQueue, now: SimTime, d: usize) {
        if self.registers[d].count > 0 {
            self.register_out_ends(events, now, d);
            return;
        }
        let register = &mut self.registers[d];
        register.page = Page::None;
        self.counters.cached_pages += 1;
        if register.program == TxnId::NONE {
            self.counters.cached_pages_lost += 1;
        } else {
            register.loaded += 1;
        }
        let (category, bytes) = (register.category, self.page_bytes());
        self.supply.tally.book_in(category, bytes);
        self.load_ahead(events, now, d);
    }

    /// The pulsing program is stopped or has ended: stops loading ahead. A transfer under way completes.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_loading_ahead(&mut self, events: &mut EventQueue, d: usize) {
        if self.registers[d].page == Page::Waits {
            let c = self.geometry.channel_of(DieId(d as u32)) as usize;
            self.channels[c].withdraw(Waiter::register(DieId(d as u32)));
            if self.channels[c].has_no_waiters() {
                events.disarm(self.channel_timer(c));
            }
            self.registers[d].page = Page::None;
        }
    }

    // ---- use and loss of the data ------------------------------------------------------------------------

    /// Whether the program on die `d` may not be stopped because of data in the cache register.
    #[inline]
    pub(super) fn register_refuses(&self, d: usize) -> bool {
        self.cache.on_read == CacheOnRead::Refused && self.registers.get(d).is_some_and(Register::holds_data)
    }

    /// The die starts `id`: unless it is the program in the cache register, that data may be lost.
    #[cold]
    #[inline(never)]
    pub(super) fn before_dispatch(&mut self, events: &mut EventQueue, d: usize, id: TxnId) {
        if self.registers[d].program == id {
            return;
        }
        self.stop_loading_ahead(events, d);
        if self.txns.get(id).kind.command().effect == Effect::Reads && self.cache.on_read == CacheOnRead::Kept
        {
            return;
        }
        let register = &mut self.registers[d];
        self.counters.cached_pages_lost += u64::from(register.loaded);
        // A page that moves is lost, too, and counted when it has moved.
        (register.program, register.loaded) = (TxnId::NONE, 0);
    }

    /// The program on the die has data in the cache register, or a page on its way there, and continues from there. Returns
    /// whether its first step is under way.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt_loaded_pages(
        &mut self,
        events: &mut EventQueue,
        now: SimTime,
        d: usize,
        id: TxnId,
    ) -> bool {
        if self.registers[d].program != id {
            return false;
        }
        let register = std::mem::take(&mut self.registers[d]);
        if register.loaded == 0 && register.page == Page::None {
            return false;
        }
        self.counters.cached_programs += u64::from(register.loaded > 0);
        let (usage, block) = (self.load_use(d), self.long_block(d));
        let active = &mut self.contexts[d].active;
        active.loads -= register.loaded;
        let steps = self.dies[d].long().expect("a program has begun").kind.command().cached;
        let Some((Step::Load, rest)) = steps.split_first() else {
            unreachable!("only what begins with its data is loaded ahead")
        };
        if register.loaded > 0 {
            active.steps = rest;
        } else {
            // The first page goes into the page buffer, which is free now.
            active.steps = &active.steps[1..];
        }
        match register.page {
            Page::Moves => {
                self.dies[d].go(now, State::LoadWait, usage, block);
                self.dies[d].go(now, State::Load, usage, block);
                self.contexts[d].active.reported = true;
                events.disarm(self.register_timer(d));
                events.arm(self.timer(d), register.ends);
                true
            }
            Page::Waits => {
                self.dies[d].go(now, State::LoadWait, usage, block);
                let c = self.geometry.channel_of(DieId(d as u32)) as usize;
                self.channels[c].pass_on(Waiter::register(DieId(d as u32)), Waiter::die(DieId(d as u32)));
                true
            }
            Page::None if active.loads > 0 => {
                self.request_load(events, now, d, Duration::ZERO);
                true
            }
            Page::None => false,
        }
    }
}
