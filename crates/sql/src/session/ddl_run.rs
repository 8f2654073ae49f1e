//! The settings that a session runs DDL statements with.

use super::Session;
use crate::ddl::{DdlReport, DdlRun, DdlSettings, ScheduleValues};
use crate::detached::BoundTypes;
use engine::CommitOptions;
use types::words::WordSizes;

/// Returns a run of a DDL statement with the session's settings. `text` is what the binary log
/// gets.
pub(super) fn ddl_run<'s>(session: &'s Session, text: &'s str) -> DdlRun<'s> {
    let now_us = session.settings.now_us();
    let of_mariadb = session.settings.variables.of_mariadb;
    DdlRun {
        engine: &session.server.engine,
        host: Some(&*session.server.host),
        schema: session.settings.schema.as_deref(),
        settings: DdlSettings {
            collation: session.settings.variables.server_collation,
            utf8mb4_collation: match of_mariadb {
                true => types::collation::UTF8MB4_GENERAL_CI,
                false => types::collation::UTF8MB4_0900_AI_CI,
            },
            strict: session.settings.variables.sql_mode.strict(),
            dates: session.settings.variables.sql_mode.dates(),
            zero_generates: !session.settings.variables.sql_mode.no_auto_value_on_zero(),
            no_engine_substitution: session.settings.variables.sql_mode.no_engine_substitution(),
            is_temporary: false,
            zone: session.settings.variables.zone,
            now_us,
            foreign_key_checks: session.settings.variables.foreign_key_checks,
            unique_parents: session.settings.variables.kept_on("restrict_fk_on_non_standard_key"),
            explicit_timestamps: session.settings.variables.explicit_timestamps,
            inline_references: true,
            replicated: of_mariadb,
            of_mariadb,
            client_collation: session.settings.variables.client_collation,
            literal_collation: session.settings.variables.connection_collation,
            word_sizes: WordSizes {
                has_stop_words: session.settings.variables.kept_on("innodb_ft_enable_stopword"),
                ..session.server.engine.word_sizes()
            },
            types: Some(BoundTypes::new(&session.server.engine)),
        },
        text,
        session: session.session_context(now_us),
        received_group: None,
        options: CommitOptions {
            refused_from: session.server.host.commits_refused_from(),
            noted: Some(&session.transaction.noted),
            ..session.transaction.commit_options(&session.settings.variables)
        },
        lock_timeout_ms: Some(session.settings.variables.lock_wait_timeout_s * 1000),
        current_user: definer(session),
        schedule: ScheduleValues::default(),
        locked_tables: session.locks.tables.as_ref().map(|locked| &*locked.tables),
        interrupt: Some(session.server.interrupt.clone()),
        lock_interrupt: None,
        temporary: session.temporary.clone(),
        is_temporary: false,
        notes: Vec::new(),
        warnings: Vec::new(),
        told: crate::ddl::Told::default(),
        report: DdlReport::default(),
    }
}

/// Returns the account that is the definer of a new object that names none, as user and host.
pub(super) fn definer(session: &Session) -> (String, String) {
    let account = session.server.host.current_user();
    let (user, host) = account.rsplit_once('@').unwrap_or((&account, ""));
    (user.to_owned(), host.to_owned())
}
