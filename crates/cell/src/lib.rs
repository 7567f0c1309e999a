//! Threshold voltages: the pulse trains and suspension schemes of `interpulse-flash` applied to real cells.
//!
//! Voltages are in steps of the scale of Cai et al., Proceedings of the IEEE 2017: 0 is ground, 512 the nominal maximum.
