//! The file that keeps a channel's configuration.
//!
//! The file `replica_channel.info` in the data directory (`replica_channel-NAME.info` for a named
//! channel) is text with one `name=value` per line. It is replaced atomically: after a crash it is
//! the old one or the new one. `position_epoch` counts the changes of the starting position. A
//! position in a commit record counts only if it carries the same epoch, so that a CHANGE followed
//! by a crash is never undone by the position of an older commit.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use os::disk::Disk;

use super::{ChannelConfig, UseGtid};
use crate::channel_name::{escape_name, unescape_name};

/// The file of the default channel in the data directory. The file of a named channel has the
/// channel's name in its own.
const CHANNEL_FILE: &str = "replica_channel.info";
/// The parts of a file's name before and behind the channel's name.
const AROUND_NAME: (&str, &str) = ("replica_channel-", ".info");

impl ChannelConfig {
    /// Returns the names of all named channels that have a file.
    pub fn names(disk: &dyn Disk, datadir: &Path) -> io::Result<Vec<String>> {
        let name_in = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?.strip_prefix(AROUND_NAME.0)?;
            unescape_name(name.strip_suffix(AROUND_NAME.1)?)
        };
        Ok(disk.list(datadir)?.iter().filter_map(name_in).collect())
    }

    /// Reads the channel's file. `None` means that there is none, as on a server that never had a
    /// source.
    pub fn load(disk: &dyn Disk, datadir: &Path, channel: &str) -> io::Result<Option<ChannelConfig>> {
        let path = datadir.join(file_name(channel));
        if !disk.exists(&path)? {
            return Ok(None);
        }
        let text = String::from_utf8(disk.read(&path)?).map_err(|_| damaged(&path, "it is not text"))?;
        ChannelConfig::parse(&text).map(Some).map_err(|what| damaged(&path, &what))
    }

    /// Writes the file, atomically and synced. It holds the source's password.
    pub fn store(&self, disk: &dyn Disk, datadir: &Path, channel: &str) -> io::Result<()> {
        disk.write_secret_atomically(&datadir.join(file_name(channel)), self.format().as_bytes())
    }

    /// Removes the file, if there is one (RESET REPLICA ALL).
    pub fn remove(disk: &dyn Disk, datadir: &Path, channel: &str) -> io::Result<()> {
        let path = datadir.join(file_name(channel));
        if disk.exists(&path)? {
            disk.remove(&path)?;
            disk.sync_dir(datadir)?;
        }
        Ok(())
    }

    fn format(&self) -> String {
        let ids: Vec<String> = self.ignore_server_ids.iter().map(u32::to_string).collect();
        let use_gtid = if self.use_gtid == UseGtid::SlavePos { "slave_pos" } else { "no" };
        let mut text = String::new();
        let mut line = |name: &str, value: &dyn std::fmt::Display| {
            let value = value.to_string().replace('\\', "\\\\").replace('\n', "\\n");
            writeln!(text, "{name}={value}").expect("a String takes it");
        };
        line("host", &self.host);
        line("port", &self.port);
        line("user", &self.user);
        line("password", &self.password);
        line("bind", &self.bind);
        line("log_file", &self.log_file);
        line("log_pos", &self.log_pos);
        line("auto_position", &u8::from(self.auto_position));
        line("use_gtid", &use_gtid);
        line("gtid_slave_pos", &self.gtid_slave_pos);
        line("connect_retry_s", &self.connect_retry_s);
        line("retry_count", &self.retry_count);
        line("heartbeat_period_s", &self.heartbeat_period_s);
        line("delay_s", &self.delay_s);
        line("get_public_key", &u8::from(self.get_public_key));
        line("public_key_path", &self.public_key_path);
        line("ssl", &u8::from(self.ssl));
        line("ssl_ca", &self.ssl_ca);
        line("ssl_capath", &self.ssl_capath);
        line("ssl_cert", &self.ssl_cert);
        line("ssl_cipher", &self.ssl_cipher);
        line("ssl_key", &self.ssl_key);
        line("ssl_verify_server_cert", &u8::from(self.ssl_verify_server_cert));
        line("tls_version", &self.tls_version);
        if let Some(suites) = &self.tls_ciphersuites {
            line("tls_ciphersuites", suites);
        }
        line("ignore_server_ids", &ids.join(","));
        line("compression_algorithms", &self.compression_algorithms);
        line("zstd_compression_level", &self.zstd_compression_level);
        line("require_row_format", &u8::from(self.require_row_format));
        line("position_epoch", &self.position_epoch);
        text
    }

    fn parse(text: &str) -> Result<ChannelConfig, String> {
        fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
            value.parse().map_err(|_| format!("'{value}' is no value for {name}"))
        }
        let mut config = ChannelConfig::default();
        for line in text.lines() {
            let (name, value) = line.split_once('=').ok_or_else(|| format!("line '{line}' has no '='"))?;
            let value = unescape(value);
            match name {
                "host" => config.host = value,
                "port" => config.port = number(name, &value)?,
                "user" => config.user = value,
                "password" => config.password = value,
                "bind" => config.bind = value,
                "log_file" => config.log_file = value,
                "log_pos" => config.log_pos = number(name, &value)?,
                "auto_position" => config.auto_position = value == "1",
                "use_gtid" => {
                    config.use_gtid = if value == "slave_pos" { UseGtid::SlavePos } else { UseGtid::No }
                }
                "gtid_slave_pos" => config.gtid_slave_pos = value,
                "connect_retry_s" => config.connect_retry_s = number(name, &value)?,
                "retry_count" => config.retry_count = number(name, &value)?,
                "heartbeat_period_s" => config.heartbeat_period_s = number(name, &value)?,
                "delay_s" => config.delay_s = number(name, &value)?,
                "get_public_key" => config.get_public_key = value == "1",
                "public_key_path" => config.public_key_path = value,
                "ssl" => config.ssl = value == "1",
                "ssl_ca" => config.ssl_ca = value,
                "ssl_capath" => config.ssl_capath = value,
                "ssl_cert" => config.ssl_cert = value,
                "ssl_cipher" => config.ssl_cipher = value,
                "ssl_key" => config.ssl_key = value,
                "ssl_verify_server_cert" => config.ssl_verify_server_cert = value == "1",
                "tls_version" => config.tls_version = value,
                "tls_ciphersuites" => config.tls_ciphersuites = Some(value),
                "ignore_server_ids" => {
                    config.ignore_server_ids = value
                        .split(',')
                        .filter(|id| !id.is_empty())
                        .map(|id| number(name, id))
                        .collect::<Result<_, _>>()?;
                }
                "compression_algorithms" => config.compression_algorithms = value,
                "zstd_compression_level" => config.zstd_compression_level = number(name, &value)?,
                "require_row_format" => config.require_row_format = value == "1",
                "position_epoch" => config.position_epoch = number(name, &value)?,
                _ => return Err(format!("'{name}' is no setting of a channel")),
            }
        }
        Ok(config)
    }
}

