//! The windows of a query while it is bound: their names, and the functions over them.

use crate::ast::{self, Window};
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node};
use crate::plan::WindowPlan;
use std::cell::RefCell;

/// The windows of a query, with the functions over them that have been found so far.
pub(crate) struct Windows<'q> {
    pub(super) named: &'q [(String, Window)],
    pub(super) plans: RefCell<Vec<WindowPlan>>,
    /// The slot of the first call's value.
    pub(super) first_slot: usize,
    pub(super) calls: std::cell::Cell<usize>,
    pub(super) most_calls: usize,
}

/// The name of a window without a name in messages.
pub(super) const UNNAMED: &str = "<unnamed window>";

/// Builds error 3593, which refuses a window function in this place.
pub(super) fn not_in_this_place(call: &ast::WindowCall) -> SqlError {
    let text = format!("You cannot use the window function '{}' in this context.'", call.call.name);
    SqlError::new(NOT_HERE, text)
}

pub(super) const NOT_HERE: u16 = 3593;

/// A window's definition, including what it inherits from the window that it extends.
pub(super) struct Resolved<'q> {
    pub name: &'q str,
    pub partition_by: &'q [ast::Expr],
    pub order_by: &'q [ast::OrderItem],
    pub frame: Option<&'q ast::WindowFrame>,
}

impl<'q> Windows<'q> {
    /// Creates the windows of a SELECT. The slots of its tables come before `first_slot`.
    ///
    /// # Errors
    /// Returns 3591 when a name is defined twice, 3579 when a window extends one that does not
    /// exist, and 3580 when windows extend each other in a circle.
    pub fn new(select: &'q ast::Select, first_slot: usize) -> Result<Windows<'q>> {
        let named = &select.windows[..];
        for (at, (name, window)) in named.iter().enumerate() {
            if named[..at].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                return Err(SqlError::new(3591, format!("Window '{name}' is defined twice.")));
            }
            if let Some(base) = &window.base {
                find(named, base)?;
            }
        }
        for (_, window) in named {
            let mut next = window.base.as_ref();
            let mut steps = 0;
            while let Some(base) = next {
                steps += 1;
                if steps > named.len() {
                    let text = "There is a circularity in the window dependency graph.";
                    return Err(SqlError::new(3580, text));
                }
                next = find(named, base)?.1.base.as_ref();
            }
        }
        Ok(Windows {
            named,
            plans: RefCell::default(),
            first_slot,
            calls: std::cell::Cell::new(0),
            most_calls: select.most_window_calls,
        })
    }

    /// Returns the slots of the values of the functions.
    pub fn slots(&self) -> std::ops::Range<usize> {
        self.first_slot..self.first_slot + self.most_calls
    }

    /// Reports whether an expression contains the value of a function over a window.
    pub fn are_in(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.visit(&mut |expr| {
            found |= matches!(expr.node, Node::Slot(slot) if self.slots().contains(&slot));
        });
        found
    }

    /// Returns the arguments of the function whose value is in this slot. `None` if the slot holds
    /// no function's value.
    pub fn args_of(&self, slot: usize) -> Option<Vec<Expr>> {
        let plans = self.plans.borrow();
        let function =
            plans.iter().flat_map(|window| &window.functions).find(|function| function.slot == slot)?;
        let mut args = Vec::new();
        function.visit(&mut |arg| args.push(arg.clone()));
        Some(args)
    }

    /// Calls `f` for each expression that defines a window, with the window's name and the
    /// expression's position in PARTITION BY or ORDER BY.
    pub fn each_definition(&self, f: &mut dyn FnMut(&str, usize, &Expr)) {
        for window in self.plans.borrow().iter() {
            let (partition, order) = window.keys.split_at(window.partition_keys);
            for keys in [partition, order] {
                keys.iter().enumerate().for_each(|(at, key)| f(&window.name, at, &key.expr));
            }
        }
    }

    /// Returns the windows for changing them.
    pub fn plans_mut(&mut self) -> &mut [WindowPlan] {
        self.plans.get_mut()
    }

    /// Returns the windows that are used.
    pub fn into_plans(self) -> Vec<WindowPlan> {
        let mut plans = self.plans.into_inner();
        plans.retain(|window| !window.functions.is_empty());
        plans
    }
}

pub(super) fn find<'q>(named: &'q [(String, Window)], name: &str) -> Result<&'q (String, Window)> {
    let found = named.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.ok_or_else(|| SqlError::new(3579, format!("Window name '{name}' is not defined.")))
}

/// Returns the definition of a window, including what it inherits from the windows that it extends.
pub(super) fn resolve<'q>(
    named: &'q [(String, Window)],
    name: &'q str,
    window: &'q Window,
) -> Result<Resolved<'q>> {
    let Window { base, partition_by, order_by, frame } = window;
    let (partition_by, order_by, frame) = (&partition_by[..], &order_by[..], frame.as_ref());
    let Some(base) = base else { return Ok(Resolved { name, partition_by, order_by, frame }) };
    let (base_name, base) = find(named, base)?;
    if !partition_by.is_empty() {
        let text = "A window which depends on another cannot define partitioning.";
        return Err(SqlError::new(3581, text));
    }
    if base.frame.is_some() {
        let text = format!(
            "Window '{base_name}' has a frame definition, so cannot be referenced by another window."
        );
        return Err(SqlError::new(3582, text));
    }
    // The recursion is at most as deep as there are named windows, because `Windows::new` refuses
    // circles.
    let inherited = resolve(named, base_name, base)?;
    if !order_by.is_empty() && !inherited.order_by.is_empty() {
        let text =
            format!("Window '{name}' cannot inherit '{base_name}' since both contain an ORDER BY clause.");
        return Err(SqlError::new(3583, text));
    }
    let order_by = if order_by.is_empty() { inherited.order_by } else { order_by };
    Ok(Resolved { name, partition_by: inherited.partition_by, order_by, frame })
}
