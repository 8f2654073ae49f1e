//! Prints windows.

use super::ViewNames;
use super::function::call_text;
use super::scope::{Place, Scope};
use crate::ast::{FrameBound, FrameOffset, Over, Window, WindowCall, WindowFrame};
use crate::quoting::quoted;

/// Prints a call with OVER. In MySQL, a blank is behind a window's parentheses.
pub(super) fn window_call(view_names: &ViewNames<'_>, call: &WindowCall, place: Place<'_>) -> Option<String> {
    let WindowCall { call, over } = call;
    let call = call_text(view_names, call, true, place)?;
    Some(match over {
        Over::Name(name) => format!("{call} OVER {}", quoted(name)),
        Over::Window(window) if view_names.of_mariadb && window.base.is_none() => {
            format!("{call} over {}", window_of_mariadb(view_names, window, place.scope)?)
        }
        Over::Window(window) => format!("{call} OVER {} ", window_text(view_names, window, place.scope)?),
    })
}

pub(super) fn window_text(view_names: &ViewNames<'_>, window: &Window, scope: &Scope<'_>) -> Option<String> {
    let Window { base, partition_by, order_by, frame } = window;
    let place = Place::within(scope);
    let mut text = "(".to_owned();
    if let Some(base) = base {
        text.push_str(&format!("{} ", quoted(base)));
    }
    if !partition_by.is_empty() {
        text.push_str(&format!("PARTITION BY {} ", view_names.list(partition_by, place)?));
    }
    for (at, item) in order_by.iter().enumerate() {
        text.push_str(if at == 0 { "ORDER BY " } else { "," });
        text.push_str(&view_names.expr(&item.expr, place)?);
        text.push_str(if item.descending { " desc" } else { "" });
    }
    text.push_str(if order_by.is_empty() { "" } else { " " });
    if let Some(WindowFrame { rows, start, end }) = frame {
        let word = if *rows { "ROWS" } else { "RANGE" };
        let (start, end) = (bound(view_names, start, place)?, bound(view_names, end, place)?);
        text.push_str(&format!("{word} BETWEEN {start} AND {end}"));
    }
    Some(text + ")")
}

/// Prints a window without another one's name as MariaDB does, with its blanks.
fn window_of_mariadb(view_names: &ViewNames<'_>, window: &Window, scope: &Scope<'_>) -> Option<String> {
    let Window { partition_by, order_by, frame, .. } = window;
    let place = Place::within(scope);
    let mut text = "(".to_owned();
    if !partition_by.is_empty() {
        text.push_str(&format!(" partition by {}", view_names.list(partition_by, place)?));
    }
    for (at, item) in order_by.iter().enumerate() {
        text.push_str(if at == 0 { " order by " } else { "," });
        text.push_str(&view_names.expr(&item.expr, place)?);
        text.push_str(if item.descending { " desc" } else { "" });
    }
    if let Some(WindowFrame { rows, start, end }) = frame {
        let word = if *rows { "rows" } else { "range" };
        let bounds = [start, end].map(|edge| bound_of_mariadb(view_names, edge, place));
        let [start, end] = bounds;
        text.push_str(&format!(" {word} between {} and {}", start?, end?));
    }
    Some(text + ")")
}

fn bound_of_mariadb(view_names: &ViewNames<'_>, bound: &FrameBound, place: Place<'_>) -> Option<String> {
    Some(match bound {
        FrameBound::UnboundedPreceding => " unbounded  preceding ".to_owned(),
        FrameBound::Preceding(offset) => format!("{} preceding ", offset_text(view_names, offset, place)?),
        FrameBound::CurrentRow => " current row ".to_owned(),
        FrameBound::Following(offset) => format!("{} following ", offset_text(view_names, offset, place)?),
        FrameBound::UnboundedFollowing => " unbounded  following ".to_owned(),
    })
}

fn bound(view_names: &ViewNames<'_>, bound: &FrameBound, place: Place<'_>) -> Option<String> {
    Some(match bound {
        FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
        FrameBound::Preceding(offset) => format!("{} PRECEDING", offset_text(view_names, offset, place)?),
        FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
        FrameBound::Following(offset) => format!("{} FOLLOWING", offset_text(view_names, offset, place)?),
        FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
    })
}

fn offset_text(view_names: &ViewNames<'_>, offset: &FrameOffset, place: Place<'_>) -> Option<String> {
    let amount = view_names.expr(&offset.amount, place)?;
    Some(match offset.unit {
        Some(unit) => format!("INTERVAL {amount} {} ", unit.name()),
        None => amount,
    })
}
