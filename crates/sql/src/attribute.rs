//! The names under which the dictionary keeps the parts of a table, view, trigger, routine or
//! event.
//!
//! The files of existing servers contain these names. Whoever changes a name loses the parts that
//! are stored under it.

/// A view's algorithm: `UNDEFINED`, `MERGE` or `TEMPTABLE`.
pub(crate) const ALGORITHM: &str = "algorithm";
/// Whose privileges apply: those of the `DEFINER` or of the `INVOKER`.
pub(crate) const SECURITY: &str = "security";
/// A view's list of columns as it is printed: names in backticks, separated by commas.
pub(crate) const COLUMNS: &str = "columns";
/// The names of the view's columns, one a line. It is absent where the query is kept as it was
/// written.
pub(crate) const NAMES: &str = "names";
/// The view's query with the schema in front of every table's name, as information_schema shows it.
pub(crate) const QUALIFIED: &str = "qualified";
/// The schema of unqualified names in the view's query, where it differs from the view's schema.
pub(crate) const CURRENT: &str = "current";
/// A view's check option: `LOCAL` or `CASCADED`.
pub(crate) const CHECK: &str = "check";
/// [`HAS_COLUMNS`] or [`HAS_ROWS`]. It is absent where no row may be changed through the view.
pub(crate) const UPDATABLE: &str = "updatable";
/// The value of [`UPDATABLE`] for a view of which at least one column is a table's column.
pub(crate) const HAS_COLUMNS: &str = "YES";
/// The value of [`UPDATABLE`] for a view whose columns are all computed, but whose rows are a
/// table's. MySQL calls such a view not updatable, and yet deletes its rows.
pub(crate) const HAS_ROWS: &str = "ROWS";
/// The part of a trigger's definition in front of its statement, as MariaDB shows it.
pub(crate) const HEAD: &str = "head";
/// The part of [`HEAD`] in front of the table's name.
pub(crate) const LEAD: &str = "lead";
/// The text within the parentheses after a routine's name.
pub(crate) const PARAMETERS: &str = "parameters";
/// The type of a function's result.
pub(crate) const RETURNS: &str = "returns";
/// `YES` for an aggregate function; absent otherwise.
pub(crate) const AGGREGATE: &str = "aggregate";
/// Whether a routine is DETERMINISTIC: `YES` or `NO`.
pub(crate) const DETERMINISTIC: &str = "deterministic";
/// How a routine uses data: `NO SQL` and so on.
pub(crate) const ACCESS: &str = "access";
pub(crate) const COMMENT: &str = "comment";
/// The moment, in the event's time zone, at which an event that happens once runs.
pub(crate) const AT: &str = "at";
/// The number of units in EVERY, for an event that recurs.
pub(crate) const AMOUNT: &str = "amount";
pub(crate) const UNIT: &str = "unit";
pub(crate) const STARTS: &str = "starts";
pub(crate) const ENDS: &str = "ends";
/// What happens to an event after its last run: `PRESERVE` or `NOT PRESERVE`.
pub(crate) const COMPLETION: &str = "completion";
/// Whether an event runs: `ENABLED`, `DISABLED` or `REPLICA`.
pub(crate) const STATUS: &str = "status";
/// The id of the server on which an event was made.
pub(crate) const ORIGINATOR: &str = "originator";
pub(crate) const TIME_ZONE: &str = "time_zone";
/// The moment at which an event was last run, in seconds of Unix time.
pub(crate) const EXECUTED: &str = "executed";
/// The table option that keeps the name of the engine that the source's table has.
pub(crate) const ENGINE: &str = "ENGINE";

/// Returns the names of a view's columns. The list is empty where the dictionary has no names.
pub fn view_column_names(view: &engine::ObjectDef) -> Vec<String> {
    let names = view.attribute(NAMES).unwrap_or_default();
    names.split('\n').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
