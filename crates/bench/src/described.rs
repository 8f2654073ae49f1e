//! How a report names a server, and what it says of its settings.

use serde_json::{Value, json};

/// A server, as a report tells of it.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its name, without the version.
    pub name: String,
    /// The version that it greets with.
    pub version: String,
    /// The options of its command line; empty for somebody's own server.
    pub options: Vec<String>,
    /// Its settings, as it tells them itself.
    pub settings: Vec<(&'static str, String)>,
}

impl Described {
    /// Name and version.
    pub fn shown(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Its place among a report's servers, where it is entered unless it is there.
    pub fn enter(self, servers: &mut Vec<Described>) -> usize {
        let known = servers.iter().position(|other| other.name == self.name);
        known.unwrap_or_else(|| {
            servers.push(self);
            servers.len() - 1
        })
    }

    /// Options and settings as JSON.
    pub fn json(&self) -> Value {
        let settings: serde_json::Map<String, Value> =
            self.settings.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        json!({ "server": self.shown(), "options": self.options, "settings": settings })
    }
}

/// The end of a report: what was not measured, and the settings of what was.
pub fn settings_text<'a>(missing: &[String], servers: impl Iterator<Item = &'a Described>) -> String {
    let mut out = String::new();
    for missing in missing {
        out.push_str(&format!("\nNOT MEASURED: {missing}\n"));
    }
    out.push_str(
        "\nSettings (durable: sync_binlog=1, innodb_flush_log_at_trx_commit=1; relaxed: 0 and 2, set while running):\n",
    );
    for server in servers {
        let told: Vec<String> =
            server.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !server.options.is_empty() {
            out.push_str(&format!("  {}, started with: {}\n", server.shown(), server.options.join(" ")));
        }
        out.push_str(&format!("  {} says: {}\n", server.shown(), told.join(" ")));
    }
    out
}
