//! Handing semi-synchronous replication over: the new source waits for its replicas as the old one
//! did.

use std::collections::HashMap;

use crate::error::Failure;
use crate::member::Member;

/// The settings that a new source takes over before it begins to wait.
const SETTINGS: [&str; 2] = ["rpl_semi_sync_source_timeout", "rpl_semi_sync_source_wait_for_replica_count"];
const SOURCE: &str = "rpl_semi_sync_source_enabled";
const REPLICA: &str = "rpl_semi_sync_replica_enabled";

/// What the old source and its replica have of semi-synchronous replication.
#[derive(Debug, Default)]
pub struct SemiSync {
    of_source: HashMap<String, String>,
    of_replica: HashMap<String, String>,
}

impl SemiSync {
    /// Asks both.
    ///
    /// # Errors
    /// Returns a failure when one of them cannot be asked.
    pub fn ask(source: &mut Member, replica: &mut Member) -> Result<SemiSync, Failure> {
        Ok(SemiSync { of_source: variables(source)?, of_replica: variables(replica)? })
    }

    /// Reports whether the old source waits for its replicas.
    pub fn is_wanted(&self) -> bool {
        self.of_source.get(SOURCE).is_some_and(|value| value == "ON")
    }

    /// Reports whether the replica can wait as a source.
    pub fn is_possible(&self) -> bool {
        self.of_replica.contains_key(SOURCE)
    }

    fn is_handed_over(&self) -> bool {
        self.is_wanted() && self.is_possible()
    }

    /// Makes the replica wait for its own replicas as soon as it is the source.
    ///
    /// # Errors
    /// Returns a failure when the server refuses it.
    pub fn begin(&self, replica: &mut Member) -> Result<(), Failure> {
        if !self.is_handed_over() {
            return Ok(());
        }
        let is_number = |value: &&String| value.bytes().all(|byte| byte.is_ascii_digit());
        for name in SETTINGS {
            if let Some(value) = self.of_source.get(name).filter(is_number) {
                replica.run(name, &format!("SET GLOBAL {name} = {value}"))?;
            }
        }
        replica.run(SOURCE, &format!("SET GLOBAL {SOURCE} = ON")).map(drop)
    }

    /// Undoes [`SemiSync::begin`].
    ///
    /// # Errors
    /// Returns a failure when the server refuses it.
    pub fn take_back(&self, replica: &mut Member) -> Result<(), Failure> {
        if !self.is_handed_over() {
            return Ok(());
        }
        for name in SETTINGS {
            if let Some(value) = self.of_replica.get(name) {
                replica.run(name, &format!("SET GLOBAL {name} = {value}"))?;
            }
        }
        let was = self.of_replica.get(SOURCE).map_or("OFF", String::as_str);
        replica.run(SOURCE, &format!("SET GLOBAL {SOURCE} = {was}")).map(drop)
    }

    /// Makes the old source acknowledge as a replica, where it can, and wait for nobody.
    ///
    /// # Errors
    /// Returns a failure when the server refuses it.
    pub fn turn_round(&self, source: &mut Member) -> Result<(), Failure> {
        if !self.is_handed_over() {
            return Ok(());
        }
        source.run(SOURCE, &format!("SET GLOBAL {SOURCE} = OFF"))?;
        if self.of_source.contains_key(REPLICA) {
            source.run(REPLICA, &format!("SET GLOBAL {REPLICA} = ON"))?;
        }
        Ok(())
    }
}

fn variables(member: &mut Member) -> Result<HashMap<String, String>, Failure> {
    let sql = "SHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync_%'";
    let shown = member.run(sql, sql)?;
    let cell = |row, column| shown.cell(row, column).unwrap_or_default();
    Ok((0..shown.rows.len()).map(|row| (cell(row, 0), cell(row, 1))).collect())
}
