//! The query of an opened view, which is a view that a statement changes or whose rows it locks.

use super::joined_tables::From;
use super::merge::Merged;
use crate::ast;
use crate::bind::Binder;
use crate::bind::table_use::{Check, Opening, TableUse};
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::plan::{JoinTree, RowLock};
use engine::{LockMode, OnLocked};

impl Opening {
    /// Reports whether a view with this query and these columns can be opened.
    pub(super) fn suits(self, select: &ast::Select, outputs: &[Expr]) -> bool {
        let has_subquery = |output: &Expr| {
            let mut found = false;
            output.visit(&mut |part| {
                found |=
                    matches!(part.node, Node::Subquery { .. } | Node::Quantified(_) | Node::RowSubquery(_));
            });
            found
        };
        !self.stays_closed && !select.distinct && (self.wants_merge || !outputs.iter().any(has_subquery))
    }

    /// Returns how the rows of the view's tables are locked if the view is computed by itself.
    pub(super) fn row_lock(self) -> RowLock {
        let mode = match self.table_use {
            TableUse::Share => LockMode::Share,
            TableUse::Lock => LockMode::Update,
            _ => return RowLock::NONE,
        };
        RowLock { mode, on_locked: OnLocked::Wait }
    }

    /// Returns the conditions of the view's own query if LOCAL CHECK OPTION demands them. It is
    /// called before the conditions of the views within it are added.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub(super) fn own_conditions(
        self,
        binder: &mut Binder<'_>,
        from: &From,
        filter: &[Expr],
    ) -> Result<Vec<Expr>> {
        match self.check {
            Some(Check::Local) => all_conditions(binder, from, filter),
            Some(Check::Cascaded) | None => Ok(Vec::new()),
        }
    }

    /// Returns the conditions that a row must meet to be written through the view. `own` is the
    /// result of [`Opening::own_conditions`]. `from` and `filter` already contain the views within
    /// this one.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub(super) fn checks(
        self,
        binder: &mut Binder<'_>,
        mut own: Vec<Expr>,
        merged: &Merged,
        (from, filter): (&From, &[Expr]),
    ) -> Result<Vec<Expr>> {
        if self.check == Some(Check::Cascaded) {
            return all_conditions(binder, from, filter);
        }
        merged.expand_all(binder, own.iter_mut())?;
        for (_, check) in &merged.checks {
            own.push(binder.copied(check)?);
        }
        Ok(own)
    }
}

/// Returns copies of WHERE and of every ON.
fn all_conditions(binder: &mut Binder<'_>, from: &From, filter: &[Expr]) -> Result<Vec<Expr>> {
    let mut found: Vec<&Expr> = filter.iter().collect();
    let mut trees: Vec<&JoinTree> = from.tree.iter().collect();
    while let Some(tree) = trees.pop() {
        if let JoinTree::Join { left, right, on, .. } = tree {
            found.extend(on);
            trees.extend([&**left, &**right]);
        }
    }
    found.into_iter().map(|condition| binder.copied(condition)).collect()
}
