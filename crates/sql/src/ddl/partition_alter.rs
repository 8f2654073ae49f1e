//! Alterations of partitions by ALTER TABLE: the new partitioning, and the rows that are removed.

use super::partition::{Maker, must_be_defined, name_subpartitions, unnamed};
use super::partition_history::with_named;
use super::partition_rows::{PartitionPlace, condition_of_any, named, unknown_partition};
use crate::ast::{PartitionAlteration, PartitionElement, PartitionNames};
use crate::error::{Result, SqlError};
use engine::{Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning, TableDef};
use types::TypeCode;

/// The result of altering partitions.
pub(super) struct Repartitioned {
    pub partitioning: Option<Partitioning>,
    /// The condition of the rows that are removed.
    pub goes: Option<String>,
    /// Whether these rows can be told at any later time, so that they need not be removed now.
    pub goes_at_once: bool,
    /// Whether rows may belong to no partition of the new partitioning, so that they have to be
    /// checked.
    pub checks_rows: bool,
    /// Whether the client is told the number of rows.
    pub tells_records: bool,
}

impl Repartitioned {
    fn kept(partitioning: Partitioning) -> Repartitioned {
        Repartitioned {
            partitioning: Some(partitioning),
            goes: None,
            goes_at_once: false,
            checks_rows: false,
            tells_records: true,
        }
    }
}

/// Builds error 1507, for names of partitions that the table does not have.
fn error_in_list(what: &str) -> SqlError {
    SqlError::new(1507, format!("Error in list of partitions to {what}"))
}

/// Builds error 1508 (`ER_DROP_LAST_PARTITION`), for an alteration that would remove all
/// partitions.
fn removes_all() -> SqlError {
    SqlError::new(1508, "Cannot remove all partitions, use DROP TABLE instead")
}

