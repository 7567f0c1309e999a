//! Packing what is written: the other direction of what `input` unpacks.

use super::packing::Packing;
use std::io::{self, Write};

/// A writer that packs; [`PackingWriter::finish`] must end it, or the packed stream is cut off.
pub enum PackingWriter<W: Write> {
    /// As it comes.
    Plain(W),
    /// gzip.
    Gzip(flate2::write::GzEncoder<W>),
    /// Zstandard.
    Zstd(zstd::Encoder<'static, W>),
}

impl Packing {
    /// The packing that the end of a file name asks for: `.gz`, `.zst`, or none.
    pub fn of_name(name: &str) -> Packing {
        let name = name.to_ascii_lowercase();
        match name.rsplit_once('.') {
            Some((_, "gz")) => Packing::Gzip,
            Some((_, "zst")) => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// A writer that packs into `out`.
    ///
    /// Errors: the packer cannot be set up.
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
    /// Ends the packed stream and gives the writer below back.
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
