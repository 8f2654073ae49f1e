//! The way from options as they were written to values: which variable or switch a name means.

use super::raw::{OptionError, RawOption};
use crate::process::version::release_number;
use crate::variables::{Kind, Setting, VariableId, find, parse_bool};
use sql::admin::{FilterKind, FilterRule};
use std::path::PathBuf;

/// The options that the command line and the files give the program.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Options {
    /// The values of system variables; a later one replaces an earlier one.
    pub settings: Vec<(VariableId, Setting)>,
    /// The option file of each of these values. `None` means the command line.
    pub files: Vec<Option<PathBuf>>,
    /// `--defaults-extra-file`: a further option file.
    pub extra_file: Option<PathBuf>,
    /// `--initialize`: initialise the data directory and exit; root gets a random password.
    pub initialize: bool,
    /// `--initialize-insecure`: initialise the data directory and exit; root gets no password.
    pub initialize_insecure: bool,
    /// `--skip-grant-tables`: every client may do everything.
    pub skip_grant_tables: bool,
    /// `--no-defaults`: values come from the command line alone.
    pub no_defaults: bool,
    /// `--log-bin=NAME`: the base name of binary log files.
    pub log_bin_basename: Option<String>,
    /// `--log-bin-index=NAME`: the file that lists the binary log files.
    pub log_bin_index: Option<String>,
    /// `--binlog-do-db` and `--binlog-ignore-db`, each of which may be given several times.
    pub binlog_filter: engine::BinlogFilter,
    /// `--relay-log-index=NAME`: the file that lists the relay log files.
    pub relay_log_index: Option<String>,
    /// `--master-info-file=NAME`: the file of the connection's repository.
    pub master_info_file: Option<String>,
    /// `--replicate-do-db` and the other filters, each of which may be given several times.
    pub replication_filters: Vec<(FilterKind, FilterRule)>,
    /// `--user=NAME`: the user that the server must run as.
    pub user: Option<String>,
    /// `--help`: print the help and exit.
    pub help: bool,
    /// `--version`: print the version and exit.
    pub version: bool,
    /// `--print-defaults`: print the options and exit.
    pub print_defaults: bool,
    /// All options as they were read, for `--print-defaults`.
    pub raw: Vec<RawOption>,
    /// Warnings for the log.
    pub warnings: Vec<String>,
}

/// The options that are no system variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// `--initialize` was given.
    Initialize,
    /// `--initialize-insecure` was given.
    InitializeInsecure,
    /// `--skip-grant-tables` was given.
    SkipGrantTables,
    /// `--help` or `--verbose` was given.
    Help,
    /// `--version` was given.
    Version,
    /// `--print-defaults` was given.
    PrintDefaults,
    /// `--console`: the log goes to standard error.
    Console,
}

const SWITCHES: &[(&str, Switch)] = &[
    ("initialize", Switch::Initialize),
    ("initialize_insecure", Switch::InitializeInsecure),
    ("skip_grant_tables", Switch::SkipGrantTables),
    ("help", Switch::Help),
    ("verbose", Switch::Help),
    ("version", Switch::Version),
    ("print_defaults", Switch::PrintDefaults),
    ("console", Switch::Console),
];

/// The options of MySQL 8.0 about which it warns, and which MySQL 9 no longer has.
const DEPRECATED: [&str; 4] =
    ["master_info_file", "master_info_repository", "relay_log_info_file", "relay_log_info_repository"];

/// The libraries of MySQL's plugins whose work this server does without a plugin.
const BUILT_IN_PLUGINS: [&str; 5] =
    ["semisync_source", "semisync_replica", "semisync_master", "semisync_slave", "mysql_clone"];

/// The page sizes that can be chosen, in bytes.
const PAGE_SIZES: &[u64] = &[4096, 8192, 16384, 32768, 65536];

/// Applies the options of files, and then the arguments.
pub fn resolve(from_files: Vec<RawOption>, args: &[String]) -> Result<Options, OptionError> {
    let mut options = Options::default();
    for raw in from_files {
        apply(&mut options, raw, &mut std::iter::empty()).map(drop)?;
    }
    let mut args = args.iter().cloned();
    while let Some(arg) = args.next() {
        let raw = split_argument(&arg)?;
        apply(&mut options, raw, &mut args)?;
    }
    Ok(options)
}

fn split_argument(arg: &str) -> Result<RawOption, OptionError> {
    let raw = |name: &str, value: Option<&str>| RawOption {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        place: None,
    };
    if let Some(long) = arg.strip_prefix("--") {
        return Ok(match long.split_once('=') {
            Some((name, value)) => raw(name, Some(value)),
            None => raw(long, None),
        });
    }
    let short = arg.strip_prefix('-').filter(|s| !s.is_empty());
    let Some(short) = short else {
        return Err(OptionError(format!("Too many arguments (first extra is '{arg}').")));
    };
    let (letter, value) = short.split_at(short.chars().next().map_or(0, char::len_utf8));
    let value = (!value.is_empty()).then_some(value);
    let name = match letter {
        "P" => "port",
        "h" => "datadir",
        "u" => "user",
        "t" => "tmpdir",
        "V" => "version",
        "v" => "verbose",
        "?" | "I" => "help",
        _ => return Err(OptionError(format!("unknown option '-{letter}'"))),
    };
    Ok(raw(name, value))
}

