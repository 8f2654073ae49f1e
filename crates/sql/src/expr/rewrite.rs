//! Changing parts of an expression.

use super::{Expr, Node};

impl Expr {
    /// Calls `f` for all below this expression and then for itself.
    pub fn change(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.for_children_mut(&mut |child| child.change(f));
        f(self);
    }

    /// Calls `f` for this expression, and for those below it where it says that it has not put
    /// another one in its place.
    pub fn replace(&mut self, f: &mut dyn FnMut(&mut Expr) -> bool) {
        if !f(self) {
            self.for_children_mut(&mut |child| child.replace(f));
        }
    }

    fn for_children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.node {
            Node::Constant(_)
            | Node::HexLiteral(_)
            | Node::Parameter(_)
            | Node::Slot(_)
            | Node::Outer(_)
            | Node::UserVariable(_)
            | Node::SystemVariable { .. }
            | Node::InsertedValue(_) => {}
            Node::AssignVariable(_, operand)
            | Node::Not(operand)
            | Node::Negate(operand)
            | Node::BitNot(operand)
            | Node::Cast(operand)
            | Node::Recollate(operand)
            | Node::IsNull { operand, .. }
            | Node::IsTruth { operand, .. }
            | Node::Extract { operand, .. } => f(operand),
            Node::And(operands) | Node::Or(operands) | Node::Coalesce(operands) => {
                operands.iter_mut().for_each(f)
            }
            Node::CompareRows { pairs, .. } => pairs.iter_mut().for_each(f),
            Node::Xor(operands) => operands.iter_mut().for_each(f),
            Node::Compare { operands, .. }
            | Node::Arithmetic { operands, .. }
            | Node::Like { operands, .. }
            | Node::NullIf { operands, .. }
            | Node::DateAdd { operands, .. }
            | Node::TimestampDiff { operands, .. }
            | Node::Trim { operands, .. } => operands.iter_mut().for_each(f),
            Node::Between { operands, .. } => operands.iter_mut().for_each(f),
            Node::If(operands) => operands.iter_mut().for_each(f),
            Node::In { operand, list, .. } => {
                f(operand);
                list.iter_mut().for_each(f);
            }
            Node::Case { operand, whens, otherwise, .. } => {
                operand.iter_mut().for_each(|operand| f(operand));
                for (when, then) in whens {
                    f(when);
                    f(then);
                }
                otherwise.iter_mut().for_each(|otherwise| f(otherwise));
            }
            Node::Call { args, .. } | Node::Stored { args, .. } => args.iter_mut().for_each(f),
            Node::Subquery { call, .. } => call.args.iter_mut().for_each(f),
            Node::Quantified(quantified) => {
                quantified.operands.iter_mut().chain(&mut quantified.call.args).for_each(f);
            }
            Node::RowSubquery(compared) => {
                compared.operands.iter_mut().chain(&mut compared.call.args).for_each(f);
            }
            Node::MayEqual(equal) => equal.operands.iter_mut().for_each(f),
        }
    }
}
