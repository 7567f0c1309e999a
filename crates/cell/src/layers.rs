//! Variation between layers of a 3D part: the etched hole is narrower at the bottom, where the field is stronger, so that
//! cells program faster and lose charge sooner (Luo et al., SIGMETRICS 2018).

use crate::preset_values::PresetValues;
use interpulse_settings::keys;

keys! {
    /// Differences of layers from the middle layer.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Layers, pub fn read(s) {
        /// lead of the bottom layer over the middle layer in programming, in steps of the staircase
        pub speed: f32 = number(0.0, 200.0),
        /// relative excess of retention loss and read disturb of the bottom layer
        pub stress: f32 = number(0.0, 0.9),
    }
}

impl Layers {
    /// Factor on retention and disturb at `height`, from -1 (bottom) to 1 (top).
    pub fn stress_at(&self, height: f64) -> f32 {
        1.0 - self.stress * height.clamp(-1.0, 1.0) as f32
    }
}

/// Height of a layer, from -1 (bottom, layer 0) to 1 (top); 0 for a planar part.
pub fn height(layer: u32, layers: u32) -> f64 {
    if layers < 2 { 0.0 } else { 2.0 * f64::from(layer) / f64::from(layers - 1) - 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coefficients::Coefficients;

    #[test]
    fn heights_span_the_stack() {
        assert_eq!([height(0, 64), height(63, 64), height(0, 1)], [-1.0, 1.0, 0.0]);
        assert!((height(32, 65)).abs() < 1e-12);
    }

    #[test]
    fn the_bottom_is_faster_and_more_stressed() {
        let of = Coefficients::preset("a4-tlc").expect("it is embedded");
        let (bottom, top) = (of.in_layer(-1.0), of.in_layer(1.0));
        assert!(bottom.ispp.start > of.ispp.start && of.ispp.start > top.ispp.start);
        assert!(of.layers.stress_at(-1.0) > 1.0 && of.layers.stress_at(1.0) < 1.0);
        assert_eq!(of.in_layer(0.0), of);
    }
}
