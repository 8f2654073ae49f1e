//! `replica_exec_mode`: what the applier does with a row event whose rows differ from the source's.

/// The value of `replica_exec_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecMode {
    /// The applier stops with an error.
    #[default]
    Strict,
    /// MySQL's IDEMPOTENT: an inserted row replaces the rows that have its keys. A change of a row
    /// that does not exist is left out, and so is an update to a key that another row has.
    Idempotent,
    /// Every event sets the state that it describes, whatever is here. This mode is for rows that
    /// were copied while the source worked, at later points of its history than the applier has
    /// reached (decision 0061). It needs whole row images.
    Converge,
}

impl ExecMode {
    /// Returns the mode of this name, in upper case. `None` means that there is none.
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
