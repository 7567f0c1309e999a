//! Headings of text traces: roles and units of columns by their names.

use super::columns::split;
use super::format::{AsciiLayout, Format, Role, Separator, TypeCode};
use super::position::Position;
use super::unit::TimeUnit;

/// Column as its name describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Named {
    pub name: String,
    /// `None` for an unknown name.
    pub role: Option<Role>,
    pub time_unit: Option<TimeUnit>,
    /// Unit of an address or size in bytes.
    pub bytes: Option<u64>,
    /// For an operation of 0 and 1: whether 1 is a write.
    pub one_writes: Option<bool>,
}

/// Line that names the columns.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub line: Position,
    pub separator: Separator,
    pub columns: Vec<Named>,
}

const TIMES: &[&str] = &[
    "time",
    "timestamp",
    "ts",
    "tick",
    "ticks",
    "timestart",
    "arrival",
    "arrivaltime",
    "issuetime",
    "starttime",
    "requesttime",
    "reqtime",
    "clocktime",
    "realtime",
    "abstime",
    "reltime",
    "datetime",
    "date",
    "eventtime",
];
const OPS: &[&str] = &[
    "op",
    "opcode",
    "opc",
    "operation",
    "optype",
    "type",
    "iotype",
    "reqtype",
    "requesttype",
    "rw",
    "readwrite",
    "rwbs",
    "rwflag",
    "rwtype",
    "direction",
    "dir",
    "cmd",
    "command",
    "kind",
    "action",
    "access",
    "accesstype",
];
const SECTORS: &[&str] = &[
    "lba",
    "lbn",
    "startlba",
    "startinglba",
    "slba",
    "lbaddress",
    "sector",
    "sectornumber",
    "sectornum",
    "sectorno",
    "startsector",
    "startingsector",
    "firstsector",
    "sectoroffset",
    "sectoraddress",
];
const OFFSETS: &[&str] = &[
    "offset",
    "byteoffset",
    "startoffset",
    "addr",
    "address",
    "startaddress",
    "startaddr",
    "byteaddress",
    "start",
    "pos",
    "position",
    "diskoffset",
];
/// Addresses whose name does not say their unit.
const BLOCKS: &[&str] = &[
    "block",
    "blk",
    "blkno",
    "blockno",
    "blocknum",
    "blocknumber",
    "blockid",
    "blockaddress",
    "blockaddr",
    "page",
    "pageno",
    "lpn",
    "lpa",
    "objid",
    "objectid",
    "obj",
    "object",
    "key",
];
const SIZES: &[&str] = &[
    "size",
    "length",
    "len",
    "iosize",
    "iolength",
    "iolen",
    "reqsize",
    "requestsize",
    "transfersize",
    "xfersize",
    "transferlength",
    "objsize",
    "objectsize",
    "datasize",
];
const BYTE_SIZES: &[&str] = &["bytes", "nbytes", "numbytes", "bytecount", "nrbytes"];
const SECTOR_SIZES: &[&str] =
    &["sectors", "nsectors", "numsectors", "nrsectors", "sectorcount", "nsec", "nrsec"];
const BLOCK_SIZES: &[&str] =
    &["blocks", "nblocks", "numblocks", "nrblocks", "blockcount", "nlb", "pages", "npages", "numpages"];
const DEVICES: &[&str] = &[
    "device",
    "deviceid",
    "deviceno",
    "devicenumber",
    "dev",
    "devid",
    "devno",
    "disk",
    "diskid",
    "diskno",
    "disknum",
    "disknumber",
    "drive",
    "driveid",
    "volume",
    "volumeid",
    "vol",
    "volid",
    "lun",
    "lunid",
    "asu",
    "nsid",
];
/// Columns of known traces that hold no part of a request.
const OTHERS: &[&str] = &[
    "",
    "response",
    "responsetime",
    "latency",
    "lat",
    "duration",
    "elapsed",
    "elapsedtime",
    "host",
    "hostname",
    "pid",
    "process",
    "comm",
    "cpu",
    "index",
    "idx",
    "id",
    "unnamed",
    "unnamed0",
    "seq",
    "version",
    "lifetime",
    "hash",
    "ttl",
    "queue",
    "completion",
    "completiontime",
    "endtime",
    "nextaccessvtime",
    "nextvtime",
];

