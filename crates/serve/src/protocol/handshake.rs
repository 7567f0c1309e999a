//! Handshake: options of a client, up to the transmission phase (fixed newstyle).

use super::export::{Export, MAX_PAYLOAD, MIN_BLOCK, PREFERRED_BLOCK};
use super::fault::Fault;
use super::fields::{Fields, Put};
use super::numbers::{self, ALLOCATION_ID, handshake_flag, info, option, option_reply};
use super::replies::Replies;

/// Longest data of an option, in bytes; a longer one is passed over and refused.
pub const MAX_OPTION: u32 = 16 << 10;
/// Longest name of an export, as the specification has it.
const MAX_NAME: usize = 4096;
/// The one context of block status.
pub const ALLOCATION: &str = "base:allocation";
/// Options of one client; more of them are a fault, so that no handshake lasts forever.
const MAX_OPTIONS: u32 = 1000;

/// Use of TLS on a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Not possible.
    Off,
    /// Required, and not yet begun.
    Required,
    /// In use.
    On,
}

/// What the handshake has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// More bytes are needed.
    More,
    /// TLS begins after the bytes to be sent.
    StartTls,
    /// The client has taken the export.
    Transmission(Replies),
    /// The client has ended the handshake.
    Ended,
}

/// State of a handshake.
#[derive(Clone, Debug)]
pub struct Handshake {
    tls: Tls,
    /// Flags of the client; `None` before they are received.
    flags: Option<u16>,
    replies: Replies,
    /// Name that the contexts were selected for.
    contexts_of: Vec<u8>,
    options: u32,
    /// An option was refused for want of TLS.
    refused_for_tls: bool,
    /// Bytes of a refused option that are still to be passed over.
    pass_over: u32,
}

impl Handshake {
    /// A handshake, and the bytes that begin it in `out`.
    pub fn begin(tls: Tls, out: &mut Vec<u8>) -> Handshake {
        out.put_u64(numbers::GREETING);
        out.put_u64(numbers::OPTION);
        out.put_u16(handshake_flag::FIXED_NEWSTYLE | handshake_flag::NO_ZEROES);
        let replies = Replies::default();
        Handshake {
            tls,
            flags: None,
            replies,
            contexts_of: Vec::new(),
            options: 0,
            refused_for_tls: false,
            pass_over: 0,
        }
    }

    /// Goes on after TLS has begun: all that was negotiated before is forgotten, but for the flags of the client.
    pub fn is_encrypted(&mut self) {
        self.tls = Tls::On;
        self.replies = Replies::default();
        self.contexts_of.clear();
    }

    /// Whether the client has sent options that need TLS, and has not begun it.
    pub fn was_refused_for_tls(&self) -> bool {
        self.refused_for_tls && self.tls == Tls::Required
    }

    /// Takes one message from the front of `input`, appends its answer to `out`, and returns the number of bytes taken.
    /// Call it again after [`Reached::More`] if it took any.
    ///
    /// # Errors
    /// [`Fault`]: the client does not speak the protocol, and the connection must be closed.
    pub fn receive(
        &mut self,
        export: &Export,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Reached), Fault> {
        if self.pass_over > 0 {
            let passed = input.len().min(self.pass_over as usize);
            self.pass_over -= passed as u32;
            return Ok((passed, Reached::More));
        }
        let mut fields = Fields(input);
        let Some(flags) = self.flags else {
            let Some(flags) = fields.u32() else { return Ok((0, Reached::More)) };
            let known = handshake_flag::FIXED_NEWSTYLE | handshake_flag::NO_ZEROES;
            if flags & !u32::from(known) != 0 {
                return Err(Fault::ClientFlags(flags));
            }
            self.flags = Some(flags as u16);
            return Ok((4, Reached::More));
        };
        let (Some(magic), Some(code), Some(length)) = (fields.u64(), fields.u32(), fields.u32()) else {
            // The magic number alone shows what is no option.
            return match Fields(input).u64() {
                Some(magic) if magic != numbers::OPTION => Err(Fault::OptionMagic(magic)),
                _ => Ok((0, Reached::More)),
            };
        };
        if magic != numbers::OPTION {
            return Err(Fault::OptionMagic(magic));
        }
        if flags & handshake_flag::FIXED_NEWSTYLE == 0 && code != option::EXPORT_NAME {
            return Err(Fault::NotFixed(code));
        }
        if length > MAX_OPTION {
            if code == option::EXPORT_NAME {
                return Err(Fault::UnknownExport);
            }
            self.count()?;
            self.pass_over = length;
            refuse(out, code, option_reply::TOO_BIG, "the option is longer than 16 KiB");
            return Ok((16, Reached::More));
        }
        let Some(data) = fields.bytes(length as usize) else { return Ok((0, Reached::More)) };
        self.count()?;
        let reached = self.option(export, flags, code, data, out)?;
        Ok((16 + data.len(), reached))
    }

    fn count(&mut self) -> Result<(), Fault> {
        self.options += 1;
        if self.options > MAX_OPTIONS { Err(Fault::Options(MAX_OPTIONS)) } else { Ok(()) }
    }