/// Returns the name of a channel's file.
fn file_name(channel: &str) -> String {
    match channel {
        "" => CHANNEL_FILE.to_string(),
        name => format!("{}{}{}", AROUND_NAME.0, escape_name(name), AROUND_NAME.1),
    }
}

fn damaged(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("cannot use '{}': {what}", path.display()))
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(if chars.next() == Some('n') { '\n' } else { '\\' }),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_returns_the_same() {
        let mut config = ChannelConfig { ignore_server_ids: vec![7, 9], ..ChannelConfig::default() };
        (config.host, config.password) = ("db1".into(), "a=b\\n\nc".into());
        (config.ssl, config.ssl_capath, config.ssl_cipher) = (true, "/ca".into(), "A:B".into());
        (config.tls_version, config.tls_ciphersuites) = ("TLSv1.3".into(), Some(String::new()));
        assert_eq!(ChannelConfig::parse(&config.format()), Ok(config));
        assert!(ChannelConfig::parse("port=x\n").is_err());
        assert!(ChannelConfig::parse("what=1\n").is_err());
    }

    #[test]
    fn a_channels_name_is_in_its_files_name() {
        assert_eq!(file_name(""), "replica_channel.info");
        for name in ["a", "two words", "../x", "\u{e9}\u{4e16}", "a@b", "@", "a.info"] {
            let file = file_name(name);
            assert!(!file.contains('/'), "{file}");
            let inside = file.strip_prefix(AROUND_NAME.0).and_then(|rest| rest.strip_suffix(AROUND_NAME.1));
            assert_eq!(inside.and_then(unescape_name).as_deref(), Some(name));
        }
    }
}
