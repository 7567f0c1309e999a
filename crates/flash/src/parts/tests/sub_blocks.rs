//! Tests of parts with sub-blocks: their geometry, erase time, what is refused.

use crate::parts::{PartSpec, SubBlocks, layered};
use interpulse_settings::Document;

/// The part `a4-tlc` with these lines, or the message that refuses it.
fn with(lines: &str) -> Result<PartSpec, String> {
    let file = Document::from_toml(&format!("[part]\npreset = \"a4-tlc\"\n{lines}"), "x.toml").unwrap();
    let document = layered(file).unwrap();
    let read = |part: &mut _| PartSpec::read(part);
    let part = read(&mut document.section("part").unwrap()).map_err(|error| error.to_string())?;
    document.finish().map_err(|error| error.to_string())?;
    Ok(part)
}

#[test]
fn sub_blocks_are_the_blocks_of_the_part() {
    let whole = with("").unwrap();
    assert_eq!(whole.sub_blocks, SubBlocks::ONE);
    // 85 layers of one word line each.
    for count in [5, 17] {
        let part = with(&format!("sub-blocks = {count}")).unwrap();
        assert_eq!(part.blocks_per_plane, whole.blocks_per_plane * count);
        assert_eq!(part.usable_pages() * count, whole.usable_pages());
        assert_eq!(part.layers * count, whole.layers);
        assert_eq!((part.erase, part.sub_blocks.count), (whole.erase, count));
    }
    let part =
        with("sub-blocks = 5\nsub-block-erase-loops = 3\nsub-block-wear = 0.25\nsub-block-disturb = 500")
            .unwrap();
    assert_eq!(part.erase, crate::parts::TrainSpec { loops: 3, ..whole.erase });
    assert_eq!((part.sub_blocks.wear_ppm(), part.sub_blocks.spec.disturb), (250_000, 500));
}

#[test]
fn what_sub_blocks_do_not_divide_is_refused() {
    let refused = |lines: &str| with(lines).expect_err(lines);
    assert!(refused("sub-blocks = 65").contains("from 1 to 64"), "{}", refused("sub-blocks = 65"));
    let layers = refused("sub-blocks = 2");
    assert!(layers.contains("2 sub-blocks of whole layers do not divide 85 layers"), "{layers}");
    let lines = refused("sub-blocks = 2\nlayers = 2\npages-per-block = 15");
    assert!(lines.contains("2 sub-blocks do not divide the 5 word lines of a block"), "{lines}");
    let many = refused("sub-blocks = 5\nblocks-per-plane = 300000");
    assert!(many.contains("at most 1048576 blocks or sub-blocks"), "{many}");
    let alone = refused("sub-block-wear = 0.1");
    assert!(alone.contains("it belongs to sub-blocks above 1"), "{alone}");
}
