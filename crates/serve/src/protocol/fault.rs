//! Faults of a client, after which its connection is closed.

/// What a client sent that is not the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Unknown flags of the handshake.
    #[error("handshake flags {0:#x}: 0 to 3 are legal")]
    ClientFlags(u32),
    /// No option where one is due.
    #[error("magic number {0:#018x} instead of that of an option")]
    OptionMagic(u64),
    /// An option that only fixed newstyle has, of a client without it.
    #[error("option {0} of a client without fixed newstyle, which may send option 1 alone")]
    NotFixed(u32),
    /// `EXPORT_NAME` with another name, which no reply can refuse.
    #[error("EXPORT_NAME names an export that does not exist")]
    UnknownExport,
    /// `EXPORT_NAME` before TLS, which no reply can refuse.
    #[error("EXPORT_NAME without TLS, which this server needs")]
    NoTls,
    /// A handshake without end.
    #[error("more than {0} options")]
    Options(u32),
    /// No request where one is due.
    #[error("magic number {0:#010x} instead of that of a request")]
    RequestMagic(u32),
    /// A write longer than the export allows.
    #[error("a write of {0} bytes; at most 33554432 are legal")]
    TooLong(u32),
}
