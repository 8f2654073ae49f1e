//! The options of `slipstream serve`, which are mysqld's own, from the command line and from option
//! files.
//!
//! In: arguments and files. Out: [`Options`], which has the values of system variables in the order
//! in which they apply (files first, then the command line, so that the last one wins), and the
//! options that are no variables.
//!
//! An option is the name of a system variable, with dashes or underscores, or one of [`Switch`].
//! Booleans may have the prefixes `skip-`, `disable-` and `enable-`, and options that may be
//! unknown have the prefix `loose-` (MySQL manual, 6.2.2).

mod file;
pub mod help;
pub mod manual;
mod raw;
mod resolve;

pub use file::DEFAULT_FILE;
pub use raw::{OptionError, RawOption};
pub use resolve::{Options, Switch};

use os::disk::Disk;
use std::path::PathBuf;

/// Reads the arguments after `serve`, and the option files that they name.
pub fn read(args: &[String], disk: &dyn Disk) -> Result<Options, OptionError> {
    let (files, extra_file, rest) = split_file_options(args)?;
    let no_defaults = files.is_empty();
    let mut raw = Vec::new();
    for (path, must_exist) in files {
        raw.extend(file::read(disk, &path, must_exist)?);
    }
    Ok(Options { no_defaults, extra_file, ..resolve::resolve(raw, &rest)? })
}

/// An option file, and whether it must exist.
type OptionFile = (PathBuf, bool);

/// The option files that are to be read, the path of the extra one among them, and the arguments
/// that are not about files.
type SplitArguments = (Vec<OptionFile>, Option<PathBuf>, Vec<String>);

