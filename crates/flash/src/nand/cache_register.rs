//! Cache program: while a program pulses, the data of the next moves into the die's cache register, behind the die's back:
//! its state is that of the program that pulses. The register is a resource of its own, with a timer of its own.
//!
//! The program whose data is loaded stays in its line until the die takes it up, so that nothing is decided early: what comes
//! before it meets its data in the register, and by the part ([`CacheOnRead`]) that is lost or kept. Until then it
//! has spent no time of the die; its page loads lie in the time that it waits for the program before it.

use super::Nand;
use super::channel::Transfer;
use super::channel::Waiter;
use super::observe::DataMove;
use super::register::{Page, Register};
use crate::command::{Effect, Step};
use crate::die::State;
use crate::numbers::{BlockId, DieId, TxnId};
use crate::parts::{CacheOnRead, CacheProgram};
use interpulse_engine::{Agenda, Duration, ResourceId, SimTime};

impl Nand {
    #[inline]
    pub(super) fn register_timer(&self, d: usize) -> ResourceId {
        ResourceId(self.first + (self.dies.len() + 2 * self.channels.len() + d) as u32)
    }

    // ---- loading --------------------------------------------------------------------------------------

    /// If a program pulses on die `d`: asks for the bus for the next page of the next, if there is one and the part can.
    #[cold]
    #[inline(never)]
    pub(super) fn load_ahead(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
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
        register.spender = txn.kind.command().spender;
        register.page = Page::Waits;
        let command =
            if register.loaded == 0 { self.timing.command * u64::from(txn.planes) } else { Duration::ZERO };
        self.want_bus_behind(agenda, now, d, command + self.timing.page_load);
    }

    /// The cache register of die `d` asks for the bus.
    pub(super) fn want_bus_behind(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, length: Duration) {
        if self.takes_bus(now, d, length) {
            self.granted_to_register(agenda, now, d, length);
            return;
        }
        let c = self.bays[d].channel as usize;
        if self.channels[c].is_unwanted() {
            agenda.arm(self.channel_timer(c), self.channels[c].free_at());
        }
        self.channels[c].wait(Waiter::register(DieId(d as u32)), Transfer::Data, length);
    }

    /// The program that the die takes up after the one that pulses, as far as can be seen now, and how many of its pages may
    /// be loaded before; `None` if that is no program, or none that may be loaded.
    fn next_program(&self, d: usize) -> Option<(TxnId, u32)> {
        let op = self.dies[d].long()?;
        if op.effect != Effect::Programs || self.dies[d].beneath().is_some() {
            return None;
        }
        let past_reads = self.cache.on_read == CacheOnRead::Kept;
        let id = self.bays[d].queue.next(&self.txns, self.config.policy, self.config.gc_reads, past_reads)?;
        let txn = self.txns.get(id);
        let same = (txn.block != BlockId::NONE).then_some(txn.block) == op.block && txn.planes() == op.planes;
        let fits = self.cache.program == CacheProgram::Die || same;
        let loads_first = !txn.kind.command().cached.is_empty() && txn.reprograms().is_none();
        let pages = if txn.is_two_bit() { 2 } else { self.geometry.pages_per_program };
        (fits && loads_first).then(|| (id, u32::from(txn.planes) * pages.min(self.cache.pages)))
    }

    /// The bus is taken for `length` by the cache register of die `d`.
    #[cold]
    #[inline(never)]
    pub(super) fn granted_to_register(
        &mut self,
        agenda: &mut Agenda,
        now: SimTime,
        d: usize,
        length: Duration,
    ) {
        let end = now + length;
        if self.registers[d].count > 0 {
            self.gives_out(agenda, now, d, end);
            return;
        }
        let register = &mut self.registers[d];
        (register.page, register.ends) = (Page::Moves, end + self.timing.buffer_setup);
        let ends = register.ends;
        agenda.arm(self.register_timer(d), ends);
        if self.watched {
            let channel = self.geometry.channel_of(DieId(d as u32));
            self.watch.tell_move(DataMove { channel, into: true, bytes: self.page_bytes(), at: now, end });
        }
    }

