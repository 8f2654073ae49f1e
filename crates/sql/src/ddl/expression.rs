//! Generated columns, CHECK constraints, expression defaults and functional key parts: turns their
//! expressions into the canonical text of the definition, with MySQL's checks.

use super::canonical::{Canonical, is_condition, walk};
use super::settings::DdlSettings;
use crate::ast::{CheckSpec, Expr, KeyKind, KeySpec, WrittenExpr};
use crate::bind::array_outside_of_index;
use crate::error::{Result, SqlError};
use crate::lexer::LexMode;
use crate::parse::parse_expression;
use engine::{CheckDef, KeptIndex, KeptKind, KeptPart, TableDef};
use types::collation;

/// The place of an expression, which decides what it may contain and how errors name it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner<'n> {
    Generated(&'n str),
    Default(&'n str),
    Check(&'n str),
    Index(&'n str),
    /// The function of PARTITION BY.
    Partition,
}

/// Functions whose value does not depend on the row alone.
const VARYING: [&str; 39] = [
    "now",
    "curdate",
    "curtime",
    "sysdate",
    "utc_timestamp",
    "utc_date",
    "utc_time",
    "unix_timestamp",
    "rand",
    "uuid",
    "uuid_short",
    "random_bytes",
    "user",
    "current_user",
    "session_user",
    "system_user",
    "current_role",
    "database",
    "schema",
    "version",
    "connection_id",
    "last_insert_id",
    "found_rows",
    "row_count",
    "sleep",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "release_all_locks",
    "release_lock",
    "load_file",
    "icu_version",
    "roles_graphml",
    "benchmark",
    "statement_digest",
    "statement_digest_text",
    "updatexml",
    "source_pos_wait",
    "master_pos_wait",
];

/// The functions among [`VARYING`] that MySQL does not accept in a default either.
const NOT_IN_DEFAULTS: [&str; 16] = [
    "sleep",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "release_all_locks",
    "release_lock",
    "last_insert_id",
    "found_rows",
    "row_count",
    "version",
    "load_file",
    "icu_version",
    "benchmark",
    "updatexml",
    "source_pos_wait",
    "master_pos_wait",
];

/// The functions among [`VARYING`] that MySQL accepts in a CHECK constraint.
const IN_CHECKS: [&str; 2] = ["sysdate", "random_bytes"];

impl Owner<'_> {
    fn disallowed(self, function: &str) -> SqlError {
        let (code, what) = match self {
            Owner::Generated(name) => (3763, format!("Expression of generated column '{name}' contains a")),
            Owner::Default(name) => (3770, format!("Default value expression of column '{name}' contains a")),
            Owner::Check(name) => (3814, format!("An expression of a check constraint '{name}' contains")),
            Owner::Index(_) | Owner::Partition => return self.not_allowed(),
        };
        // The parser turns these calls into constants, and MySQL names them by their text.
        let parentheses = if matches!(function, "version" | "icu_version") { "()" } else { "" };
        SqlError::new(code, format!("{what} disallowed function: {function}{parentheses}."))
    }

    /// Returns the error for an expression that contains what no definition may, such as a subquery
    /// or a parameter.
    fn not_allowed(self) -> SqlError {
        let (code, what) = match self {
            Owner::Generated(name) => (3102, format!("Expression of generated column '{name}'")),
            Owner::Default(name) => (3769, format!("Default value expression of column '{name}'")),
            Owner::Check(name) => return not_boolean(name),
            Owner::Partition => return constant_function(),
            Owner::Index(name) => (3758, format!("Expression of functional index '{name}'")),
        };
        SqlError::new(code, format!("{what} contains a disallowed function."))
    }

    fn variable(self) -> SqlError {
        let (Owner::Generated(name) | Owner::Default(name) | Owner::Check(name) | Owner::Index(name)) = self
        else {
            return constant_function();
        };
        if matches!(self, Owner::Check(_)) {
            let text = format!(
                "An expression of a check constraint '{name}' cannot refer to a user or system variable."
            );
            return SqlError::new(3816, text);
        }
        // MySQL calls all of these expressions defaults here.
        let text =
            format!("Default value expression of column '{name}' cannot refer user or system variables.");
        SqlError::new(3772, text)
    }

    fn unknown_column(self, column: &str) -> SqlError {
        let clause = match self {
            Owner::Generated(_) => "generated column function",
            Owner::Default(_) => "default value expression",
            Owner::Index(_) => "functional index",
            Owner::Partition => "partition function",
            Owner::Check(name) => {
                let text = format!("Check constraint '{name}' refers to non-existing column '{column}'.");
                return SqlError::new(3820, text);
            }
        };
        SqlError::unknown_column(column, clause)
    }
}

/// Builds error 1486, for a partitioning function without columns or with a varying value.
pub(super) fn constant_function() -> SqlError {
    let text =
        "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed";
    SqlError::new(1486, text)
}

/// Builds error 3812, for a CHECK constraint that is no condition.
fn not_boolean(name: &str) -> SqlError {
    let text = format!("An expression of non-boolean type specified to a check constraint '{name}'.");
    SqlError::new(3812, text)
}

/// Returns the canonical text of an expression over the table's columns.
///
/// # Errors
/// Returns MySQL's error for an expression that it refuses. An expression of a source is never
/// refused.
pub(super) fn canonical(
    def: &TableDef,
    written: &WrittenExpr,
    owner: Owner<'_>,
    settings: &DdlSettings,
) -> Result<String> {
    let Some(tree) = &written.tree else { return Ok(written.text.clone()) };
    if !settings.replicated {
        check(def, tree, owner)?;
    }
    let charset = collation::charset_of(settings.literal_collation).name();
    let column = |name: &str| def.column(name).map(|at| def.columns[at].name.clone());
    match (Canonical { charset, column: &column }).text(tree) {
        Some(text) => Ok(text),
        None if settings.replicated => Ok(written.text.clone()),
        None => Err(owner.not_allowed()),
    }
}

fn check(def: &TableDef, tree: &Expr, owner: Owner<'_>) -> Result<()> {
    let mut refused = None;
    walk(tree, &mut |expr| {
        if refused.is_some() {
            return;
        }
        refused = match expr {
            Expr::Column { name, .. } => match def.column(name) {
                None => Some(owner.unknown_column(name)),
                Some(at) => refused_column(def, at, owner),
            },
            // Of a TIMESTAMP column, this function has the value of the column itself.
            Expr::Function(call) if call.name == "unix_timestamp" && matches!(owner, Owner::Partition) => {
                None
            }
            Expr::Function(call) if VARYING.contains(&call.name.as_str()) => match owner {
                Owner::Default(_) if !NOT_IN_DEFAULTS.contains(&call.name.as_str()) => None,
                Owner::Check(_) if IN_CHECKS.contains(&call.name.as_str()) => None,
                owner => Some(owner.disallowed(&call.name)),
            },
            // MySQL has these functions no more, and takes them for stored ones.
            Expr::Function(call) if matches!(call.name.as_str(), "md5" | "sha1" | "sha") => {
                Some(owner.disallowed(&format!("`{}`", call.written.0)))
            }
            Expr::CastArray { .. } if !matches!(owner, Owner::Index(_)) || !std::ptr::eq(expr, tree) => {
                Some(array_outside_of_index())
            }
            Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::AssignVariable(..) => {
                Some(owner.variable())
            }
            _ => None,
        };
    });
    match owner {
        _ if refused.is_some() => {}
        Owner::Check(name) if !is_condition(tree) => refused = Some(not_boolean(name)),
        _ => {}
    }
    refused.map_or(Ok(()), Err)
}

/// Returns the error if the expression may not use this column.
fn refused_column(def: &TableDef, at: usize, owner: Owner<'_>) -> Option<SqlError> {
    let column = &def.columns[at];
    match owner {
        Owner::Generated(name) => {
            if column.auto_increment {
                let text = format!("Generated column '{name}' cannot refer to auto-increment column.");
                return Some(SqlError::new(3109, text));
            }
            let own = def.column(name)?;
            (at >= own && (column.generated.is_some() || at == own)).then(|| {
                SqlError::new(
                    3107,
                    "Generated column can refer only to generated columns defined prior to it.",
                )
            })
        }
        Owner::Check(name) if column.auto_increment => {
            let text = format!("Check constraint '{name}' cannot refer to an auto-increment column.");
            Some(SqlError::new(3818, text))
        }
        Owner::Index(name) if column.auto_increment => {
            let text = format!("Functional index '{name}' cannot refer to an auto-increment column.");
            Some(SqlError::new(3754, text))
        }
        _ => None,
    }
}

/// Returns the positions of the columns in a canonical text, or `None` if it cannot be parsed here.
pub(crate) fn columns_of(def: &TableDef, text: &str) -> Option<Vec<usize>> {
    let tree = parse_expression(text.as_bytes(), LexMode::default()).ok()?;
    let mut columns = Vec::new();
    walk(&tree, &mut |expr| {
        if let Expr::Column { name, .. } = expr {
            columns.extend(def.column(name));
        }
    });
    Some(columns)
}

/// Returns a canonical text with the new names of renamed columns (from, to). A text that cannot be
/// parsed stays as it is.
pub(super) fn renamed(text: &str, names: &[(String, String)]) -> String {
    let Ok(tree) = parse_expression(text.as_bytes(), LexMode::default()) else { return text.to_owned() };
    let column = |name: &str| {
        let new = names.iter().find(|(from, _)| from.eq_ignore_ascii_case(name));
        Some(new.map_or_else(|| name.to_owned(), |(_, to)| to.clone()))
    };
    let canonical = Canonical { charset: "utf8mb4", column: &column };
    canonical.text(&tree).unwrap_or_else(|| text.to_owned())
}

/// Returns the name of a constraint. One without a name gets MySQL's `t_chk_1` or MariaDB's
/// `CONSTRAINT_1`.
fn check_name(def: &TableDef, spec: &CheckSpec, settings: &DdlSettings) -> String {
    match (&spec.name, &spec.column) {
        (Some(name), _) => return name.clone(),
        (None, Some(column)) if settings.of_mariadb => return column.clone(),
        _ => {}
    }
    if settings.of_mariadb {
        let free = |name: &String| def.check_constraint(name).is_none();
        return (1..).map(|n| format!("CONSTRAINT_{n}")).find(free).unwrap_or_default();
    }
    let prefix = format!("{}_chk_", def.name);
    let number = |check: &CheckDef| check.name.strip_prefix(&prefix)?.parse::<u64>().ok();
    let last = def.checks.iter().filter_map(number).max().unwrap_or(0);
    format!("{prefix}{}", last + 1)
}

/// Adds a CHECK constraint.
///
/// # Errors
/// Returns 3822 for a name that the table has already, 3813 for a column's constraint that names
/// another column, and the errors of [`canonical`].
pub(super) fn add_check(def: &mut TableDef, spec: &CheckSpec, settings: &DdlSettings) -> Result<()> {
    let name = check_name(def, spec, settings);
    let of_column = settings.of_mariadb && spec.column.is_some();
    if of_column {
        forget_check_of(def, &name);
    } else if def.checks.iter().any(|check| !check.of_column && check.name.eq_ignore_ascii_case(&name)) {
        // The statement comes from MariaDB and says IF NOT EXISTS.
        return if settings.replicated { Ok(()) } else { Err(duplicate_check(&name)) };
    }
    let expression = canonical(def, &spec.expression, Owner::Check(&name), settings)?;
    if let (Some(column), Some(tree), false) = (&spec.column, &spec.expression.tree, settings.replicated) {
        let mut others = false;
        walk(tree, &mut |expr| {
            others |= matches!(expr, Expr::Column { name, .. } if !name.eq_ignore_ascii_case(column));
        });
        if others {
            let text = format!("Column check constraint '{name}' references other column.");
            return Err(SqlError::new(3813, text));
        }
    }
    def.checks.push(CheckDef { name, expression, enforced: spec.enforced, of_column });
    Ok(())
}

/// Adds the constraint that MariaDB gives its JSON columns. A constraint that the column's
/// definition has replaces it.
pub(super) fn implied_check(def: &mut TableDef, column: &str) {
    forget_check_of(def, column);
    let expression = format!("json_valid({})", crate::quoting::quoted(column));
    def.checks.push(CheckDef { name: column.to_owned(), expression, enforced: true, of_column: true });
}

/// Removes the constraint that MariaDB keeps with a column.
pub(super) fn forget_check_of(def: &mut TableDef, column: &str) {
    def.checks.retain(|check| !(check.of_column && check.name.eq_ignore_ascii_case(column)));
}

pub(super) fn duplicate_check(name: &str) -> SqlError {
    SqlError::new(3822, format!("Duplicate check constraint name '{name}'."))
}

/// Builds error 3821, for a CHECK constraint that does not exist.
pub(super) fn no_such_check(name: &str) -> SqlError {
    SqlError::new(3821, format!("Check constraint '{name}' is not found in the table."))
}

/// Checks that no other table of the schema has a CHECK constraint with one of these names.
/// Constraints of MariaDB's columns have no such restriction.
///
/// # Errors
/// Returns 3822 for a name that is taken.
pub(super) fn check_names(def: &TableDef, old: Option<&TableDef>, catalog: &engine::Catalog) -> Result<()> {
    if def.checks.is_empty() {
        return Ok(());
    }
    let is_own = |other: &TableDef| {
        old.is_some_and(|old| old.schema == other.schema && old.name == other.name)
            || other.schema == def.schema && other.name == def.name
    };
    for other in catalog.tables(&def.schema).iter().filter(|table| !is_own(&table.def)) {
        let taken = |check: &&CheckDef| other.def.check_constraint(&check.name).is_some();
        if let Some(check) = def.checks.iter().find(taken) {
            return Err(duplicate_check(&check.name));
        }
    }
    Ok(())
}

/// Returns a free name for a functional index without one.
fn functional_name(def: &TableDef) -> String {
    let taken = |name: &str| def.index(name).is_some() || def.kept_index(name).is_some();
    if !taken("functional_index") {
        return "functional_index".to_owned();
    }
    (2..).map(|n| format!("functional_index_{n}")).find(|name| !taken(name)).unwrap_or_default()
}

/// Returns the definition of an index that has expressions among its parts.
///
/// # Errors
/// Returns 3756 for a primary key, 1061 for a name that is taken, and the errors of [`canonical`].
pub(super) fn kept_index(def: &TableDef, key: &KeySpec, settings: &DdlSettings) -> Result<KeptIndex> {
    if key.kind == KeyKind::Primary {
        return Err(SqlError::new(3756, "The primary key cannot be a functional index"));
    }
    if !settings.replicated {
        super::multi_valued::check(key)?;
    }
    let name = key.name.clone().unwrap_or_else(|| functional_name(def));
    if def.index(&name).is_some() || def.kept_index(&name).is_some() {
        return Err(SqlError::new(1061, format!("Duplicate key name '{name}'")));
    }
    let mut parts = Vec::with_capacity(key.parts.len());
    for part in &key.parts {
        let text = match &part.expression {
            Some(WrittenExpr { tree: Some(Expr::Column { .. }), .. }) if !settings.replicated => {
                let text =
                    "Functional index on a column is not supported. Consider using a regular index instead.";
                return Err(SqlError::new(3762, text));
            }
            Some(written) => canonical(def, written, Owner::Index(&name), settings)?,
            None => match def.column(&part.column) {
                Some(at) => def.columns[at].name.clone(),
                None => {
                    let text = format!("Key column '{}' doesn't exist in table", part.column);
                    return Err(SqlError::new(1072, text));
                }
            },
        };
        let is_expression = part.expression.is_some();
        parts.push(KeptPart { text, is_expression, prefix: part.prefix, descending: part.descending });
    }
    let unique = key.kind == KeyKind::Unique;
    let (kind, comment) = (KeptKind::Functional, key.comment.clone());
    Ok(KeptIndex { name, kind, unique, parts, comment, invisible: key.invisible, entries: None })
}
