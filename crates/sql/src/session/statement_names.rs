//! The kinds of statements by the names that MySQL's performance_schema gives them.

use crate::admin::{AdminCommand, PurgeTo};
use crate::ast::{ExplainOf, Handler, InsertSource, Maintenance, Show, Statement, Xa};
use crate::measured::EventName;
use engine::ObjectKind;

/// Returns the kind of a statement.
pub(super) fn name_of(statement: &Statement) -> EventName {
    EventName::of(name(statement))
}

fn name(statement: &Statement) -> &'static str {
    match statement {
        Statement::Empty => "sql/empty_query",
        Statement::Query(_) => "sql/select",
        Statement::Insert(insert) => {
            match (insert.replace, matches!(insert.source, InsertSource::Query(_))) {
                (false, false) => "sql/insert",
                (false, true) => "sql/insert_select",
                (true, false) => "sql/replace",
                (true, true) => "sql/replace_select",
            }
        }
        Statement::Load(_) => "sql/load",
        Statement::Update(update) if update.from.is_one_table() => "sql/update",
        Statement::Update(_) => "sql/update_multi",
        Statement::Delete(delete) if delete.from.is_one_table() && delete.targets.len() <= 1 => "sql/delete",
        Statement::Delete(_) => "sql/delete_multi",
        Statement::CreateTable(_) => "sql/create_table",
        Statement::AlterTable(_) => "sql/alter_table",
        Statement::DropTable { .. } => "sql/drop_table",
        Statement::RenameTable { .. } => "sql/rename_table",
        Statement::Truncate(_) => "sql/truncate",
        Statement::CreateIndex { .. } => "sql/create_index",
        Statement::DropIndex { .. } => "sql/drop_index",
        Statement::CreateSchema { .. } => "sql/create_db",
        Statement::AlterSchema { .. } => "sql/alter_db",
        Statement::DropSchema { .. } => "sql/drop_db",
        Statement::Begin { .. } => "sql/begin",
        Statement::Commit(_) => "sql/commit",
        Statement::Rollback(_) => "sql/rollback",
        Statement::Savepoint(_) => "sql/savepoint",
        Statement::RollbackTo(_) => "sql/rollback_to_savepoint",
        Statement::ReleaseSavepoint(_) => "sql/release_savepoint",
        Statement::Xa(xa) => of_xa(xa),
        Statement::Handler(handler) => match **handler {
            Handler::Open { .. } => "sql/ha_open",
            Handler::Read { .. } => "sql/ha_read",
            Handler::Close(_) => "sql/ha_close",
        },
        Statement::LockTables(_) => "sql/lock_tables",
        Statement::UnlockTables => "sql/unlock_tables",
        Statement::Set(_) => "sql/set_option",
        Statement::Use(_) => "sql/change_db",
        Statement::Show { show, .. } => of_show(show),
        Statement::Explain(explain) => match &explain.of {
            ExplainOf::Statement { statement, .. } => name(statement),
            ExplainOf::Connection(_) => "sql/explain_other",
        },
        Statement::Maintain { what, .. } => match what {
            Maintenance::Analyze => "sql/analyze",
            Maintenance::Check => "sql/check",
            Maintenance::Optimize => "sql/optimize",
            Maintenance::Repair => "sql/repair",
            Maintenance::Checksum { .. } => "sql/checksum",
        },
        Statement::Prepare { .. } => "sql/prepare_sql",
        Statement::Execute { .. } => "sql/execute_sql",
        Statement::Deallocate(_) => "sql/dealloc_sql",
        Statement::Do(_) => "sql/do",
        Statement::Binlog(_) => "sql/binlog",
        Statement::Admin(command) => of_command(command),
        Statement::PurgeBefore(_) => "sql/purge_before_date",
        Statement::CreateObject(create) => match create.kind {
            ObjectKind::View => "sql/create_view",
            ObjectKind::Trigger => "sql/create_trigger",
            ObjectKind::Procedure => "sql/create_procedure",
            ObjectKind::Function => "sql/create_function",
            ObjectKind::Event => "sql/create_event",
        },
        Statement::AlterRoutine(alter) => match alter.kind {
            ObjectKind::Function => "sql/alter_function",
            _ => "sql/alter_procedure",
        },
        Statement::AlterEvent(_) => "sql/alter_event",
        Statement::DropObjects { kind, .. } => match kind {
            ObjectKind::View => "sql/drop_view",
            ObjectKind::Trigger => "sql/drop_trigger",
            ObjectKind::Procedure => "sql/drop_procedure",
            ObjectKind::Function => "sql/drop_function",
            ObjectKind::Event => "sql/drop_event",
        },
        Statement::Call(_) => "sql/call_procedure",
        Statement::Signal(_) => "sql/signal",
        Statement::GetDiagnostics(_) => "sql/get_diagnostics",
    }
}

