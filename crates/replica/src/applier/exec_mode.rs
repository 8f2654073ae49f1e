//! `replica_exec_mode`: what becomes of a row event whose rows are not here as the source had them.

/// See the module's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecMode {
    /// The applier stops.
    #[default]
    Strict,
    /// As MySQL's IDEMPOTENT: a row that is to be inserted takes the place of those that have its
    /// keys, a row that is to be changed and is not there is left out, as is an update to a key
    /// that another row has.
    Idempotent,
    /// Every event sets what it is about, whatever is here: the mode for rows that were read while
    /// the source worked, at later points of its history than the applier has reached (decision
    /// 0061). It takes whole row images.
    Converge,
}

impl ExecMode {
    /// The mode of this name, in upper case; `None` for a name that is none.
    pub fn named(name: &str) -> Option<ExecMode> {
        match name {
            "STRICT" => Some(ExecMode::Strict),
            "IDEMPOTENT" => Some(ExecMode::Idempotent),
            "CONVERGE" => Some(ExecMode::Converge),
            _ => None,
        }
    }

    pub(super) fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn of_number(number: u8) -> ExecMode {
        match number {
            0 => ExecMode::Strict,
            1 => ExecMode::Idempotent,
            _ => ExecMode::Converge,
        }
    }
}
