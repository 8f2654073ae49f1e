//! `gtid_mode`, and which session owns which GTID: a session that has set `gtid_next` to one is the
//! only one that may commit a transaction under it until it has committed or rolled back. Another
//! that asks for the same GTID waits until then.
//!
//! What a session owns and what the mode allows is looked at under one mutex, so that no
//! transaction ends up with a kind of GTID that the mode forbids by the time it commits.
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

/// How long a waiter sleeps at most before it looks whether it was killed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// `gtid_mode`, in the order in which it is stepped through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GtidMode {
    /// No transaction has a GTID.
    #[default]
    Off,
    /// New transactions have none, those of a source may have.
    OffPermissive,
    /// New transactions have one, those of a source need not.
    OnPermissive,
    /// Every transaction has one.
    On,
}

impl GtidMode {
    /// New transactions get GTIDs.
    pub fn gives_gtids(self) -> bool {
        self >= GtidMode::OnPermissive
    }
}

/// Why `gtid_mode` cannot become what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GtidModeRefusal {
    /// A session owns a GTID (OFF).
    Owned,
    /// A session has `gtid_next=ANONYMOUS` and is not through with its transaction (ON).
    Anonymous,
    /// A session has `gtid_next=AUTOMATIC:<TAG>` (OFF, OFF_PERMISSIVE).
    Tagged,
}

#[derive(Default)]
struct State {
    mode: GtidMode,
    owned: BTreeMap<Gtid, u64>,
    anonymous: usize,
    tagged: usize,
}

/// See the module's header.
pub(crate) struct GtidOwners {
    sequencer: Arc<Sequencer>,
    state: Mutex<State>,
    released: Condvar,
    /// Rises with every GTID that gets or loses an owner. It is loaded without the mutex by
    /// appliers, for which Acquire and Release are enough: who sees a count sees what was executed
    /// before it.
    changes: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owned {
    Gtid(Gtid),
    Anonymous,
    Tag,
}

/// A session owns a GTID, or the right to commit without one, while this lives.
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
                state.owned.remove(&gtid);
                owners.sequencer.disown(gtid);
                owners.changes.fetch_add(1, Ordering::Release);
                owners.released.notify_all();
            }
            Owned::Anonymous => state.anonymous -= 1,
            Owned::Tag => state.tagged -= 1,
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

    /// Makes a connection the owner of a GTID; `None`: it has been executed, and nobody is to own
    /// it. Waits while another owns it.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`] when `interrupt` was set meanwhile;
    /// [`EngineError::GtidUnusable`] where the mode is OFF.
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

    /// The next transaction of a session is to have no GTID; `None`: the mode is ON.
    pub fn own_anonymous(self: &Arc<GtidOwners>) -> Option<GtidOwner> {
        let mut state = self.state.lock();
        if state.mode == GtidMode::On {
            return None;
        }
        state.anonymous += 1;
        Some(GtidOwner { owners: self.clone(), owned: Owned::Anonymous })
    }

    /// The transactions of a session are to have GTIDs with a tag; `None`: the mode gives none.
    pub fn hold_tag(self: &Arc<GtidOwners>) -> Option<GtidOwner> {
        let mut state = self.state.lock();
        if !state.mode.gives_gtids() {
            return None;
        }
        state.tagged += 1;
        Some(GtidOwner { owners: self.clone(), owned: Owned::Tag })
    }

    /// Every GTID that is owned, and the connection that owns it (`@@GLOBAL.gtid_owned`).
    pub fn owned(&self) -> Vec<(Gtid, u64)> {
        self.state.lock().owned.iter().map(|(gtid, owner)| (*gtid, *owner)).collect()
    }

    /// Sessions that own the right to commit without a GTID
    /// (`Ongoing_anonymous_transaction_count`).
    pub fn anonymous(&self) -> u64 {
        self.state.lock().anonymous as u64
    }

    /// Changes whenever a session gets or loses a GTID: an applier for which it is what it was has
    /// nobody beside it.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Waits while a session owns the GTID.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`] when `interrupt` was set meanwhile.
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

    /// `gtid_mode`
    pub fn mode(&self) -> GtidMode {
        self.state.lock().mode
    }

    /// Changes `gtid_mode`: every transaction that gets its place in the log later is as the new
    /// mode says.
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