    /// A page is in the cache register, or out of it.
    #[cold]
    #[inline(never)]
    pub(super) fn on_register(&mut self, agenda: &mut Agenda, now: SimTime, d: usize) {
        if self.registers[d].count > 0 {
            self.gave_out(agenda, now, d);
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
        let (spender, bytes) = (register.spender, self.page_bytes());
        self.supply.tally.book_in(spender, bytes);
        self.load_ahead(agenda, now, d);
    }

    /// The program that pulses is stopped, or has ended: no further page is loaded behind it. One that moves moves on.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_loading_ahead(&mut self, agenda: &mut Agenda, d: usize) {
        if self.registers[d].page == Page::Waits {
            let c = self.geometry.channel_of(DieId(d as u32)) as usize;
            self.channels[c].withdraw(Waiter::register(DieId(d as u32)));
            if self.channels[c].is_unwanted() {
                agenda.disarm(self.channel_timer(c));
            }
            self.registers[d].page = Page::None;
        }
    }

    // ---- what becomes of it -----------------------------------------------------------------------------

    /// Whether the program on die `d` may not be stopped because of data in the cache register.
    #[inline]
    pub(super) fn register_refuses(&self, d: usize) -> bool {
        self.cache.on_read == CacheOnRead::Refused && self.registers.get(d).is_some_and(Register::holds_data)
    }

    /// The die takes up `id`: unless it is the program whose data the cache register holds, that may be lost.
    #[cold]
    #[inline(never)]
    pub(super) fn comes_before(&mut self, agenda: &mut Agenda, d: usize, id: TxnId) {
        if self.registers[d].program == id {
            return;
        }
        self.stop_loading_ahead(agenda, d);
        if self.txns.get(id).kind.command().effect == Effect::Reads && self.cache.on_read == CacheOnRead::Kept
        {
            return;
        }
        let register = &mut self.registers[d];
        self.counters.cached_pages_lost += u64::from(register.loaded);
        // A page that moves is lost, too, and counted when it has moved.
        (register.program, register.loaded) = (TxnId::NONE, 0);
    }

    /// The program that the die has begun has data in the cache register, or a page on its way there: it goes on from there.
    /// Returns whether its first step is under way.
    #[cold]
    #[inline(never)]
    pub(super) fn take_over(&mut self, agenda: &mut Agenda, now: SimTime, d: usize, id: TxnId) -> bool {
        if self.registers[d].program != id {
            return false;
        }
        let register = std::mem::take(&mut self.registers[d]);
        if register.loaded == 0 && register.page == Page::None {
            return false;
        }
        self.counters.cached_programs += u64::from(register.loaded > 0);
        let (usage, block) = (self.load_use(d), self.long_block(d));
        let hand = &mut self.bays[d].hand;
        hand.loads -= register.loaded;
        let steps = self.dies[d].long().expect("a program has begun").kind.command().cached;
        let Some((Step::Load, rest)) = steps.split_first() else {
            unreachable!("only what begins with its data is loaded ahead")
        };
        if register.loaded > 0 {
            hand.steps = rest;
        } else {
            // The first page goes into the page buffer, which is free now.
            hand.steps = &hand.steps[1..];
        }
        match register.page {
            Page::Moves => {
                self.dies[d].go(now, State::LoadWait, usage, block);
                self.dies[d].go(now, State::Load, usage, block);
                self.bays[d].hand.told = true;
                agenda.disarm(self.register_timer(d));
                agenda.arm(self.timer(d), register.ends);
                true
            }
            Page::Waits => {
                self.dies[d].go(now, State::LoadWait, usage, block);
                let c = self.geometry.channel_of(DieId(d as u32)) as usize;
                self.channels[c].pass_on(Waiter::register(DieId(d as u32)), Waiter::die(DieId(d as u32)));
                true
            }
            Page::None if hand.loads > 0 => {
                self.want_load(agenda, now, d, Duration::ZERO);
                true
            }
            Page::None => false,
        }
    }
}
