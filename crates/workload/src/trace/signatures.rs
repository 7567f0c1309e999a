//! File signatures of unsupported formats, with a remedy for each.

/// Offset, signature, description of the kind of file, and remedy.
type Kind = (usize, &'static [u8], &'static str, &'static str);

const UNPACK: &str = "unpack it, or repack it as .gz or .zst";
const TABLE: &str = "export its rows as text, one request per row";
const TEXT: &str = "save it as UTF-8";

const KINDS: &[Kind] = &[
    (0, b"\x1f\x8b\x08", "gzip data inside the packed file", "compress it only once"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data inside the packed file", "compress it only once"),
    (0, b"BZh", "bzip2 data", "unpack it with `bunzip2`, or repack it as .gz or .zst"),
    (0, b"\xfd7zXZ\0", "xz data", "unpack it with `unxz`, or repack it as .gz or .zst"),
    (0, b"\x5d\0\0\x80\0", "lzma data", UNPACK),
    (0, b"LZIP", "lzip data", UNPACK),
    (0, b"\x04\x22\x4d\x18", "lz4 data", "unpack it with `unlz4`, or repack it as .gz or .zst"),
    (0, b"\x02\x21\x4c\x18", "lz4 data", "unpack it with `unlz4`, or repack it as .gz or .zst"),
    (0, b"\xff\x06\0\0sNaPpY", "snappy data", UNPACK),
    (0, b"\x1f\x9d", "data packed by `compress`", UNPACK),
    (0, b"PK\x03\x04", "a zip archive", "unzip it and specify the extracted file"),
    (0, b"PK\x05\x06", "an empty zip archive", "look for the trace elsewhere"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it with `7z x` and specify the extracted file"),
    (0, b"Rar!\x1a\x07", "a rar archive", "unpack it and specify the extracted file"),
    (257, b"ustar", "a tar archive", "unpack it with `tar -xf` and specify the extracted file"),
    (
        0,
        b"\x08tae",
        "a binary trace of blktrace, version 8",
        "convert it to text: `blkparse -i FILE > FILE.txt`",
    ),
    (
        0,
        b"eat\x08",
        "a binary trace of blktrace, version 8",
        "convert it to text: `blkparse -i FILE > FILE.txt`",
    ),
    (
        0,
        b"\x17\x08\x44tracing",
        "a binary trace of trace-cmd",
        "record with blktrace and convert with blkparse instead",
    ),
    (0, b"PERFILE2", "a recording of perf", "record with blktrace and convert with blkparse instead"),
    (0, b"PAR1", "a Parquet table", TABLE),
    (0, b"ORC", "an ORC table", TABLE),
    (0, b"Obj\x01", "an Avro table", TABLE),
    (0, b"ARROW1", "an Arrow table", TABLE),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", TABLE),
    (0, b"\x93NUMPY", "a NumPy array", TABLE),
    (0, b"SQLite format 3\0", "an SQLite database", TABLE),
    (0, b"\xd4\xc3\xb2\xa1", "a capture of network packets (pcap)", "a block trace is needed"),
    (0, b"\xa1\xb2\xc3\xd4", "a capture of network packets (pcap)", "a block trace is needed"),
    (0, b"\x4d\x3c\xb2\xa1", "a capture of network packets (pcap)", "a block trace is needed"),
    (0, b"\x0a\x0d\x0d\x0a", "a capture of network packets (pcapng)", "a block trace is needed"),
    (0, b"\x7fELF", "a program (ELF)", "specify the trace that it writes"),
    (0, b"MZ\x90\0", "a program for Windows", "specify the trace that it writes"),
    (0, b"\x89PNG", "a picture (PNG)", "specify a trace"),
    (0, b"%PDF-", "a PDF document", "specify a trace"),
    (0, b"\xff\xfe", "text in UTF-16", TEXT),
    (0, b"\xfe\xff", "text in UTF-16", TEXT),
    (0, b"<!DOCTYPE", "a web page, perhaps in place of a download", "download the trace itself"),
    (0, b"<!doctype", "a web page, perhaps in place of a download", "download the trace itself"),
    (0, b"<html", "a web page, perhaps in place of a download", "download the trace itself"),
    (
        0,
        b"version https://git-lfs",
        "a pointer to a file of git-lfs",
        "fetch the file itself with `git lfs pull`",
    ),
];

/// Description and remedy of an unsupported file; `None` for a possible trace.
pub(super) fn unsupported_file(beginning: &[u8]) -> Option<(&'static str, &'static str)> {
    let is = |&&(at, magic, ..): &&Kind| beginning.get(at..).is_some_and(|rest| rest.starts_with(magic));
    KINDS.iter().find(is).map(|&(_, _, what, remedy)| (what, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_identify_their_files_and_text_has_none() {
        for &(at, magic, what, _) in KINDS {
            let mut bytes = vec![b'?'; at];
            bytes.extend(magic);
            assert_eq!(unsupported_file(&bytes).map(|found| found.0), Some(what));
            assert_eq!(
                unsupported_file(&bytes[..bytes.len() - 1]).filter(|found| found.0 == what),
                None,
                "{what}"
            );
        }
        assert_eq!(unsupported_file(b""), None);
        assert_eq!(unsupported_file(b"128166372003061629,hm,0,Read,383496192,32768,413\n"), None);
    }
}