/// Takes the options about files out of the arguments.
fn split_file_options(args: &[String]) -> Result<SplitArguments, OptionError> {
    let mut main = Some((PathBuf::from(DEFAULT_FILE), false));
    let mut extra = None;
    let mut rest = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name.replace('_', "-"), Some(value.to_owned())),
            None => (arg.replace('_', "-"), None),
        };
        let mut file = || {
            value
                .clone()
                .or_else(|| args.next().cloned())
                .map(PathBuf::from)
                .ok_or_else(|| OptionError(format!("option '{name}' requires an argument")))
        };
        match name.as_str() {
            "--no-defaults" => main = None,
            "--defaults-file" => main = Some((file()?, true)),
            "--defaults-extra-file" => extra = Some((file()?, true)),
            _ => rest.push(arg.clone()),
        }
    }
    let extra_file = extra.as_ref().map(|(path, _): &OptionFile| path.clone());
    Ok((main.into_iter().chain(extra).collect(), extra_file, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::{Setting, VariableId};
    use os::sim::SimDisk;
    use std::path::Path;

    fn disk_with(files: &[(&str, &str)]) -> impl Disk {
        let disk = SimDisk::new(1);
        for (path, text) in files {
            if let Some(dir) = Path::new(path).parent() {
                disk.create_dir_all(dir).unwrap();
            }
            disk.write_atomically(Path::new(path), text.as_bytes()).unwrap();
        }
        disk
    }

    fn options(args: &[&str], files: &[(&str, &str)]) -> Result<Options, OptionError> {
        let args: Vec<String> = args.iter().map(|a| a.to_string()).collect();
        read(&args, &disk_with(files))
    }

    fn value(options: &Options, name: &str) -> Option<String> {
        let of = |&(id, ref setting): &(VariableId, Setting)| {
            (id.definition().name == name).then(|| setting.to_string())
        };
        options.settings.iter().rev().find_map(of)
    }

    #[test]
    fn names_take_dashes_underscores_prefixes_and_separate_values() {
        let o = options(
            &[
                "--no-defaults",
                "--innodb-buffer_pool-size=1G",
                "--port",
                "3307",
                "--skip-name-resolve",
                "--read_only=1",
                "--skip-binlog-order-commits",
                "--loose-nothing-of-this-name=3",
                "--enable-super-read-only",
                "-P3308",
            ],
            &[],
        )
        .unwrap();
        assert_eq!(value(&o, "innodb_buffer_pool_size").unwrap(), "1073741824");
        assert_eq!(value(&o, "port").unwrap(), "3308");
        assert_eq!(value(&o, "skip_name_resolve").unwrap(), "ON");
        assert_eq!(value(&o, "read_only").unwrap(), "ON");
        assert_eq!(value(&o, "super_read_only").unwrap(), "ON");
        assert_eq!(value(&o, "binlog_order_commits").unwrap(), "OFF");
        assert_eq!(o.warnings.len(), 1, "{:?}", o.warnings);
    }

    #[test]
    fn the_binary_log_is_a_name_and_a_switch() {
        let o = options(&["--no-defaults", "--log-bin=mysql-bin"], &[]).unwrap();
        assert_eq!(
            (o.log_bin_basename.as_deref(), value(&o, "log_bin").as_deref()),
            (Some("mysql-bin"), Some("ON"))
        );
        let o = options(&["--no-defaults", "--skip-log-bin"], &[]).unwrap();
        assert_eq!(value(&o, "log_bin").as_deref(), Some("OFF"));
        let o = options(&["--no-defaults", "--log-bin", "--initialize-insecure"], &[]).unwrap();
        assert_eq!((o.log_bin_basename.as_deref(), o.initialize_insecure), (None, true));
    }

    #[test]
    fn unknown_options_and_bad_values_are_refused_by_name() {
        for (args, message) in [
            (&["--foo=bar"][..], "unknown variable 'foo=bar'"),
            (&["--foo"], "unknown option '--foo'"),
            (&["--skip-port"], "unknown option '--skip-port'"),
            (&["--port=12x"], "Unknown suffix 'x' used for variable 'port'"),
            (&["--port"], "option '--port' requires an argument"),
            (&["--gtid-mode=perhaps"], "Error while setting value 'perhaps' to 'gtid_mode'"),
            (&["--innodb-page-size=5000"], "innodb_page_size"),
            (&["--version-comment=mine"], "unknown variable 'version-comment=mine'"),
            (&["datadir"], "Too many arguments (first extra is 'datadir')"),
        ] {
            let args: Vec<&str> = std::iter::once("--no-defaults").chain(args.iter().copied()).collect();
            let error = options(&args, &[]).unwrap_err();
            assert!(error.0.contains(message), "{args:?}: {error}");
        }
    }

    #[test]
    fn plugins_that_are_built_in_load_and_others_are_warned_of() {
        let list = "--plugin-load=rpl_semi_sync_source=semisync_source.so;a=b.so;c.so";
        let o = options(&["--no-defaults", list, "--mysql-native-password=ON"], &[]).unwrap();
        let warnings = ["named 'a' with soname 'b.so'", "named 'c.so' with soname 'c.so'"];
        assert_eq!(o.warnings, warnings.map(|end| format!("Couldn't load plugin {end}.")));
        assert!(options(&["--no-defaults", "--mysql-native-password=OFF"], &[]).is_err());
    }

    #[test]
    fn the_announced_version_is_a_release_of_mysql() {
        let o = options(&["--no-defaults", "--version-announced=8.4.6"], &[]).unwrap();
        assert_eq!(value(&o, "version_announced").as_deref(), Some("8.4.6"));
        let error = options(&["--no-defaults", "--version-announced=5.7.1"], &[]).unwrap_err();
        assert!(error.0.contains("'5.7.1' to 'version_announced'"), "{error}");
    }

    #[test]
    fn files_come_before_the_command_line_and_include_others() {
        let main = "# comment\n[client]\nport=1\n[mysqld]\nport = 3310 ; \nsocket='/tmp/a b.sock'\n\
                    !include /etc/more.cnf\n[slipstream]\nskip-name-resolve\nserver_id=9 # mine\n";
        let more = "[server]\nmax-connections=77\n[mysqld-5.7]\nnonsense=1\n";
        let files = [("/etc/main.cnf", main), ("/etc/more.cnf", more)];
        let o = options(&["--defaults-file=/etc/main.cnf", "--server-id=10"], &files).unwrap();
        assert_eq!(value(&o, "port").unwrap(), "3310");
        assert_eq!(value(&o, "socket").unwrap(), "/tmp/a b.sock");
        assert_eq!(value(&o, "max_connections").unwrap(), "77");
        assert_eq!(value(&o, "skip_name_resolve").unwrap(), "ON");
        assert_eq!(value(&o, "server_id").unwrap(), "10");
    }

    #[test]
    fn errors_in_files_say_where() {
        let error = options(&["--defaults-file=/etc/none.cnf"], &[]).unwrap_err();
        assert!(error.0.contains("/etc/none.cnf"), "{error}");
        let error = options(&["--defaults-file=/a/x.cnf"], &[("/a/x.cnf", "[mysqld]\nfoo=1\n")]).unwrap_err();
        assert!(error.0.contains("unknown variable 'foo=1'") && error.0.contains("/a/x.cnf"), "{error}");
        let error = options(&["--defaults-file=/a/x.cnf"], &[("/a/x.cnf", "port=1\n")]).unwrap_err();
        assert!(error.0.contains("without preceding group") && error.0.contains("line 1"), "{error}");
        let error =
            options(&["--defaults-file=/a/x.cnf"], &[("/a/x.cnf", "!include /a/x.cnf\n")]).unwrap_err();
        assert!(error.0.contains("nested"), "{error}");
    }
}