fn of_xa(xa: &Xa) -> &'static str {
    match xa {
        Xa::Start { .. } => "sql/xa_start",
        Xa::End { .. } => "sql/xa_end",
        Xa::Prepare(_) => "sql/xa_prepare",
        Xa::Commit { .. } => "sql/xa_commit",
        Xa::Rollback(_) => "sql/xa_rollback",
        Xa::Recover { .. } => "sql/xa_recover",
    }
}

fn of_show(show: &Show) -> &'static str {
    match show {
        Show::Schemas => "sql/show_databases",
        Show::Tables { .. } => "sql/show_tables",
        Show::TableStatus { .. } => "sql/show_table_status",
        Show::Columns { .. } => "sql/show_fields",
        Show::Index { .. } => "sql/show_keys",
        Show::CreateTable(_) | Show::CreateSequence(_) => "sql/show_create_table",
        Show::CreateObject { kind, .. } => match kind {
            ObjectKind::View => "sql/show_create_table",
            ObjectKind::Trigger => "sql/show_create_trigger",
            ObjectKind::Procedure => "sql/show_create_proc",
            ObjectKind::Function => "sql/show_create_func",
            ObjectKind::Event => "sql/show_create_event",
        },
        Show::CreateSchema { .. } => "sql/show_create_db",
        Show::Variables(_) => "sql/show_variables",
        Show::Status(_) => "sql/show_status",
        Show::Warnings { errors_only: false, .. } => "sql/show_warnings",
        Show::Warnings { .. } => "sql/show_errors",
        // Both are written as a query of a variable in MySQL's grammar.
        Show::CountOf { .. } => "sql/select",
        Show::Engines => "sql/show_storage_engines",
        Show::Collation => "sql/show_collations",
        Show::CharacterSet => "sql/show_charsets",
        Show::OpenTables => "sql/show_open_tables",
        Show::Triggers { .. } => "sql/show_triggers",
        Show::Events { .. } => "sql/show_events",
        Show::ProcedureStatus => "sql/show_procedure_status",
        Show::FunctionStatus => "sql/show_function_status",
        Show::Profiles => "sql/show_profiles",
        Show::Help(_) => "sql/help",
    }
}