impl Maker<'_> {
    /// Alters the partitions of `def`, whose columns and keys have been altered already.
    ///
    /// # Errors
    /// Returns 1505 for a table that is not partitioned, and MySQL's error for what it refuses.
    pub fn altered(&self, def: &TableDef, alteration: &PartitionAlteration) -> Result<Repartitioned> {
        if let PartitionAlteration::By(spec) = alteration {
            let made = self.partitioning(def, spec)?;
            return Ok(Repartitioned { checks_rows: made.leaves_rows_out(), ..Repartitioned::kept(made) });
        }
        let Some(old) = &def.partitioning else {
            let text = "Partition management on a not partitioned table is not possible";
            return Err(SqlError::new(1505, text));
        };
        let altered = match alteration {
            PartitionAlteration::By(_) | PartitionAlteration::Remove => {
                return Ok(Repartitioned { partitioning: None, ..Repartitioned::kept(old.clone()) });
            }
            PartitionAlteration::Add(elements) => Repartitioned::kept(self.added(def, old, elements)?),
            PartitionAlteration::AddCount(count) => {
                let mut made = added_unnamed(old, *count)?;
                self.note_added(def, old, &mut made)?;
                Repartitioned::kept(made)
            }
            PartitionAlteration::Drop(names) => self.dropped(def, old, names)?,
            PartitionAlteration::Truncate(names) => self.truncated(def, old, names)?,
            PartitionAlteration::Coalesce(count) => Repartitioned::kept(coalesced(old, *count)?),
            PartitionAlteration::Reorganize(names, into) => self.reorganized(def, old, names, into)?,
            PartitionAlteration::Conditional(alteration) => match alteration.as_ref() {
                PartitionAlteration::Add(new) if new.iter().any(|one| old.partition(&one.name).is_some()) => {
                    Repartitioned::kept(old.clone())
                }
                PartitionAlteration::Drop(names) => {
                    let there = names.iter().filter(|name| old.partition(name).is_some());
                    match there.cloned().collect::<Vec<_>>() {
                        none if none.is_empty() => Repartitioned::kept(old.clone()),
                        there => self.dropped(def, old, &there)?,
                    }
                }
                other => return self.altered(def, other),
            },
            // EXCHANGE stands alone in its statement and changes no definition.
            PartitionAlteration::Exchange { .. } => Repartitioned::kept(old.clone()),
            // The conversions of a source's statement are carried out as other statements.
            PartitionAlteration::ToTable { .. } | PartitionAlteration::FromTable { .. } => {
                return Err(SqlError::not_supported("CONVERT PARTITION here"));
            }
            PartitionAlteration::Rebuild(names) => {
                named_ones(def, old, names)?;
                Repartitioned::kept(old.clone())
            }
        };
        if let Some(made) = &altered.partitioning {
            self.check(def, made)?;
        }
        let goes_at_once = altered.goes.is_some() && tells_rows_later(def, old);
        Ok(Repartitioned { goes_at_once, ..altered })
    }

    fn added(
        &self,
        def: &TableDef,
        old: &Partitioning,
        elements: &[PartitionElement],
    ) -> Result<Partitioning> {
        let mut made = old.clone();
        made.form = PartitionForm::List;
        // The last partition by SYSTEM_TIME is the one for current rows and stays the last.
        let behind = usize::from(old.by.kind == PartitionKind::SystemTime);
        let place = made.partitions.len() - behind;
        made.partitions.splice(place..place, self.partitions(def, &old.by, elements)?);
        name_subpartitions(&mut made, subpartitions(old));
        self.note_added(def, old, &mut made)?;
        Ok(made)
    }

    /// Notes in `made`, which has more partitions of history than `old`, which rows are in the last
    /// one of `old`.
    fn note_added(&self, def: &TableDef, old: &Partitioning, made: &mut Partitioning) -> Result<()> {
        match old.by.kind {
            PartitionKind::SystemTime => {
                self.keep_history(old, &self.history(def, old)?, made, &[], false);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn dropped(&self, def: &TableDef, old: &Partitioning, names: &[String]) -> Result<Repartitioned> {
        if is_hashed(old) {
            return Err(SqlError::new(1512, "DROP PARTITION can only be used on RANGE/LIST partitions"));
        }
        let old = &with_named(old, names);
        let (mut made, spans) = (old.clone(), self.history(def, old)?);
        let (mut goes, mut emptied) = (Vec::with_capacity(names.len()), Vec::new());
        for name in names {
            let at = old.partition(name).ok_or_else(|| error_in_list("DROP"))?;
            goes.push(self.condition(def, old, (at, None), &spans)?);
            made.partitions.retain(|partition| !partition.name.eq_ignore_ascii_case(name));
            emptied.push(at);
        }
        if made.partitions.is_empty() {
            return Err(removes_all());
        }
        if old.by.kind == PartitionKind::SystemTime {
            self.keep_history(old, &spans, &mut made, &emptied, true);
        }
        made.form = PartitionForm::List;
        Ok(Repartitioned { goes: Some(goes.join(" OR ")), ..Repartitioned::kept(made) })
    }

    fn truncated(&self, def: &TableDef, old: &Partitioning, names: &PartitionNames) -> Result<Repartitioned> {
        let old = &match names {
            PartitionNames::Of(names) => with_named(old, names),
            PartitionNames::All => old.clone(),
        };
        let spans = self.history(def, old)?;
        let mut emptied: Vec<usize> = (0..old.partitions.len()).collect();
        let goes = match named_ones(def, old, names)? {
            None => "(1 = 1)".to_owned(),
            Some(places) => {
                emptied = places.iter().map(|(at, _)| *at).collect();
                let conditions = places.into_iter().map(|place| self.condition(def, old, place, &spans));
                conditions.collect::<Result<Vec<_>>>()?.join(" OR ")
            }
        };
        let mut made = old.clone();
        if old.by.kind == PartitionKind::SystemTime {
            self.keep_history(old, &spans, &mut made, &emptied, false);
        }
        Ok(Repartitioned { goes: Some(goes), tells_records: false, ..Repartitioned::kept(made) })
    }

    fn reorganized(
        &self,
        def: &TableDef,
        old: &Partitioning,
        names: &[String],
        into: &[PartitionElement],
    ) -> Result<Repartitioned> {
        let mut made = old.clone();
        let Some(first) = names.first() else {
            if !is_hashed(old) {
                let text = "REORGANIZE PARTITION without parameters can only be used on auto-partitioned tables using \
                            HASH PARTITIONs";
                return if self.settings.replicated {
                    Ok(Repartitioned::kept(made))
                } else {
                    Err(SqlError::new(1511, text))
                };
            }
            // MySQL goes back to the number of partitions that a table has by default.
            made.partitions.truncate(1);
            return Ok(Repartitioned::kept(made));
        };
        let wrong = || error_in_list("REORGANIZE");
        let begin = old.partition(first).ok_or_else(wrong)?;
        for (at, name) in names.iter().enumerate() {
            if old.partition(name) != Some(begin + at) {
                let text = "When reorganizing a set of partitions they must be in consecutive order";
                return Err(if old.partition(name).is_some() { SqlError::new(1519, text) } else { wrong() });
            }
        }
        let new = self.partitions(def, &old.by, into)?;
        let end = begin + names.len();
        let bound = |partition: Option<&Partition>| partition.and_then(|p| p.values.first().cloned());
        let is_last = end == old.partitions.len();
        let keeps_end = bound(new.last()) == bound(old.partitions.get(end - 1));
        if old.by.kind == PartitionKind::Range && !is_last && !keeps_end && !self.settings.replicated {
            let text = "Reorganize of range partitions cannot change total ranges except for last partition where it can \
                 extend the range";
            return Err(SqlError::new(1520, text));
        }
        made.form = PartitionForm::List;
        made.partitions.splice(begin..end, new);
        name_subpartitions(&mut made, subpartitions(old));
        // MySQL copies the rows of these partitions to those that they belong to now. Rows that
        // belong to none are removed.
        let mut goes = None;
        if let (false, Some(any)) = (keeps_end, condition_of_any(&made)) {
            goes = Some(format!("NOT {any}"));
        }
        Ok(Repartitioned { goes, ..Repartitioned::kept(made) })
    }
}

/// Reports whether the condition of a partition means the same rows at any time and in any time
/// zone, and can be computed here. The partitions of SYSTEM_TIME are told by what the table has at
/// a moment, and the bounds of a TIMESTAMP column by the zone of whoever compares.
fn tells_rows_later(def: &TableDef, of: &Partitioning) -> bool {
    let functions = || [Some(&of.by), of.sub.as_ref().map(|(function, _)| function)].into_iter().flatten();
    let is_timestamp = |name: &String| {
        let column = def.column(name).map(|at| &def.columns[at].ty);
        column.is_none_or(|ty| matches!(ty.code, TypeCode::Timestamp | TypeCode::Timestamp2))
    };
    let tells = |function: &PartitionFunction| match function.kind {
        PartitionKind::Range | PartitionKind::List => !function.columns.iter().any(is_timestamp),
        PartitionKind::Hash => true,
        PartitionKind::Key => def.columns.iter().all(|column| crate::expr::is_hashed_by_key(&column.ty)),
        PartitionKind::SystemTime => false,
    };
    functions().all(tells)
}

/// Returns how many subpartitions each partition has.
fn subpartitions(of: &Partitioning) -> u64 {
    of.partitions.first().map_or(0, |first| first.subpartitions.len() as u64)
}

fn is_hashed(of: &Partitioning) -> bool {
    matches!(of.by.kind, PartitionKind::Hash | PartitionKind::Key)
}

fn added_unnamed(old: &Partitioning, count: u64) -> Result<Partitioning> {
    if old.by.kind == PartitionKind::SystemTime {
        let mut made = old.clone();
        let last = made.partitions.len() - 1;
        let mut new = unnamed(last, count);
        new.iter_mut().for_each(|partition| partition.values = vec![vec!["HISTORY".to_owned()]]);
        made.partitions.splice(last..last, new);
        return Ok(made);
    }
    if !is_hashed(old) {
        return Err(must_be_defined(old.by.kind));
    }
    if count > crate::parse::partition::MOST_PARTITIONS {
        return Err(crate::parse::partition::too_many());
    }
    let mut made = old.clone();
    if made.form == PartitionForm::Unsaid {
        made.form = PartitionForm::Count;
    }
    made.partitions.extend(unnamed(old.partitions.len(), count));
    name_subpartitions(&mut made, subpartitions(old));
    Ok(made)
}

fn coalesced(old: &Partitioning, count: u64) -> Result<Partitioning> {
    if !is_hashed(old) {
        return Err(SqlError::new(1509, "COALESCE PARTITION can only be used on HASH/KEY partitions"));
    }
    if count == 0 {
        return Err(SqlError::new(1515, "At least one partition must be coalesced"));
    }
    if count >= old.partitions.len() as u64 {
        return Err(removes_all());
    }
    let mut made = old.clone();
    made.partitions.truncate(old.partitions.len() - count as usize);
    Ok(made)
}

/// Returns the partitions and subpartitions with these names, or `None` for all.
fn named_ones(
    def: &TableDef,
    of: &Partitioning,
    names: &PartitionNames,
) -> Result<Option<Vec<PartitionPlace>>> {
    let PartitionNames::Of(names) = names else { return Ok(None) };
    let place = |name: &String| named(of, name).ok_or_else(|| unknown_partition(name, &def.name));
    names.iter().map(place).collect::<Result<Vec<_>>>().map(Some)
}
