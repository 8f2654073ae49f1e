//! How a report names a server, and what it says of the server's settings.

use serde_json::{Value, json};

/// A server as a report describes it.
#[derive(Clone, Debug)]
pub struct Described {
    /// The server's name, without its version.
    pub name: String,
    /// The version in the server's greeting.
    pub version: String,
    /// The options of the server's command line; empty for a server that the kit did not start.
    pub options: Vec<String>,
    /// The names and values of settings, as the server reports them.
    pub settings: Vec<(&'static str, String)>,
}

impl Described {
    /// Returns the name and the version.
    pub fn shown(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Returns the index of the server in `servers`, and appends it there if no server has its name
    /// yet.
    pub fn enter(self, servers: &mut Vec<Described>) -> usize {
        let known = servers.iter().position(|other| other.name == self.name);
        known.unwrap_or_else(|| {
            servers.push(self);
            servers.len() - 1
        })
    }

    /// Returns the options and the settings as JSON.
    pub fn json(&self) -> Value {
        let settings: serde_json::Map<String, Value> =
            self.settings.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        json!({ "server": self.shown(), "options": self.options, "settings": settings })
    }
}

/// Returns the end of a report: what was not measured, and the settings of the servers.
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