/// Applies one option. A missing value is taken from the following arguments.
fn apply(
    options: &mut Options,
    mut raw: RawOption,
    following: &mut dyn Iterator<Item = String>,
) -> Result<(), OptionError> {
    let name = raw.name.replace('-', "_");
    let (name, loose) = match name.strip_prefix("loose_") {
        Some(rest) => (rest.to_owned(), true),
        None => (name, false),
    };
    let result = match meaning(&name) {
        Some(meaning) => {
            if raw.value.is_none() && meaning.needs_value() {
                raw.value = following.next();
            }
            if DEPRECATED.contains(&name.as_str()) {
                options.warnings.push(format!(
                    "The syntax '--{}' is deprecated and will be removed in a future release.",
                    name.replace('_', "-")
                ));
            }
            set(options, meaning, raw.value.as_deref())
        }
        None if loose => {
            options.warnings.push(match &raw.value {
                Some(value) => format!("unknown variable '{}={value}'", raw.name),
                None => format!("unknown option '--{}'", raw.name),
            });
            Ok(())
        }
        None => Err(match &raw.value {
            Some(value) => format!("unknown variable '{}={value}'", raw.name),
            None => format!("unknown option '--{}'", raw.name),
        }),
    };
    let place = raw.place.clone();
    let file = place.as_ref().map(|(path, _)| path.clone());
    options.files.resize(options.settings.len(), file);
    options.raw.push(raw);
    result.map_err(|message| {
        OptionError(match place {
            Some((path, line)) => format!("{message} ({} line {line})", path.display()),
            None => message,
        })
    })
}

enum Meaning {
    Variable(VariableId),
    /// A boolean variable with `skip-`, `disable-` or `enable-` in front.
    Forced(VariableId, bool),
    Switch(Switch),
    LogBin,
    LogBinIndex,
    RelayLogIndex,
    MasterInfoFile,
    Filter(FilterKind),
    BinlogDoDb,
    BinlogIgnoreDb,
    User,
    /// Plugins that mysqld loads. Those that this server has are in it already.
    PluginLoad,
    /// The authentication plugin that MySQL 8.4 has to be told to have. It is always here.
    NativePassword,
    /// The X protocol, which this server does not have, so that it can only be switched off.
    MysqlX {
        off: bool,
    },
}

impl Meaning {
    fn needs_value(&self) -> bool {
        match self {
            Meaning::Variable(id) => match id.definition().kind {
                Kind::Bool => false,
                Kind::Enum(words) => !words.contains(&"ON"),
                _ => true,
            },
            Meaning::BinlogDoDb | Meaning::BinlogIgnoreDb => true,
            Meaning::User | Meaning::LogBinIndex | Meaning::RelayLogIndex | Meaning::MasterInfoFile => true,
            Meaning::Filter(_) | Meaning::PluginLoad => true,
            _ => false,
        }
    }
}

fn meaning(name: &str) -> Option<Meaning> {
    if let Some((_, switch)) = SWITCHES.iter().find(|(n, _)| *n == name) {
        return Some(Meaning::Switch(*switch));
    }
    match name {
        "log_bin" => return Some(Meaning::LogBin),
        "binlog_do_db" => return Some(Meaning::BinlogDoDb),
        "binlog_ignore_db" => return Some(Meaning::BinlogIgnoreDb),
        "log_bin_index" => return Some(Meaning::LogBinIndex),
        "relay_log_index" => return Some(Meaning::RelayLogIndex),
        "master_info_file" => return Some(Meaning::MasterInfoFile),
        "user" => return Some(Meaning::User),
        "plugin_load" | "plugin_load_add" | "early_plugin_load" => return Some(Meaning::PluginLoad),
        "mysql_native_password" => return Some(Meaning::NativePassword),
        "mysqlx" => return Some(Meaning::MysqlX { off: false }),
        // This is the one option whose variable has another name.
        "default_time_zone" => return find("time_zone").map(Meaning::Variable),
        "skip_mysqlx" => return Some(Meaning::MysqlX { off: true }),
        _ => {}
    }
    if let Some(kind) = FilterKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name)) {
        return Some(Meaning::Filter(kind));
    }
    if let Some(id) = find(name).filter(|id| id.definition().is_option) {
        return Some(Meaning::Variable(id));
    }
    for (prefix, on) in [("skip_", false), ("disable_", false), ("enable_", true)] {
        let id = name.strip_prefix(prefix).and_then(find);
        if let Some(id) = id.filter(|id| id.definition().is_option && id.definition().kind == Kind::Bool) {
            return Some(Meaning::Forced(id, on));
        }
    }
    None
}

