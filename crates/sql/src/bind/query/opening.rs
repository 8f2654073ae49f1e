//! The query of a view that is opened: one that a statement changes, or whose rows it locks.

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
    /// Whether a view with this query and these columns can be opened.
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

    /// How the rows of its tables are locked where it is computed by itself.
    pub(super) fn row_lock(self) -> RowLock {
        let mode = match self.table_use {
            TableUse::Share => LockMode::Share,
            TableUse::Lock => LockMode::Update,
            _ => return RowLock::NONE,
        };
        RowLock { mode, on_locked: OnLocked::Wait }
    }

    /// The conditions of the view's own query, where CHECK OPTION asks them: before those of views
    /// within it are added.
    ///
    /// # Errors
    /// As [`Binder::may_make`].
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

    /// What is asked of a row that is put through the view: `own` is what
    /// [`Opening::own_conditions`] has given, and the rest is as it is now that the views within it
    /// are part of it.
    ///
    /// # Errors
    /// As [`Binder::may_make`].
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

/// Copies of WHERE and of every ON.
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
