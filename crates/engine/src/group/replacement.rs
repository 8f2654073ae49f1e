//! What the binary log has in place of parts of an event group.

/// The events that the binary log has in place of a part of the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The byte offset of the part in the group.
    pub at: usize,
    pub len: usize,
    /// The events, in the group's form. If there are none, the binary log has nothing there.
    pub events: Vec<u8>,
}