fn set(options: &mut Options, meaning: Meaning, value: Option<&str>) -> Result<(), String> {
    match meaning {
        Meaning::Forced(id, on) => {
            let on = match value.map(parse_bool) {
                None => on,
                Some(Some(asked)) => asked == on,
                Some(None) => {
                    return Err(format!("boolean value '{}' was not recognized", value.unwrap_or("")));
                }
            };
            options.settings.push((id, Setting::Bool(on)));
        }
        Meaning::Variable(id) => return set_variable(options, id, value),
        Meaning::LogBin => {
            options.log_bin_basename = value.filter(|v| !v.is_empty()).map(str::to_owned);
            options.settings.push((named("log_bin"), Setting::Bool(true)));
        }
        Meaning::BinlogDoDb => options.binlog_filter.do_schemas.extend(value.map(str::to_owned)),
        Meaning::BinlogIgnoreDb => options.binlog_filter.ignore_schemas.extend(value.map(str::to_owned)),
        Meaning::LogBinIndex => options.log_bin_index = value.map(str::to_owned),
        Meaning::RelayLogIndex => options.relay_log_index = value.map(str::to_owned),
        Meaning::MasterInfoFile => options.master_info_file = value.map(str::to_owned),
        Meaning::Filter(kind) => {
            let rule = filter_rule(kind, value.unwrap_or_default().trim())?;
            options.replication_filters.push((kind, rule));
        }
        Meaning::User => options.user = value.map(str::to_owned),
        Meaning::PluginLoad => {
            let absent = value.unwrap_or_default().split(';').filter_map(absent_plugin);
            options.warnings.extend(absent);
        }
        Meaning::NativePassword => {
            if !value
                .is_none_or(|value| value.eq_ignore_ascii_case("FORCE") || parse_bool(value) == Some(true))
            {
                return Err("mysql_native_password cannot be switched off".into());
            }
        }
        Meaning::MysqlX { off } => {
            if !off && value.and_then(parse_bool) != Some(false) {
                return Err("the X protocol is not available: unknown option '--mysqlx'".into());
            }
        }
        Meaning::Switch(switch) => set_switch(options, switch, value)?,
    }
    Ok(())
}

/// Returns mysqld's words about a plugin of `--plugin-load` that this server does not have; mysqld
/// starts without such a plugin too. An element of the list is `NAME=LIBRARY` or `LIBRARY`.
fn absent_plugin(element: &str) -> Option<String> {
    let element = element.trim();
    let (name, library) = element.split_once('=').unwrap_or((element, element));
    let built_in = BUILT_IN_PLUGINS.contains(&library.trim_end_matches(".so"));
    (!element.is_empty() && !built_in)
        .then(|| format!("Couldn't load plugin named '{name}' with soname '{library}'."))
}

/// Parses a rule of `--replicate-...`, as mysqld does.
fn filter_rule(kind: FilterKind, value: &str) -> Result<FilterRule, String> {
    let wrong = || format!("Bad syntax in {}: {value}", kind.name().to_ascii_lowercase().replace('_', "-"));
    let (what, to) = match kind {
        FilterKind::RewriteDb => {
            let (from, to) = value.split_once("->").ok_or_else(wrong)?;
            (from.trim(), to.trim())
        }
        FilterKind::DoDb | FilterKind::IgnoreDb => (value, ""),
        _ if !value.contains('.') => return Err(wrong()),
        _ => (value, ""),
    };
    if what.is_empty() || (kind == FilterKind::RewriteDb && to.is_empty()) {
        return Err(wrong());
    }
    Ok(FilterRule { what: what.to_owned(), to: to.to_owned() })
}

fn named(name: &str) -> VariableId {
    find(name).unwrap_or_else(|| panic!("there is no system variable '{name}'"))
}

fn set_switch(options: &mut Options, switch: Switch, value: Option<&str>) -> Result<(), String> {
    let on = match value {
        None => true,
        Some(text) => parse_bool(text).ok_or_else(|| format!("boolean value '{text}' was not recognized"))?,
    };
    match switch {
        Switch::Initialize => options.initialize = on,
        Switch::InitializeInsecure => options.initialize_insecure = on,
        Switch::SkipGrantTables => options.skip_grant_tables = on,
        Switch::Help => options.help = on,
        Switch::Version => options.version = on,
        Switch::PrintDefaults => options.print_defaults = on,
        Switch::Console => options.settings.push((named("log_error"), Setting::Text("stderr".into()))),
    }
    Ok(())
}

fn set_variable(options: &mut Options, id: VariableId, value: Option<&str>) -> Result<(), String> {
    let definition = id.definition();
    let (setting, note) = definition.from_option(value).map_err(|bad| bad.0)?;
    options.warnings.extend(note);
    match definition.name {
        "innodb_page_size" if !PAGE_SIZES.contains(&setting.uint()) => {
            return Err(format!(
                "Error while setting value '{}' to 'innodb_page_size': it must be 4096, 8192, 16384, 32768 or 65536",
                value.unwrap_or("")
            ));
        }
        "version_announced" if !setting.text().is_empty() && release_number(setting.text()).is_none() => {
            let given = setting.text();
            return Err(format!(
                "Error while setting value '{given}' to 'version_announced': it must be a release of MySQL 8 or 9"
            ));
        }
        _ => {}
    }
    options.settings.push((id, setting));
    Ok(())
}
