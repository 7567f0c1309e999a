//! What a run drives: one drive, or several that share one virtual time.

use crate::drive::Drive;
use crate::drive::stats::WindowStats;
use crate::drive::verify::AuditReport;
use interpulse_engine::{Agenda, ResourceId, SimTime};

/// What can be run: a drive, or several that share one virtual time.
pub trait Simulated {
    /// The drives it consists of.
    fn drives(&self) -> &[Drive];
    /// The drives it consists of, to settle their accounts.
    fn drives_mut(&mut self) -> &mut [Drive];
    /// Arms the flows; called once, at time zero.
    fn start(&mut self, agenda: &mut Agenda);
    /// Handles the timer of `resource`.
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId);
    /// Requests of the host not completed; once closed, also whatever else must end before an audit.
    fn outstanding(&self) -> usize;
    /// Requests of the host completed since the start.
    fn completed(&self) -> u64;
    /// No flow will make another request.
    fn exhausted(&self) -> bool;
    /// Why it cannot go on, if it cannot.
    fn failure(&self) -> Option<&str>;
    /// Stops making requests; those outstanding go on.
    fn close(&mut self);
    /// Starts a new measurement window.
    fn reset_window(&mut self);
    /// Ends the measurement window and starts a new one.
    fn end_window(&mut self, now: SimTime) -> WindowStats;
    /// Checks, once all requests are done, that nothing was lost; see [`Drive::audit`].
    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String>;
    /// Describes a state in which requests are outstanding and nothing is going to happen.
    fn diagnosis(&self, agenda: &Agenda) -> String;
}

impl Simulated for Drive {
    fn drives(&self) -> &[Drive] {
        std::slice::from_ref(self)
    }
    fn drives_mut(&mut self) -> &mut [Drive] {
        std::slice::from_mut(self)
    }
    fn start(&mut self, agenda: &mut Agenda) {
        Drive::start(self, agenda);
    }
    #[inline]
    fn handle(&mut self, agenda: &mut Agenda, resource: ResourceId) {
        Drive::handle(self, agenda, resource);
    }
    #[inline]
    fn outstanding(&self) -> usize {
        Drive::outstanding(self)
    }
    #[inline]
    fn completed(&self) -> u64 {
        Drive::completed(self)
    }
    #[inline]
    fn exhausted(&self) -> bool {
        Drive::exhausted(self)
    }
    fn failure(&self) -> Option<&str> {
        Drive::failure(self)
    }
    fn close(&mut self) {
        Drive::close(self);
    }
    fn reset_window(&mut self) {
        Drive::reset_window(self);
    }
    fn end_window(&mut self, now: SimTime) -> WindowStats {
        Drive::end_window(self, now)
    }
    fn audit(&self, now: SimTime, stride: usize) -> Result<AuditReport, String> {
        Drive::audit(self, now, stride)
    }
    fn diagnosis(&self, agenda: &Agenda) -> String {
        Drive::diagnosis(self, agenda)
    }
}