/// Words of a name in lower case: separated by other characters, and by capitals (`DiskNumber`, `IOType`).
fn words(name: &str) -> Vec<String> {
    let name = name.replace("KiB", "kib").replace("MiB", "mib");
    let all: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &c) in all.iter().enumerate() {
        let previous = at.checked_sub(1).map(|at| all[at]);
        let next_lower = all.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins =
            c.is_uppercase() && previous.is_some_and(|p| p.is_lowercase() || p.is_uppercase() && next_lower);
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn time_unit(word: &str) -> Option<TimeUnit> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => TimeUnit::S,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "millis" => TimeUnit::Ms,
        "us" | "usec" | "usecs" | "microsecond" | "microseconds" | "micros" => TimeUnit::Us,
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" | "nanos" => TimeUnit::Ns,
        "100ns" | "filetime" => TimeUnit::Ticks,
        _ => return None,
    })
}

fn bytes(word: &str) -> Option<u64> {
    Some(match word {
        "b" | "byte" | "bytes" => 1,
        "sector" | "sectors" | "512b" | "512" => 512,
        "kb" | "kib" => 1 << 10,
        "4k" | "4kb" | "4kib" => 4 << 10,
        "mb" | "mib" => 1 << 20,
        _ => return None,
    })
}

impl Named {
    fn of(name: &str) -> Named {
        let words = words(name);
        let mut named =
            Named { name: name.to_owned(), role: None, time_unit: None, bytes: None, one_writes: None };
        let has = |list: &[&str], key: &str| list.contains(&key);
        let whole = words.concat();
        if matches!(whole.as_str(), "iswrite" | "isread") {
            (named.role, named.one_writes) = (Some(Role::Op), Some(whole == "iswrite"));
            return named;
        }
        for (key, unit) in [
            (whole.clone(), None),
            (words.split_last().map_or(String::new(), |(_, rest)| rest.concat()), words.last()),
        ] {
            if unit.is_some() && key.is_empty() {
                continue;
            }
            let (time, size) = (unit.and_then(|u| time_unit(u)), unit.and_then(|u| bytes(u)));
            let (role, fixed) = match key.as_str() {
                key if has(TIMES, key) && (unit.is_none() || time.is_some()) => (Role::Time, None),
                key if unit.is_none() && has(OPS, key) => (Role::Op, None),
                key if unit.is_none() && has(DEVICES, key) => (Role::Device, None),
                key if unit.is_none() && has(OTHERS, key) => (Role::Skip, None),
                key if has(OTHERS, key) && !key.is_empty() && (time.is_some() || size.is_some()) => {
                    (Role::Skip, None)
                }
                key if unit.is_some() && size.is_none() || key.is_empty() => continue,
                key if has(SECTORS, key) => (Role::Offset, Some(512)),
                key if has(OFFSETS, key) || has(BLOCKS, key) => (Role::Offset, None),
                key if has(BYTE_SIZES, key) => (Role::Size, Some(1)),
                key if has(SECTOR_SIZES, key) => (Role::Size, Some(512)),
                key if has(SIZES, key) || has(BLOCK_SIZES, key) => (Role::Size, None),
                _ => continue,
            };
            named.role = Some(role);
            named.time_unit = time.filter(|_| role == Role::Time);
            named.bytes = size.or(fixed).filter(|_| matches!(role, Role::Offset | Role::Size));
            return named;
        }
        named
    }

    /// Whether an address or a size counts blocks of a size that the name does not say.
    pub fn counts_blocks(&self) -> bool {
        let key = words(&self.name).concat();
        self.bytes.is_none() && (BLOCKS.contains(&key.as_str()) || BLOCK_SIZES.contains(&key.as_str()))
    }
}

impl Heading {
    /// Heading in this line, which may be a comment; `None` if it names fewer than two columns of requests.
    pub fn of(line: Position, text: &str) -> Option<Heading> {
        // A leading semicolon separates an empty column in a line with further ones.
        let start = text.trim_ascii_start();
        let commented = start.strip_prefix('#').or_else(|| start.strip_prefix("//"));
        let text = match start.strip_prefix(';') {
            Some(rest) if !rest.contains(';') => rest,
            _ => commented.unwrap_or(text),
        };
        let separator = Separator::of(text);
        let columns: Vec<Named> = split(text, separator).map(Named::of).collect();
        let known = columns.iter().filter(|named| named.role.is_some_and(|role| role != Role::Skip)).count();
        let numbers = columns.iter().any(|named| named.name.parse::<f64>().is_ok());
        (known >= 2 && !numbers).then_some(Heading { line, separator, columns })
    }

