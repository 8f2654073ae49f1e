//! Access by SPATIAL indexes: the conditions that only geometries meet whose boxes meet the box of
//! a known geometry.

use super::{KeyCondition, Known};
use crate::expr::{Expr, Node};
use engine::{EntryRule, IndexRef, KeptKind};
use types::TypeCode;
use types::cells::Surface;

/// The functions that hold only for geometries whose boxes meet.
const NEAR: [&str; 15] = [
    "mbrcontains",
    "mbrcoveredby",
    "mbrcovers",
    "mbrequals",
    "mbrintersects",
    "mbroverlaps",
    "mbrtouches",
    "mbrwithin",
    "st_contains",
    "st_crosses",
    "st_equals",
    "st_intersects",
    "st_overlaps",
    "st_touches",
    "st_within",
];

/// The spatial reference systems that functions know: the plane, Web Mercator and WGS 84.
const KNOWN: [u32; 3] = [0, 3857, 4326];

impl Known<'_> {
    /// Returns the condition by which the entries of a SPATIAL index lead to the rows that meet the
    /// conjuncts. `None` for other indexes, and where there is no such condition. As in MySQL, the
    /// column must have an SRID, because geometries of different systems cannot be compared.
    pub(super) fn near(&self, index: IndexRef, conjuncts: &[Expr]) -> Option<KeyCondition> {
        let def = &self.table.def;
        let kept = (0..def.kept_indexes.len()).find(|kept| def.entries_of(*kept) == Some(index))?;
        let kept = &def.kept_indexes[kept];
        let (KeptKind::Spatial { .. }, Some(columns)) = (&kept.kind, def.kept_columns(kept)) else {
            return None;
        };
        let &[column] = &columns[..] else { return None };
        let ty = self.table.column_type(column);
        let is_known = ty.srid().is_some_and(|srid| KNOWN.contains(&srid));
        // An index of an earlier version has cells of the plane on the globe, too.
        let rule = EntryRule::Cells(Surface::of(ty.srid()));
        let fits = kept.entries.as_ref().is_some_and(|entries| entries.rule == rule);
        if ty.code != TypeCode::Geometry || !is_known || !fits {
            return None;
        }
        let other = conjuncts.iter().find_map(|condition| self.compared_with(column, condition))?;
        Some(KeyCondition { near: Some(other.clone()), ..KeyCondition::default() })
    }

    /// Returns the geometry whose box meets that of the column in each row which meets a condition.
    fn compared_with<'e>(&self, column: usize, condition: &'e Expr) -> Option<&'e Expr> {
        let Node::Call { function, args } = &condition.node else { return None };
        let ([first, second], true) = (&args[..], NEAR.contains(&function.name)) else { return None };
        let other = match (self.column(first), self.column(second)) {
            (Some(own), _) if own == column => second,
            (_, Some(own)) if own == column => first,
            _ => return None,
        };
        self.is_computable(other).then_some(other)
    }
}