fn of_command(command: &AdminCommand) -> &'static str {
    match command {
        AdminCommand::ChangeReplicationSource { .. } => "sql/change_replication_source",
        AdminCommand::ChangeReplicationFilter { .. } => "sql/change_repl_filter",
        AdminCommand::StartReplica { .. } => "sql/replica_start",
        AdminCommand::StopReplica { .. } => "sql/replica_stop",
        AdminCommand::ResetReplica { .. }
        | AdminCommand::ResetPersist { .. }
        | AdminCommand::ResetBinaryLogsAndGtids { .. } => "sql/reset",
        AdminCommand::ShowReplicaStatus { .. } => "sql/show_replica_status",
        AdminCommand::ShowReplicas { .. } => "sql/show_replicas",
        AdminCommand::ShowBinaryLogs => "sql/show_binlogs",
        AdminCommand::ShowBinaryLogStatus => "sql/show_binary_log_status",
        AdminCommand::ShowBinlogEvents { relay: false, .. } => "sql/show_binlog_events",
        AdminCommand::ShowBinlogEvents { .. } => "sql/show_relaylog_events",
        AdminCommand::PurgeBinaryLogs(PurgeTo::BeforeUnixTime(_)) => "sql/purge_before_date",
        AdminCommand::PurgeBinaryLogs(_) => "sql/purge",
        AdminCommand::Flush { .. } => "sql/flush",
        AdminCommand::UnlockTables => "sql/unlock_tables",
        AdminCommand::Kill { .. } => "sql/kill",
        AdminCommand::CloneLocal { .. } => "abstract/clone",
        AdminCommand::Shutdown { restart: true } => "sql/restart",
        AdminCommand::Shutdown { .. } => "sql/shutdown",
        AdminCommand::ShowProcesslist { .. } => "sql/show_processlist",
        AdminCommand::ShowEngine { what, .. } => match what.to_ascii_lowercase().as_str() {
            "logs" => "sql/show_engine_logs",
            "mutex" => "sql/show_engine_mutex",
            _ => "sql/show_engine_status",
        },
        AdminCommand::ShowPlugins => "sql/show_plugins",
        AdminCommand::ShowPrivileges => "sql/show_privileges",
        AdminCommand::CreateUser { .. } => "sql/create_user",
        AdminCommand::AlterUser { .. } => "sql/alter_user",
        AdminCommand::DropUser { .. } => "sql/drop_user",
        AdminCommand::RenameUser(_) => "sql/rename_user",
        AdminCommand::SetPassword { .. } => "sql/set_password",
        AdminCommand::Grant { .. } | AdminCommand::GrantProxy { .. } => "sql/grant",
        AdminCommand::Revoke { on: None, .. } => "sql/revoke_all",
        AdminCommand::Revoke { .. } | AdminCommand::RevokeProxy { .. } => "sql/revoke",
        AdminCommand::GrantRoles { .. } => "sql/grant_roles",
        AdminCommand::RevokeRoles { .. } => "sql/revoke_roles",
        AdminCommand::CreateRole { .. } => "sql/create_role",
        AdminCommand::DropRole { .. } => "sql/drop_role",
        AdminCommand::SetRole(_) => "sql/set_role",
        AdminCommand::SetDefaultRole { .. } => "sql/alter_user_default_role",
        AdminCommand::ShowGrants { .. } => "sql/show_grants",
        AdminCommand::ShowCreateUser(_) => "sql/show_create_user",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::LexMode;

    #[test]
    fn statements_have_the_names_that_mysql_gives_them() {
        let named = |text: &str| {
            let parsed = crate::parse::parse(text.as_bytes(), LexMode::default());
            name(&parsed.expect("it can be parsed").expect("it is a statement").statement)
        };
        for (text, wanted) in [
            ("SELECT 1", "sql/select"),
            ("INSERT INTO t SELECT 1", "sql/insert_select"),
            ("REPLACE INTO t VALUES (1)", "sql/replace"),
            ("UPDATE t, u SET t.a = 1", "sql/update_multi"),
            ("DELETE FROM t", "sql/delete"),
            ("SHOW ERRORS", "sql/show_errors"),
            ("REVOKE ALL PRIVILEGES, GRANT OPTION FROM u", "sql/revoke_all"),
            ("SHOW ENGINE INNODB MUTEX", "sql/show_engine_mutex"),
            ("DROP PROCEDURE p", "sql/drop_procedure"),
        ] {
            assert_eq!(named(text), wanted, "{text}");
            assert_eq!(EventName::of(wanted).shown(), format!("statement/{wanted}"));
        }
    }
}