    /// Columns with this role.
    pub fn with(&self, role: Role) -> impl Iterator<Item = &Named> {
        self.columns.iter().filter(move |named| named.role == Some(role))
    }

    /// Roles of all columns; unknown ones are skipped.
    pub fn roles(&self) -> Vec<Role> {
        self.columns.iter().map(|named| named.role.unwrap_or(Role::Skip)).collect()
    }

    /// Column, its name, and what the format has there instead; `None` if the heading does not contradict the format.
    pub fn contradiction(&self, format: &Format) -> Option<String> {
        let units = format.units();
        let types = match format {
            Format::Ascii(AsciiLayout { types }) => Some(*types == TypeCode::OneWrites),
            Format::MqSim | Format::SsdSim | Format::DiskSimAscii => Some(false),
            Format::Tencent => Some(true),
            _ => None,
        };
        self.columns.iter().zip(format.layout()).enumerate().find_map(|(at, (named, &expected))| {
            let found = named.role?;
            let other = |what: String| Some(format!("column {} is `{}`, {what}", at + 1, named.name));
            if expected == Role::Skip {
                return None;
            }
            if found != expected {
                return other(format!("which {} has as its {}", format.name(), expected.name()));
            }
            let unit = match expected {
                Role::Offset => Some(units.address),
                Role::Size => Some(units.size),
                _ => None,
            };
            if named.bytes.is_some() && unit.is_some() && named.bytes != unit {
                return other(format!(
                    "which {} has in units of {} B",
                    format.name(),
                    unit.unwrap_or_default()
                ));
            }
            if let (Some(written), Some(documented)) = (named.time_unit, format.unit())
                && written != documented
            {
                return other(format!("which {} has in {}", format.name(), documented.name()));
            }
            if let (Some(written), Some(documented)) = (named.one_writes, types)
                && written != documented
            {
                let meaning = if documented { "write" } else { "read" };
                return other(format!("of which 1 is a {meaning} in {}", format.name()));
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> Option<String> {
        let heading = Heading::of(Position::default(), text)?;
        Some(heading.roles().iter().map(|role| role.name()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_say_what_columns_hold() {
        for (text, expected) in [
            ("LBA,IO_SIZE,TIME", "offset size time"),
            (
                "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
                "time skip device op offset size skip",
            ),
            (",device_id,opcode,offset,length,timestamp", "skip device op offset size time"),
            ("Unnamed: 0,time,op,lbn,size", "skip time op offset size"),
            ("version,time,op,size,lbn", "skip time op size offset"),
            ("# time;rw;sector;nsectors", "time op offset size"),
            ("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)", "time skip skip device skip offset size skip"),
            ("time_us\tis_write\tbyteOffset\tsize_bytes", "time op offset size"),
            ("tick offset length op", "time offset size op"),
            ("clock_time, obj_id, obj_size", "time offset size"),
            (
                "Response Time,Timestamp (ms),IOType,LUN,Offset [B],Size [B]",
                "skip time op device offset size",
            ),
            ("foo,time,op", "skip time op"),
        ] {
            assert_eq!(roles(text).as_deref(), Some(expected), "{text}");
        }
        for none in ["hello world", "1,2,3", "time,5", "op,8,2", "", "The quick brown fox", "device,index"] {
            assert_eq!(roles(none), None, "{none}");
        }
    }

    #[test]
    fn names_say_units() {
        let units = |name: &str| {
            let named = Named::of(name);
            (named.time_unit.map(|unit| unit.name()), named.bytes)
        };
        assert_eq!(units("time_ms"), (Some("ms"), None));
        assert_eq!(units("Timestamp(us)"), (Some("us"), None));
        assert_eq!(units("ts ns"), (Some("ns"), None));
        assert_eq!(units("time"), (None, None));
        assert_eq!(units("LBA"), (None, Some(512)));
        assert_eq!(units("lba_4k"), (None, Some(4096)));
        assert_eq!(units("offset_bytes"), (None, Some(1)));
        assert_eq!(units("size (sectors)"), (None, Some(512)));
        assert_eq!(units("IO size [KiB]"), (None, Some(1024)));
        assert_eq!(units("sectors"), (None, Some(512)));
        assert_eq!(units("size"), (None, None));
        assert!(Named::of("blkno").counts_blocks() && Named::of("obj_id").counts_blocks());
        assert!(!Named::of("offset").counts_blocks() && !Named::of("block_bytes").counts_blocks());
        assert_eq!(
            (Named::of("is_write").one_writes, Named::of("isRead").one_writes),
            (Some(true), Some(false))
        );
    }
}
