//! What a session is while it runs a program: with the program's `sql_mode`, character sets and
//! schema, and the privileges of its definer.

use crate::error::Result;
use crate::program::Routine;
use crate::session::Session;
use crate::sql_mode::SqlMode;

/// What the session was before.
pub(super) struct Entered {
    /// The number of the program that was entered.
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
    /// 1449 when its definer is not there.
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

    /// Leaves it.
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