    fn option(
        &mut self,
        export: &Export,
        flags: u16,
        code: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Reached, Fault> {
        let free = [option::STARTTLS, option::ABORT].contains(&code);
        if self.tls == Tls::Required && !free {
            if code == option::EXPORT_NAME {
                return Err(Fault::NoTls);
            }
            self.refused_for_tls = true;
            refuse(out, code, option_reply::TLS_REQUIRED, "this server needs TLS: send STARTTLS first");
            return Ok(Reached::More);
        }
        match code {
            option::EXPORT_NAME => return self.export_name(export, flags, data, out),
            option::ABORT => {
                reply(out, code, option_reply::ACK, &[]);
                return Ok(Reached::Ended);
            }
            option::INFO | option::GO => return Ok(self.info(export, code, data, out)),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.contexts(export, code, data, out),
            option::LIST | option::STARTTLS | option::STRUCTURED_REPLY if !data.is_empty() => {
                refuse(out, code, option_reply::INVALID, "the option has no data");
            }
            option::LIST => {
                let mut data = Vec::new();
                data.put_u32(export.name.len() as u32);
                data.extend_from_slice(export.name.as_bytes());
                reply(out, code, option_reply::SERVER, &data);
                reply(out, code, option_reply::ACK, &[]);
            }
            option::STARTTLS if self.tls == Tls::Required => {
                reply(out, code, option_reply::ACK, &[]);
                return Ok(Reached::StartTls);
            }
            option::STARTTLS if self.tls == Tls::On => {
                refuse(out, code, option_reply::INVALID, "TLS is in use");
            }
            option::STRUCTURED_REPLY => {
                self.replies.structured = true;
                reply(out, code, option_reply::ACK, &[]);
            }
            _ => refuse(out, code, option_reply::UNSUPPORTED, "this server does not have the option"),
        }
        Ok(Reached::More)
    }

    fn export_name(
        &mut self,
        export: &Export,
        flags: u16,
        name: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Reached, Fault> {
        if !export.is_named(name) {
            return Err(Fault::UnknownExport);
        }
        out.put_u64(export.bytes);
        out.put_u16(export.flags(self.replies.structured));
        if flags & handshake_flag::NO_ZEROES == 0 {
            out.resize(out.len() + 124, 0);
        }
        Ok(Reached::Transmission(self.replies_for(name)))
    }

    /// Contexts count only for the name that they were selected for.
    fn replies_for(&self, name: &[u8]) -> Replies {
        let contexts = self.replies.contexts && self.contexts_of == name;
        Replies { contexts, ..self.replies }
    }

    fn info(&mut self, export: &Export, code: u32, data: &[u8], out: &mut Vec<u8>) -> Reached {
        let mut fields = Fields(data);
        let parsed = (|| {
            let name = fields.text()?;
            let count = fields.u16()?;
            let items = (0..count).map(|_| fields.u16()).collect::<Option<Vec<_>>>()?;
            (fields.0.is_empty() && name.len() <= MAX_NAME).then_some((name, items))
        })();
        let Some((name, items)) = parsed else {
            refuse(out, code, option_reply::INVALID, "the option is malformed");
            return Reached::More;
        };
        if !export.is_named(name) {
            refuse(out, code, option_reply::UNKNOWN, &format!("the one export is {:?}", export.name));
            return Reached::More;
        }
        let mut item = |kind: u16, fill: &dyn Fn(&mut Vec<u8>)| {
            let mut data = Vec::new();
            data.put_u16(kind);
            fill(&mut data);
            reply(out, code, option_reply::INFO, &data);
        };
        if items.contains(&info::NAME) {
            item(info::NAME, &|data| data.extend_from_slice(export.name.as_bytes()));
        }
        if items.contains(&info::DESCRIPTION) {
            item(info::DESCRIPTION, &|data| data.extend_from_slice(export.description.as_bytes()));
        }
        // Always: clients that do not ask may still obey.
        item(info::BLOCK_SIZE, &|data| {
            [MIN_BLOCK, PREFERRED_BLOCK, MAX_PAYLOAD].into_iter().for_each(|size| data.put_u32(size));
        });
        item(info::EXPORT, &|data| {
            data.put_u64(export.bytes);
            data.put_u16(export.flags(self.replies.structured));
        });
        reply(out, code, option_reply::ACK, &[]);
        if code == option::GO { Reached::Transmission(self.replies_for(name)) } else { Reached::More }
    }

    fn contexts(&mut self, export: &Export, code: u32, data: &[u8], out: &mut Vec<u8>) {
        let mut fields = Fields(data);
        let parsed = (|| {
            let name = fields.text()?;
            let count = fields.u32()?;
            // Each query takes four bytes at least.
            if count as usize > fields.0.len() / 4 {
                return None;
            }
            let queries = (0..count).map(|_| fields.text()).collect::<Option<Vec<_>>>()?;
            (fields.0.is_empty() && name.len() <= MAX_NAME).then_some((name, queries))
        })();
        let selects = code == option::SET_META_CONTEXT;
        if selects {
            self.replies.contexts = false;
        }
        let Some((name, queries)) = parsed else {
            return refuse(out, code, option_reply::INVALID, "the option is malformed");
        };
        if !self.replies.structured && selects {
            return refuse(out, code, option_reply::INVALID, "contexts need structured replies");
        }
        if !export.is_named(name) {
            return refuse(out, code, option_reply::UNKNOWN, "there is no such export");
        }
        let lists = |query: &&[u8]| *query == ALLOCATION.as_bytes() || !selects && *query == b"base:";
        if queries.iter().any(lists) || !selects && queries.is_empty() {
            let mut data = Vec::new();
            data.put_u32(if selects { ALLOCATION_ID } else { 0 });
            data.extend_from_slice(ALLOCATION.as_bytes());
            reply(out, code, option_reply::META_CONTEXT, &data);
            if selects {
                self.replies.contexts = true;
                self.contexts_of = name.to_vec();
            }
        }
        reply(out, code, option_reply::ACK, &[]);
    }
}

fn reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.put_u64(numbers::OPTION_REPLY);
    out.put_u32(option);
    out.put_u32(kind);
    out.put_u32(data.len() as u32);
    out.extend_from_slice(data);
}

fn refuse(out: &mut Vec<u8>, option: u32, kind: u32, why: &str) {
    reply(out, option, kind, why.as_bytes());
}
