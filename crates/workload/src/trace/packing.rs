//! Compression of trace files.

use std::fmt;
use std::io::{self, Write};

/// Compression of a trace file, identified by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Uncompressed.
    Plain,
    /// gzip, one or several members.
    Gzip,
    /// Zstandard, one or several frames.
    Zstd,
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Packing::Plain => "plain",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        })
    }
}

/// Compressing writer; [`PackingWriter::finish`] must end it, otherwise the stream is truncated.
pub enum PackingWriter<W: Write> {
    /// Uncompressed.
    Plain(W),
    /// gzip.
    Gzip(flate2::write::GzEncoder<W>),
    /// Zstandard.
    Zstd(zstd::Encoder<'static, W>),
}

impl Packing {
    /// Packing selected by a file name extension: `.gz`, `.zst`, or none.
    pub fn of_name(name: &str) -> Packing {
        let name = name.to_ascii_lowercase();
        match name.rsplit_once('.') {
            Some((_, "gz")) => Packing::Gzip,
            Some((_, "zst")) => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// Creates a writer that compresses into `out`.
    ///
    /// Errors: the compressor cannot be initialised.
    pub fn writer<W: Write>(self, out: W) -> io::Result<PackingWriter<W>> {
        Ok(match self {
            Packing::Plain => PackingWriter::Plain(out),
            Packing::Gzip => {
                PackingWriter::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default()))
            }
            Packing::Zstd => PackingWriter::Zstd(zstd::Encoder::new(out, 3)?),
        })
    }
}

impl<W: Write> PackingWriter<W> {
    /// Ends the compressed stream and returns the inner writer.
    pub fn finish(self) -> io::Result<W> {
        match self {
            PackingWriter::Plain(out) => Ok(out),
            PackingWriter::Gzip(encoder) => encoder.finish(),
            PackingWriter::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for PackingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PackingWriter::Plain(out) => out.write(bytes),
            PackingWriter::Gzip(encoder) => encoder.write(bytes),
            PackingWriter::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            PackingWriter::Plain(out) => out.flush(),
            PackingWriter::Gzip(encoder) => encoder.flush(),
            PackingWriter::Zstd(encoder) => encoder.flush(),
        }
    }
}
