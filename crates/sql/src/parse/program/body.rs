//! The part of a body that has been read so far.

use crate::ast::Target;
use crate::ast::program::{NamedVariable, Program, ProgramScope, Slot, SlotKind};
use crate::error::{Result, SqlError};
use engine::{ObjectKind, TriggerEvent};

/// The object that the body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub kind: ObjectKind,
    /// The event of a trigger, and whether the trigger runs before it.
    pub trigger: Option<(TriggerEvent, bool)>,
}

/// A label that statements may name.
pub(super) struct Label {
    pub(super) name: String,
    /// The step to which ITERATE jumps. `None` for a block.
    pub(super) start: Option<usize>,
    /// The number of the first cursor that is declared within the labelled block or loop.
    pub(super) cursors: usize,
    /// The jumps of LEAVE, whose target is the end of the block or loop.
    pub(super) leaves: Vec<usize>,
}

/// The part of a body that has been read so far, and the state of reading it.
pub(in crate::parse) struct Body {
    pub(super) kind: ObjectKind,
    pub(super) trigger: Option<(TriggerEvent, bool)>,
    pub(super) program: Program,
    /// The scope of the present block.
    pub(super) scope: usize,
    pub(super) labels: Vec<Label>,
    /// The first label that may be named. The labels around a handler may not.
    pub(super) first_label: usize,
    /// The variables that the present statement names.
    pub(super) variables: Vec<NamedVariable>,
    pub(super) into: Vec<Target>,
}

impl Body {
    pub(super) fn new(owner: &Owner) -> Body {
        let scopes = vec![ProgramScope::default()];
        Body {
            kind: owner.kind,
            trigger: owner.trigger,
            program: Program { scopes, ..Program::default() },
            scope: 0,
            labels: Vec::new(),
            first_label: 0,
            variables: Vec::new(),
            into: Vec::new(),
        }
    }

    /// Adds a slot and returns its number.
    pub(super) fn add_slot(&mut self, name: &str, kind: SlotKind) -> usize {
        self.program.slots.push(Slot { name: name.to_owned(), kind });
        self.program.slots.len() - 1
    }

    /// Returns what a name means in the present scope.
    pub(super) fn find<T: Clone>(
        &self,
        of: impl Fn(&ProgramScope) -> &Vec<(String, T)>,
        name: &str,
    ) -> Option<T> {
        let mut at = Some(self.scope);
        while let Some(scope) = at.map(|at| &self.program.scopes[at]) {
            let found = of(scope).iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name));
            if let Some((_, found)) = found {
                return Some(found.clone());
            }
            at = scope.parent;
        }
        None
    }

    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        self.find(|scope| &scope.variables, name)
    }

    /// Returns the slot of a column of a trigger's row.
    pub(super) fn column(&mut self, new: bool, name: &str) -> usize {
        let is_it =
            |slot: &Slot| slot.kind == SlotKind::Column { new } && slot.name.eq_ignore_ascii_case(name);
        match self.program.slots.iter().position(is_it) {
            Some(slot) => slot,
            None => self.add_slot(name, SlotKind::Column { new }),
        }
    }

    /// Returns error 1363 if the trigger's event has no such row.
    pub(super) fn check_row(&self, new: bool) -> Result<()> {
        let (row, event) = match self.trigger {
            Some((event @ TriggerEvent::Insert, _)) if !new => ("OLD", event),
            Some((event @ TriggerEvent::Delete, _)) if new => ("NEW", event),
            _ => return Ok(()),
        };
        Err(SqlError::new(1363, format!("There is no {row} row in on {} trigger", event.word())))
    }
}
