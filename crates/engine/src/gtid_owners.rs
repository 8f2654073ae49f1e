//! `gtid_mode`, and which session owns which GTID. A session that has set `gtid_next` to a GTID is
//! the only one that may commit a transaction under it, until it has committed or rolled back.
//! Another session that asks for the same GTID waits until then.
//!
//! Ownership and mode are checked under one mutex, so that no transaction has a kind of GTID that
//! the mode forbids by the time it commits.
//!
//! Lock order: the owners' mutex before the sequencer's.

use crate::commit::sequencer::Sequencer;
use crate::error::{EngineError, Result};
use binlog::gtid::Gtid;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The longest sleep of a waiter before it looks whether it was killed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// The values of `gtid_mode`, in the order in which a server steps through them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GtidMode {
    /// No transaction has a GTID.
    #[default]
    Off,
    /// New transactions have no GTID; those of a source may have one.
    OffPermissive,
    /// New transactions have a GTID; those of a source need not have one.
    OnPermissive,
    /// Every transaction has a GTID.
    On,
}

impl GtidMode {
    /// Reports whether new transactions get GTIDs.
    pub fn gives_gtids(self) -> bool {
        self >= GtidMode::OnPermissive
    }
}

/// The reason why `gtid_mode` cannot be changed to the requested value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GtidModeRefusal {
    /// A session owns a GTID, which OFF forbids.
    Owned,
    /// A session has `gtid_next=ANONYMOUS` and has not ended its transaction, which ON forbids.
    Anonymous,
    /// A session has `gtid_next=AUTOMATIC:<TAG>`, which OFF and OFF_PERMISSIVE forbid.
    Tagged,
}

#[derive(Default)]
struct State {
    mode: GtidMode,
    owned: BTreeMap<Gtid, u64>,
    anonymous: usize,
    tagged: usize,
}

/// The mode and the owners of GTIDs.
pub(crate) struct GtidOwners {
    sequencer: Arc<Sequencer>,
    state: Mutex<State>,
    released: Condvar,
    /// A count that rises with every GTID that gets or loses an owner. Appliers load it without the
    /// mutex. Acquire and Release are enough for them: a thread that sees a count sees what was
    /// executed before that count.
    changes: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owned {
    Gtid(Gtid),
    Anonymous,
    Tag,
}

/// The ownership of a GTID, or of the right to commit without one. It ends when this value is
/// dropped.
pub struct GtidOwner {
    owners: Arc<GtidOwners>,
    owned: Owned,
}

impl Drop for GtidOwner {
    fn drop(&mut self) {
        let owners = &*self.owners;
        let mut state = owners.state.lock();
        match self.owned {
            Owned::Gtid(gtid) => {
                let owner = state.owned.remove(&gtid);
                assert!(owner.is_some(), "the owner of {gtid} ends once");
                owners.sequencer.disown(gtid);
                owners.changes.fetch_add(1, Ordering::Release);
                owners.released.notify_all();
            }
            Owned::Anonymous => {
                assert!(state.anonymous > 0, "a session that commits without a GTID is counted");
                state.anonymous -= 1;
            }
            Owned::Tag => {
                assert!(state.tagged > 0, "a session whose GTIDs have a tag is counted");
                state.tagged -= 1;
            }
        }
    }
}

impl GtidOwners {
    pub fn new(mode: GtidMode, sequencer: Arc<Sequencer>) -> GtidOwners {
        GtidOwners {
            sequencer,
            state: Mutex::new(State { mode, ..State::default() }),
            released: Condvar::new(),
            changes: AtomicU64::new(0),
        }
    }

