//! The body of a stored program, flat: blocks, branches and loops are steps and jumps among them.
//!
//! The grammar (`parse/program`) makes it in one pass. Every name of a variable is a slot of the
//! frame that the program runs in, and stands in expressions as the parameter of that number.

use super::{Expr, Statement, Target, TypeSpec};

/// A stored program's body.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    pub slots: Vec<Slot>,
    pub steps: Vec<Step>,
    pub scopes: Vec<ProgramScope>,
    pub handlers: Vec<Handler>,
    pub cursors: Vec<Cursor>,
}

/// A place of the frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub name: String,
    pub kind: SlotKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SlotKind {
    /// A parameter or a variable, of this type.
    Variable(TypeSpec),
    /// The operand of a CASE statement, whose type is known when it is computed.
    Operand,
    /// A column of a trigger's row.
    Column { new: bool },
}

/// A step, and the scope whose handlers are its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub op: Op,
    pub scope: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Run(Box<InnerStatement>),
    /// `SET variable = value`, and a declaration's DEFAULT.
    Assign {
        slot: usize,
        value: Expr,
    },
    Jump(usize),
    /// A CONTINUE handler of what the condition raises goes on at `after`.
    JumpUnless {
        condition: Expr,
        to: usize,
        after: usize,
    },
    /// No WHEN of a CASE without ELSE was true.
    CaseNotFound,
    /// The end of a handler's statement.
    EndHandler(usize),
    Open(usize),
    Fetch {
        cursor: usize,
        into: Vec<usize>,
    },
    Close(usize),
    /// A block is left: its cursors, from one up to another, are closed.
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
    /// Where the text names variables, in its order.
    pub variables: Vec<NamedVariable>,
    /// `SELECT ... INTO`; none: its rows are a result set.
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

/// What a handler is for.
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
    /// The block that declares it.
    pub scope: usize,
    /// The first step of its statement.
    pub start: usize,
    /// Where an EXIT handler goes on: the end of the block.
    pub end_of_block: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub name: String,
    pub query: InnerStatement,
}

impl Program {
    /// Whether a scope is another one or within it.
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

    /// The statements in it.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.steps.iter().filter_map(|step| match &step.op {
            Op::Run(inner) => Some(&inner.statement),
            _ => None,
        })
    }
}
