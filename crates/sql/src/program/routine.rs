//! A stored program in the form in which it is run: its body, with the types of its slots and of
//! its result.

use crate::ast::TypeSpec;
use crate::ast::program::{Program, SlotKind};
use crate::attribute;
use crate::ddl::kept_type;
use crate::error::{Result, SqlError};
use crate::parse::object::{parameters_of, type_of};
use crate::parse::program::{Owner, parse_body};
use crate::sql_mode::SqlMode;
use engine::{ColumnDef, Object, ObjectDef, ObjectKind, Table};
use std::sync::Arc;
use types::{ColumnType, collation};

/// The direction in which a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    In,
    Out,
    InOut,
}

/// A parameter. Its position among the parameters is the number of its slot.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub mode: Mode,
    pub name: String,
}

/// A stored program.
pub(crate) struct Routine {
    pub object: Arc<Object>,
    pub program: Program,
    pub parameters: Vec<Parameter>,
    /// The definitions that the slots' values are stored by.
    pub columns: Vec<ColumnDef>,
    /// The types that expressions see when they read the slots.
    pub types: Vec<ColumnType>,
    /// The result of a function.
    pub returns: Option<ColumnDef>,
    /// For each slot that is a column of a trigger's table, the column's position.
    pub row_columns: Vec<Option<usize>>,
}

/// Returns the type that expressions see for a column. ENUM and SET are texts.
fn type_of_values(ty: &ColumnType) -> ColumnType {
    let meta = ty.text_form().map_or(ty.meta, |form| u16::from(form.chars()));
    ColumnType { meta, ..ty.clone() }
}

fn declared(name: &str, spec: &TypeSpec, object: &Object) -> Result<ColumnDef> {
    let ty = kept_type(spec, object.def.schema_collation);
    let ty = ty.ok_or_else(|| SqlError::not_supported(format!("the type of '{name}'")))?;
    Ok(ColumnDef::new(name, ty))
}

/// The part of a function's definition that its callers need.
pub(crate) struct Signature {
    pub parameters: usize,
    pub ty: ColumnType,
    pub deterministic: bool,
}

impl Signature {
    /// Reads the signature of a function.
    ///
    /// # Errors
    /// Returns 1235 for a type that this server lacks.
    pub fn of(def: &ObjectDef) -> Result<Signature> {
        let mode = SqlMode(def.sql_mode).lex();
        let written = def.attribute(attribute::PARAMETERS).unwrap_or_default();
        let spec = def.attribute(attribute::RETURNS).and_then(|written| type_of(written, mode));
        let ty = spec.and_then(|spec| kept_type(&spec, def.schema_collation));
        let unknown = || SqlError::not_supported(format!("the type of the function {}", def.name));
        Ok(Signature {
            parameters: parameters_of(written, false, mode).len(),
            ty: type_of_values(&ty.ok_or_else(unknown)?),
            deterministic: def.attribute(attribute::DETERMINISTIC) == Some("YES"),
        })
    }
}

impl Routine {
    /// Parses a program. `table` is the table of a trigger.
    ///
    /// # Errors
    /// Returns the errors of the grammar, and 1054 for a column that the table does not have.
    pub fn read(object: Arc<Object>, table: Option<&Table>) -> Result<Routine> {
        let def = &object.def;
        let mode = SqlMode(def.sql_mode).lex();
        let is_procedure = def.kind == ObjectKind::Procedure;
        let written = def.attribute(attribute::PARAMETERS).unwrap_or_default();
        let parameters = parameters_of(written, is_procedure, mode);
        let trigger = def.trigger.as_ref().map(|place| (place.event, place.before));
        let owner = Owner { kind: def.kind, trigger };
        let program = parse_body(def.body.as_bytes(), &owner, &parameters, mode)?;
        let (mut columns, mut row_columns) = (Vec::new(), Vec::new());
        for slot in &program.slots {
            let (column, position) = match (&slot.kind, table) {
                (SlotKind::Variable(spec), _) => (declared(&slot.name, spec, &object)?, None),
                (SlotKind::Column { new }, Some(table)) => {
                    let row = if *new { "NEW" } else { "OLD" };
                    let position = table.def.column(&slot.name);
                    let unknown = || SqlError::unknown_column(&slot.name, row);
                    let position = position.ok_or_else(unknown)?;
                    (table.def.columns[position].clone(), Some(position))
                }
                _ => {
                    let ty = ColumnType::varchar(1, collation::UTF8MB4_0900_AI_CI);
                    (ColumnDef::new(&slot.name, ty), None)
                }
            };
            columns.push(column);
            row_columns.push(position);
        }
        let returns = match def.attribute(attribute::RETURNS) {
            Some(written) => {
                let spec = type_of(written, mode);
                let spec = spec.ok_or_else(|| SqlError::not_supported("the type of the function"))?;
                Some(declared(&def.name, &spec, &object)?)
            }
            None => None,
        };
        assert!(parameters.len() <= columns.len(), "the parameters are the first slots");
        let types = columns.iter().map(|column: &ColumnDef| type_of_values(&column.ty)).collect();
        let parameters = parameters.into_iter().map(|parameter| Parameter {
            mode: match parameter.mode {
                "OUT" => Mode::Out,
                "INOUT" => Mode::InOut,
                _ => Mode::In,
            },
            name: parameter.name,
        });
        let parameters = parameters.collect();
        Ok(Routine { object, program, parameters, columns, types, returns, row_columns })
    }

    /// Reports whether the program runs with the privileges of its caller (SQL SECURITY INVOKER).
    pub fn is_of_invoker(&self) -> bool {
        self.object.def.attribute(attribute::SECURITY) == Some("INVOKER")
    }

    /// Returns the schema and the name, as in messages.
    pub fn name(&self) -> String {
        format!("{}.{}", self.object.def.schema, self.object.def.name)
    }
}
