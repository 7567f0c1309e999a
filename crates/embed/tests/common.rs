//! Small devices of every kind and random requests for them.

use interpulse_embed::{Completion, Device, Op, Options, Request, SimTime, ZoneAction};

/// A drive of 8 dies, with what is added.
pub fn drive(more: &str) -> String {
    sized(24, more)
}

/// A drive of 8 dies of so many blocks.
fn sized(blocks: u32, more: &str) -> String {
    format!("drive = \"a4-mini\"\npart.blocks-per-plane = {blocks}\n{more}")
}

/// Configurations of every kind of device: name and text.
pub fn kinds() -> Vec<(&'static str, String)> {
    let filled = "[precondition]\nfill = \"100%\"\noverwrite = \"uniform\"\nuntil = \"drive-writes\"\ndrive-writes = 0.5\n";
    vec![
        ("drive", drive(filled)),
        ("mapping cache", sized(48, "[ftl]\nmapping = \"cached\"\nmap-cache-size = \"64KiB\"\n")),
        ("raid5", drive("[array]\nlevel = \"raid5\"\ndrives = 4\nchunk = \"64KiB\"\n")),
        ("power loss", drive("[power-loss]\nat = \"3ms\"\noff-for = \"5ms\"\n[cache]\nprotected = true\n")),
        (
            "zones",
            drive("[ftl]\nfamily = \"zoned\"\nover-provisioning = \"7%\"\nzone-width = 1\nzone-rows = 4\n"),
        ),
        ("namespaces", sized(96, "[[namespace]]\n[[namespace]]\nover-provisioning = \"35%\"\n")),
    ]
}

/// A device with a journal.
pub fn device(config: &str) -> Device {
    let options = Options { journal: true, ..Options::new(config) };
    Device::create(&options).unwrap_or_else(|error| panic!("{error}"))
}

/// An instant after all requests of the tests.
pub const LATE: SimTime = SimTime(1_000_000_000);

/// Random numbers of the tests (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// `count` legal requests in order of instant, several of them at the same one.
pub fn requests(device: &Device, kind: &str, seed: u64, count: usize) -> Vec<(SimTime, Request)> {
    let (mut draw, mut at) = (Draw(seed), 0);
    let draw_one = |draw: &mut Draw| {
        let namespace = 1 + draw.below(device.namespaces().into()) as u32;
        let capacity = device.capacity(namespace).expect("the namespace is there");
        let bytes = 512 * (1 + draw.below(64));
        let offset = 512 * draw.below((capacity - bytes) / 512);
        let (zoned, array) = (kind == "zones", kind == "raid5");
        let op = match draw.below(20) {
            0 => Op::Flush,
            1 if !array => [Op::Trim, Op::WriteZeroes, Op::Compare][(offset / 512 % 3) as usize],
            2..=4 if zoned => Op::Append,
            5 if zoned => Op::Zone(ZoneAction::Reset),
            6..=12 => Op::Write,
            _ => Op::Read,
        };
        let (offset, bytes) = match op {
            Op::Flush => (0, 0),
            Op::Zone(_) => (0, 0),
            Op::Append => (0, bytes.next_multiple_of(4096)),
            _ => (offset, bytes),
        };
        Request {
            op,
            namespace,
            cookie: draw.below(1000),
            ..Request { offset, bytes, ..Request::read(0, 512) }
        }
    };
    (0..count)
        .map(|_| {
            at += [0, 0, 1_000, 7_777, 100_000][draw.below(5) as usize];
            (SimTime(at), draw_one(&mut draw))
        })
        .collect()
}

/// Submits all requests, completes them and returns the completions.
pub fn all_at_once(device: &mut Device, requests: &[(SimTime, Request)]) -> Vec<Completion> {
    device.submit_batch(requests.len(), |k| Ok(requests[k])).expect("the requests are legal");
    device.advance_to(LATE).expect("time is legal");
    std::iter::from_fn(|| device.pop()).collect()
}
