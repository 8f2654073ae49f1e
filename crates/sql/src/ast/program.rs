//! The body of a stored program in flat form: blocks, branches and loops are steps, and jumps
//! between them.
//!
//! The grammar (`parse/program`) builds it in one pass. Each variable is a slot of the frame that
//! the program runs in. In expressions it is the parameter with the number of the slot.

use super::{Expr, Statement, Target, TypeSpec};

/// The body of a stored program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    pub slots: Vec<Slot>,
    pub steps: Vec<Step>,
    pub scopes: Vec<ProgramScope>,
    pub handlers: Vec<Handler>,
    pub cursors: Vec<Cursor>,
}

/// A slot of the frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub name: String,
    pub kind: SlotKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SlotKind {
    /// A parameter or a variable of this type.
    Variable(TypeSpec),
    /// The operand of a CASE statement. Its type is known when it is computed.
    Operand,
    /// A column of a trigger's row.
    Column { new: bool },
}

/// A step, and the scope whose handlers apply to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub op: Op,
    pub scope: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Run(Box<InnerStatement>),
    /// `SET variable = value`, or the DEFAULT of a declaration.
    Assign {
        slot: usize,
        value: Expr,
    },
    Jump(usize),
    /// Jumps to `to` unless the condition is true. If evaluating it raises a condition with a
    /// CONTINUE handler, the program continues at `after`.
    JumpUnless {
        condition: Expr,
        to: usize,
        after: usize,
    },
    /// Reached when no WHEN of a CASE without ELSE is true.
    CaseNotFound,
    /// The end of a handler's statement.
    EndHandler(usize),
    Open(usize),
    Fetch {
        cursor: usize,
        into: Vec<usize>,
    },
    Close(usize),
    /// Closes the cursors from one number up to another, because their block is left.
    LeaveCursors {
        from: usize,
        to: usize,
    },
    Return(Expr),
}

/// A statement within a program.
#[derive(Debug, Clone, PartialEq)]
pub struct InnerStatement {
    pub statement: Statement,
    pub text: String,
    /// The places where the text names variables, in the order of the text.
    pub variables: Vec<NamedVariable>,
    /// The targets of `SELECT ... INTO`. Empty if the rows are a result set.
    pub into: Vec<Target>,
}

/// The name of a variable in a statement's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedVariable {
    pub start: usize,
    pub end: usize,
    pub slot: usize,
}

/// A block, or the statement of a handler.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramScope {
    pub parent: Option<usize>,
    pub is_handler: bool,
    pub handlers: Vec<usize>,
    pub variables: Vec<(String, usize)>,
    pub conditions: Vec<(String, ConditionValue)>,
    pub cursors: Vec<(String, usize)>,
}

/// A condition that a handler handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionValue {
    Code(u16),
    State([u8; 5]),
    Warning,
    NotFound,
    Exception,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    pub exits: bool,
    pub conditions: Vec<ConditionValue>,
    /// The block that declares the handler.
    pub scope: usize,
    /// The first step of the handler's statement.
    pub start: usize,
    /// The step at which the program continues after an EXIT handler: the end of the block.
    pub end_of_block: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub name: String,
    pub query: InnerStatement,
}

impl Program {
    /// Reports whether `scope` is `outer` or within it.
    pub fn is_within(&self, mut scope: usize, outer: usize) -> bool {
        loop {
            if scope == outer {
                return true;
            }
            match self.scopes[scope].parent {
                Some(parent) => scope = parent,
                None => return false,
            }
        }
    }

    /// Returns the statements of the program.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.steps.iter().filter_map(|step| match &step.op {
            Op::Run(inner) => Some(&inner.statement),
            _ => None,
        })
    }
}
