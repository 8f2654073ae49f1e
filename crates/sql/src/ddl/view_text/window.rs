//! Prints windows.

use super::ViewNames;
use super::scope::{Place, Scope};
use crate::ast::{FrameBound, FrameOffset, Over, Window, WindowCall, WindowFrame};
use crate::ddl::canonical::unit_name;
use crate::quoting::quoted;

impl ViewNames<'_> {
    /// Prints a call with OVER. As in MySQL, a blank is behind a window's parentheses.
    pub(super) fn window_call(&self, call: &WindowCall, place: Place<'_>) -> Option<String> {
        let WindowCall { call, over } = call;
        let call = self.call(call, true, place)?;
        Some(match over {
            Over::Name(name) => format!("{call} OVER {}", quoted(name)),
            Over::Window(window) => format!("{call} OVER {} ", self.window(window, place.scope)?),
        })
    }

    pub(super) fn window(&self, window: &Window, scope: &Scope<'_>) -> Option<String> {
        let Window { base, partition_by, order_by, frame } = window;
        let place = Place::within(scope);
        let mut text = "(".to_owned();
        if let Some(base) = base {
            text.push_str(&format!("{} ", quoted(base)));
        }
        if !partition_by.is_empty() {
            text.push_str(&format!("PARTITION BY {} ", self.list(partition_by, place)?));
        }
        for (at, item) in order_by.iter().enumerate() {
            text.push_str(if at == 0 { "ORDER BY " } else { "," });
            text.push_str(&self.expr(&item.expr, place)?);
            text.push_str(if item.descending { " desc" } else { "" });
        }
        text.push_str(if order_by.is_empty() { "" } else { " " });
        if let Some(WindowFrame { rows, start, end }) = frame {
            let word = if *rows { "ROWS" } else { "RANGE" };
            let (start, end) = (self.bound(start, place)?, self.bound(end, place)?);
            text.push_str(&format!("{word} BETWEEN {start} AND {end}"));
        }
        Some(text + ")")
    }

    fn bound(&self, bound: &FrameBound, place: Place<'_>) -> Option<String> {
        Some(match bound {
            FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
            FrameBound::Preceding(offset) => format!("{} PRECEDING", self.offset(offset, place)?),
            FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
            FrameBound::Following(offset) => format!("{} FOLLOWING", self.offset(offset, place)?),
            FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
        })
    }

    fn offset(&self, offset: &FrameOffset, place: Place<'_>) -> Option<String> {
        let amount = self.expr(&offset.amount, place)?;
        Some(match offset.unit {
            Some(unit) => format!("INTERVAL {amount} {} ", unit_name(unit)),
            None => amount,
        })
    }
}
