use interpulse_cell::jobs::reprogram::{chip::Chip, part};
use interpulse_settings::Document;
// usage: fit key=value ... ; env: COUNT, PIECES="first:layers,..", BYLINE, SEED, H
fn main() {
    let get = |k: &str, d: &str| std::env::var(k).unwrap_or(d.into());
    let mut doc = Document::empty();
    for a in std::env::args().skip(1) {
        let (k, v) = a.split_once('=').unwrap();
        doc = Document::set(k, v).unwrap().over(doc).unwrap();
    }
    let chip = Chip::resolve(doc).unwrap();
    let count: usize = get("COUNT", "131072").parse().unwrap();
    let pieces: Vec<(u32, u32)> = get("PIECES", "0:6,29:6,58:6").split(',').map(|p| { let (a, b) = p.split_once(':').unwrap(); (a.parse().unwrap(), b.parse().unwrap()) }).collect();
    let by_line = get("BYLINE", "0") == "1";
    let seed: u64 = get("SEED", "1").parse().unwrap();
    let verbose = get("V", "0") == "1";
    for h in get("H", "0,1,2,3,4").split(',').map(|h| h.parse::<u32>().unwrap()) {
        let t = std::time::Instant::now();
        let mut pages = Vec::new();
        for &(f, n) in &pieces { pages.extend(part(&chip, h, seed, f, n, count, by_line).0); }
        let n = pages.len() as f64;
        let stat = |f: &dyn Fn(&interpulse_cell::jobs::reprogram::Page) -> u64| (pages.iter().map(f).max().unwrap(), pages.iter().map(f).sum::<u64>() as f64 / n);
        let (dx, dm) = stat(&|p| p.dvo); let (ox, om) = stat(&|p| p.ovo);
        let want = [(889.,291.,6.,1.),(1428.,432.,10.,2.),(1851.,438.,46.,9.),(2096.,349.,234.,11.),(3000.,500.,2000.,200.)][h as usize];
        println!("h{h} dvo {dx} {dm:.1} ({:.2} {:.2})  ovo {ox} {om:.2} ({:.2} {:.2}) pages {n} {:.1}s", dx as f64/want.0, dm/want.1, ox as f64/want.2, om/want.3, t.elapsed().as_secs_f64());
        if verbose { for p in &pages { println!("   l{} w{} p{} {} {}", p.layer, p.word_line, p.page, p.dvo, p.ovo); } }
    }
}
