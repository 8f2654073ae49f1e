//! Switches a session to the `sql_mode`, the character sets and the schema of a program, and to the
//! privileges of its definer, while the program runs.

use crate::error::Result;
use crate::program::Routine;
use crate::session::Session;
use crate::sql_mode::SqlMode;

/// The settings that the session had before it entered a program.
pub(super) struct Entered {
    /// The number of the entered program.
    program: u64,
    schema: Option<String>,
    sql_mode: SqlMode,
    client_collation: u16,
    connection_collation: u16,
    acts: bool,
}

impl Entered {
    /// Enters a program.
    ///
    /// # Errors
    /// Returns 1449 (`ER_NO_SUCH_USER`) when the program's definer does not exist.
    pub fn enter(session: &mut Session, routine: &Routine) -> Result<Entered> {
        let def = &routine.object.def;
        let acts = !routine.is_of_invoker();
        if acts {
            session.server.host.act_as((&def.definer.0, &def.definer.1))?;
        }
        let variables = &mut session.settings.variables;
        let entered = Entered {
            program: routine.object.id,
            schema: session.settings.schema.replace(def.schema.clone()),
            sql_mode: std::mem::replace(&mut variables.sql_mode, SqlMode(def.sql_mode)),
            client_collation: std::mem::replace(&mut variables.client_collation, def.character_set_client),
            connection_collation: std::mem::replace(
                &mut variables.connection_collation,
                def.collation_connection,
            ),
            acts,
        };
        session.programs.enter(routine.object.id);
        Ok(entered)
    }

    /// Leaves the program and restores the settings.
    pub fn leave(self, session: &mut Session) {
        session.programs.leave(self.program);
        session.settings.schema = self.schema;
        session.settings.variables.sql_mode = self.sql_mode;
        session.settings.variables.client_collation = self.client_collation;
        session.settings.variables.connection_collation = self.connection_collation;
        if self.acts {
            session.server.host.act_no_more();
        }
    }
}
