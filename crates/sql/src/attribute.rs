//! The names under which the dictionary keeps the parts of a table, view, trigger, routine or
//! event.
//!
//! They are in the files of existing servers: a name that is changed is a part that is lost.

/// `UNDEFINED`, `MERGE`, `TEMPTABLE`
pub(crate) const ALGORITHM: &str = "algorithm";
/// `DEFINER`, `INVOKER`
pub(crate) const SECURITY: &str = "security";
/// Names in backticks, with commas.
pub(crate) const COLUMNS: &str = "columns";
/// Names of the view's columns, one a line; not there where the query is kept as written.
pub(crate) const NAMES: &str = "names";
/// The query with every schema, which information_schema shows.
pub(crate) const QUALIFIED: &str = "qualified";
/// The schema of names without one in the query, where it is not the view's.
pub(crate) const CURRENT: &str = "current";
/// `LOCAL`, `CASCADED`
pub(crate) const CHECK: &str = "check";
/// One of the two that follow; it is not there where no row may be changed through the view.
pub(crate) const UPDATABLE: &str = "updatable";
/// The values of [`UPDATABLE`]: a view some column of which is a table's, and one whose columns are
/// all computed, but whose rows are a table's: MySQL calls it not updatable, and deletes them.
pub(crate) const HAS_COLUMNS: &str = "YES";
pub(crate) const HAS_ROWS: &str = "ROWS";
/// What MariaDB shows of a trigger in front of its statement.
pub(crate) const HEAD: &str = "head";
/// Of it, what stands in front of the table's name.
pub(crate) const LEAD: &str = "lead";
/// What stands in a routine's parentheses.
pub(crate) const PARAMETERS: &str = "parameters";
/// A function's type.
pub(crate) const RETURNS: &str = "returns";
/// `YES`
pub(crate) const AGGREGATE: &str = "aggregate";
/// `YES`, `NO`
pub(crate) const DETERMINISTIC: &str = "deterministic";
/// `NO SQL` and so on.
pub(crate) const ACCESS: &str = "access";
pub(crate) const COMMENT: &str = "comment";
/// The moment of an event that happens once, in its time zone.
pub(crate) const AT: &str = "at";
/// Of an event that recurs: every so many of the unit.
pub(crate) const AMOUNT: &str = "amount";
pub(crate) const UNIT: &str = "unit";
pub(crate) const STARTS: &str = "starts";
pub(crate) const ENDS: &str = "ends";
/// `PRESERVE`, `NOT PRESERVE`
pub(crate) const COMPLETION: &str = "completion";
/// `ENABLED`, `DISABLED`, `REPLICA`
pub(crate) const STATUS: &str = "status";
/// Server id.
pub(crate) const ORIGINATOR: &str = "originator";
pub(crate) const TIME_ZONE: &str = "time_zone";
/// When an event was last run, in seconds of Unix time.
pub(crate) const EXECUTED: &str = "executed";
/// The option under which the engine is kept that a source's table has.
pub(crate) const ENGINE: &str = "ENGINE";

/// The names of a view's columns, as far as they are known.
pub fn view_column_names(view: &engine::ObjectDef) -> Vec<String> {
    let names = view.attribute(NAMES).unwrap_or_default();
    names.split('\n').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