    /// Makes a connection the owner of a GTID, waiting while another connection owns it. `None`
    /// means that the GTID has been executed, so that nobody is to own it.
    ///
    /// # Errors
    /// Returns [`EngineError::Interrupted`] when `interrupt` was set meanwhile, and
    /// [`EngineError::GtidUnusable`] when the mode is OFF.
    pub fn own(
        self: &Arc<GtidOwners>,
        gtid: Gtid,
        connection_id: u64,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Option<GtidOwner>> {
        let mut state = self.state.lock();
        loop {
            if state.mode == GtidMode::Off {
                return Err(EngineError::GtidUnusable("gtid_mode is OFF".to_string()));
            }
            if self.sequencer.has_executed(gtid) {
                return Ok(None);
            }
            if let Entry::Vacant(nobody) = state.owned.entry(gtid) {
                nobody.insert(connection_id);
                self.sequencer.own(gtid);
                self.changes.fetch_add(1, Ordering::Release);
                return Ok(Some(GtidOwner { owners: self.clone(), owned: Owned::Gtid(gtid) }));
            }
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                return Err(EngineError::Interrupted);
            }
            self.released.wait_for(&mut state, LONGEST_SLEEP);
        }
    }

    /// Announces that the next transaction of a session is to have no GTID. `None` means that the
    /// mode is ON, which forbids this.
    pub fn own_anonymous(self: &Arc<GtidOwners>) -> Option<GtidOwner> {
        let mut state = self.state.lock();
        if state.mode == GtidMode::On {
            return None;
        }
        state.anonymous += 1;
        Some(GtidOwner { owners: self.clone(), owned: Owned::Anonymous })
    }

    /// Announces that the transactions of a session are to have GTIDs with a tag. `None` means that
    /// the mode gives no GTIDs.
    pub fn hold_tag(self: &Arc<GtidOwners>) -> Option<GtidOwner> {
        let mut state = self.state.lock();
        if !state.mode.gives_gtids() {
            return None;
        }
        state.tagged += 1;
        Some(GtidOwner { owners: self.clone(), owned: Owned::Tag })
    }

    /// Returns every GTID that is owned, with the id of the connection that owns it
    /// (`@@GLOBAL.gtid_owned`).
    pub fn owned(&self) -> Vec<(Gtid, u64)> {
        self.state.lock().owned.iter().map(|(gtid, owner)| (*gtid, *owner)).collect()
    }

    /// Returns how many sessions own the right to commit without a GTID
    /// (`Ongoing_anonymous_transaction_count`).
    pub fn anonymous(&self) -> u64 {
        self.state.lock().anonymous as u64
    }

    /// Returns a count that changes whenever a session gets or loses a GTID. While the count stays
    /// the same, an applier need not look whether sessions own or have executed its GTIDs.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Waits while a session owns the GTID.
    ///
    /// # Errors
    /// Returns [`EngineError::Interrupted`] when `interrupt` was set meanwhile.
    pub fn wait_disowned(&self, gtid: Gtid, interrupt: &AtomicBool) -> Result<()> {
        let mut state = self.state.lock();
        while state.owned.contains_key(&gtid) {
            if interrupt.load(Ordering::Relaxed) {
                return Err(EngineError::Interrupted);
            }
            self.released.wait_for(&mut state, LONGEST_SLEEP);
        }
        Ok(())
    }

    /// Returns `gtid_mode`.
    pub fn mode(&self) -> GtidMode {
        self.state.lock().mode
    }

    /// Changes `gtid_mode`. Every transaction that gets its place in the log afterwards obeys the
    /// new mode.
    pub fn set_mode(&self, mode: GtidMode) -> std::result::Result<(), GtidModeRefusal> {
        let mut state = self.state.lock();
        match mode {
            GtidMode::On if state.anonymous > 0 => return Err(GtidModeRefusal::Anonymous),
            GtidMode::Off if !state.owned.is_empty() => return Err(GtidModeRefusal::Owned),
            GtidMode::Off | GtidMode::OffPermissive if state.tagged > 0 => {
                return Err(GtidModeRefusal::Tagged);
            }
            _ => {}
        }
        state.mode = mode;
        self.sequencer.set_gives_gtids(mode.gives_gtids());
        Ok(())
    }
}
