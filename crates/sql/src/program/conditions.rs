//! Finds the handler for a condition: the most specific one of the block that raised it, else of
//! the blocks around it.

use crate::ast::program::{ConditionValue, Handler, Program};
use crate::expr::{Level, Warning};

/// Returns how specific a handler is for the condition, where a smaller number is more specific.
/// `None` means that the handler is not for it.
fn rank(handler: &Handler, condition: &Warning) -> Option<u8> {
    let class = &condition.state[..2];
    let of = |value: &ConditionValue| match value {
        ConditionValue::Code(code) => (*code == condition.code).then_some(0),
        ConditionValue::State(state) => (*state == condition.state).then_some(1),
        ConditionValue::Warning => (class == b"01" || condition.level == Level::Warning).then_some(2),
        ConditionValue::NotFound => (class == b"02").then_some(2),
        ConditionValue::Exception => {
            let is_exception = !matches!(class, b"00" | b"01" | b"02");
            (is_exception && condition.level == Level::Error).then_some(2)
        }
    };
    handler.conditions.iter().filter_map(of).min()
}

/// Returns the handler for a condition that a step of this scope has raised. A handler's own
/// statements are outside of the block that declares it.
pub(crate) fn handler_for(program: &Program, scope: usize, condition: &Warning) -> Option<usize> {
    let mut at = Some(scope);
    while let Some(scope) = at {
        let known = &program.scopes[scope];
        let ranked = known
            .handlers
            .iter()
            .filter_map(|number| Some((rank(&program.handlers[*number], condition)?, *number)));
        if let Some((_, number)) = ranked.min_by_key(|(rank, _)| *rank) {
            return Some(number);
        }
        at = known.parent;
        if known.is_handler {
            // The handlers of the block that declares this handler do not apply within it.
            at = at.and_then(|block| program.scopes[block].parent);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::program::ProgramScope;

    fn handler(conditions: &[ConditionValue]) -> Handler {
        let conditions = conditions.to_vec();
        Handler { exits: false, conditions, scope: 0, start: 0, end_of_block: 0 }
    }

    #[test]
    fn the_most_specific_handler_of_the_nearest_block_is_found() {
        let handlers = vec![
            handler(&[ConditionValue::Exception]),
            handler(&[ConditionValue::State(*b"23000")]),
            handler(&[ConditionValue::Code(1062)]),
            handler(&[ConditionValue::Warning, ConditionValue::NotFound]),
        ];
        let scope = |parent, handlers: &[usize], is_handler| ProgramScope {
            parent,
            is_handler,
            handlers: handlers.to_vec(),
            ..ProgramScope::default()
        };
        let scopes = vec![
            scope(None, &[0], false),
            scope(Some(0), &[1, 2, 3], false),
            scope(Some(1), &[], true),
            scope(Some(2), &[], false),
        ];
        let program = Program { handlers, scopes, ..Program::default() };
        let raised = |code, level| Warning::new(level, code, "");
        let found = |scope, code| handler_for(&program, scope, &raised(code, Level::Error));
        assert_eq!(found(1, 1062), Some(2), "by number before by state");
        assert_eq!(found(1, 1048), Some(1), "by state before by class");
        assert_eq!(found(1, 1146), Some(0), "of the block around");
        assert_eq!(found(1, 1329), Some(3), "no data is no exception");
        assert_eq!(found(3, 1062), Some(0), "a handler's statement is outside of its block");
        assert_eq!(handler_for(&program, 1, &raised(1265, Level::Warning)), Some(3));
        assert_eq!(handler_for(&program, 0, &raised(1265, Level::Warning)), None);
    }
}
