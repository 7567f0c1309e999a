//! Page write counter: written sectors, and write requests per 4 KiB page.

use std::collections::HashMap;

const PAGE_SECTORS: u64 = 8;
/// Pages of a chunk, the allocation unit: small, to limit the memory of scattered writes.
const CHUNK_PAGES: u64 = 16;

/// Written pages of all devices. Exact; takes about 100 bytes for each 64 KiB touched.
#[derive(Default)]
pub(super) struct WrittenPages {
    chunks: HashMap<(u32, u64), Box<Chunk>>,
    sectors: u64,
}

#[derive(Clone, Default)]
struct Chunk {
    /// One bit per written sector, by page.
    written: [u8; CHUNK_PAGES as usize],
    writes: [u32; CHUNK_PAGES as usize],
}

/// Distribution of the writes over pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PageTotals {
    pub pages: u64,
    /// Page writes beyond the first of each page.
    pub updates: u64,
    /// Rewrites of the busiest fifth of the pages (rounded up).
    pub busiest: u64,
}

impl WrittenPages {
    pub fn write(&mut self, device: u32, sector: u64, sectors: u32) {
        let end = sector + u64::from(sectors);
        let mut page = sector / PAGE_SECTORS;
        let last = (end - 1) / PAGE_SECTORS;
        while page <= last {
            let chunk = self.chunks.entry((device, page / CHUNK_PAGES)).or_default();
            let end_page = last.min((page / CHUNK_PAGES + 1) * CHUNK_PAGES - 1);
            for page in page..=end_page {
                let from = sector.max(page * PAGE_SECTORS) - page * PAGE_SECTORS;
                let to = end.min((page + 1) * PAGE_SECTORS) - page * PAGE_SECTORS;
                let bits = (0xff_u8 << from) & (0xff_u8 >> (PAGE_SECTORS - to));
                let index = (page % CHUNK_PAGES) as usize;
                self.sectors += u64::from((bits & !chunk.written[index]).count_ones());
                chunk.written[index] |= bits;
                chunk.writes[index] = chunk.writes[index].saturating_add(1);
            }
            page = end_page + 1;
        }
    }

    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Distribution of the writes over pages. Independent of the order of the chunks.
    pub fn totals(&self) -> PageTotals {
        let chunks = self.chunks.values();
        let mut updates: Vec<u32> = chunks
            .flat_map(|chunk| chunk.writes)
            .filter(|&writes| writes > 0)
            .map(|writes| writes - 1)
            .collect();
        let fifth = updates.len().div_ceil(5);
        if fifth > 0 && fifth < updates.len() {
            updates.select_nth_unstable_by(fifth - 1, |a, b| b.cmp(a));
        }
        let sum = |part: &[u32]| part.iter().map(|&count| u64::from(count)).sum();
        PageTotals { pages: updates.len() as u64, updates: sum(&updates), busiest: sum(&updates[..fifth]) }
    }
}
