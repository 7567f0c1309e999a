//! What a run can look into: a drive, or several.

use interpulse_array::array::Array;
use interpulse_drive::drive::Drive;
use interpulse_engine::Device;

/// A device whose insides are measured: a drive, or several.
pub trait Simulated: Device {
    /// The drives it consists of.
    fn drives(&self) -> &[Drive];
    /// The drives it consists of, to settle their accounts.
    fn drives_mut(&mut self) -> &mut [Drive];
}

impl Simulated for Drive {
    fn drives(&self) -> &[Drive] {
        std::slice::from_ref(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        std::slice::from_mut(self)
    }
}

impl Simulated for Array {
    fn drives(&self) -> &[Drive] {
        Array::drives(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        Array::drives_mut(self)
    }
}
