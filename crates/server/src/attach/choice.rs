//! The part of a source that `slipstream attach` copies, by the filters of the new replica.

use replica::filter::{ConfiguredBy, Filters};
use sql::admin::FilterKind;
use sql::touched::Touched;

use crate::options;
use crate::start::startup_filters;

/// What the filters let pass that the server's options set.
pub struct ByFilters(Filters);

impl ByFilters {
    /// Reads the filters from the arguments of the server and the option files that they name.
    ///
    /// # Errors
    /// Returns what is wrong with the options, or that a filter cannot be used for a copy.
    pub fn of(args: &[String]) -> Result<ByFilters, String> {
        let options = options::read(args, &*os::disk::real()).map_err(|error| error.to_string())?;
        let rules = startup_filters(&options.replication_filters);
        if rules.iter().any(|(kind, _)| *kind == FilterKind::RewriteDb) {
            return Err("schemas are copied under their own names, without --replicate-rewrite-db".into());
        }
        let filters = Filters::default().changed(&rules, ConfiguredBy::StartupOptions);
        Ok(ByFilters(filters.map_err(|error| error.message)?))
    }
}

impl attach::Choice for ByFilters {
    fn takes_table(&self, schema: &str, table: &str) -> bool {
        self.0.allows_table(schema, table)
    }

    fn takes_schema(&self, schema: &str) -> bool {
        self.0.allows_statement(schema, &Touched::Schema(schema.to_owned()))
    }

    fn takes_programs(&self, schema: &str) -> bool {
        self.0.allows_statement(schema, &Touched::Nothing)
    }

    fn text(&self) -> String {
        let rules = self.0.shown();
        let of = |shown: &replica::filter::ShownFilter| {
            format!("{}: {}", shown.kind.name().to_ascii_lowercase(), shown.rules)
        };
        rules.iter().map(of).collect::<Vec<_>>().join("; ")
    }
}
