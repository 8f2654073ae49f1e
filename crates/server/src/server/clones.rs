//! The latest clone: what `performance_schema.clone_status` and `clone_progress` show of it.

use engine::{CopyEnd, CopyStage};
use parking_lot::Mutex;

/// The names of the stages in the order of MySQL's table. The first one and the last two are of
/// clones that replace the data of the server that asks for them.
pub const STAGES: [&str; 7] =
    ["DROP DATA", "FILE COPY", "PAGE COPY", "REDO COPY", "FILE SYNC", "RESTART", "RECOVERY"];

/// The state of a clone or of one of its stages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// It has not begun.
    #[default]
    NotStarted,
    /// It goes on.
    InProgress,
    /// It has ended well.
    Completed,
    /// It has failed.
    Failed,
}

impl State {
    /// Returns MySQL's word for the state.
    pub fn shown(self) -> &'static str {
        match self {
            State::NotStarted => "Not Started",
            State::InProgress => "In Progress",
            State::Completed => "Completed",
            State::Failed => "Failed",
        }
    }
}

/// A stage of a clone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stage {
    /// How far it is.
    pub state: State,
    /// When it began, in microseconds of Unix time. 0 means that it has not.
    pub began_us: u64,
    /// When it ended. 0 means that it has not.
    pub ended_us: u64,
    /// How many bytes it was expected to copy.
    pub estimate_bytes: u64,
    /// How many bytes it has copied.
    pub copied_bytes: u64,
}

/// The place of the source that a clone stands for.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The name of the binary log file, empty without a binary log.
    pub binlog_file: String,
    /// The offset in the file.
    pub binlog_pos: u64,
    /// The executed GTIDs.
    pub gtid_executed: String,
}

/// A clone.
#[derive(Debug, Clone, Default)]
pub struct Clone {
    /// The id of the connection that runs it.
    pub connection_id: u32,
    /// The directory, with a slash at its end.
    pub destination: String,
    /// How far it is.
    pub state: State,
    /// When it began, in microseconds of Unix time.
    pub began_us: u64,
    /// When it ended. 0 means that it has not.
    pub ended_us: u64,
    /// The number of the error that ended it. 0 means none.
    pub error: u16,
    /// The error's text.
    pub error_text: String,
    /// The place that it stands for, once that is known.
    pub place: Place,
    /// The stages in the order of [`STAGES`].
    pub stages: [Stage; STAGES.len()],
}

/// The latest clone of a server.
#[derive(Debug, Default)]
pub struct Clones {
    latest: Mutex<Option<Clone>>,
}

fn index_of(stage: CopyStage) -> usize {
    match stage {
        CopyStage::Files => 1,
        CopyStage::Pages => 2,
        CopyStage::Log => 3,
        CopyStage::Sync => 4,
    }
}

impl Clones {
    /// Returns the latest clone.
    pub fn latest(&self) -> Option<Clone> {
        self.latest.lock().clone()
    }

    /// Notes that a clone begins. Returns false when another one is under way.
    pub fn begin(&self, connection_id: u32, destination: &str) -> bool {
        let mut latest = self.latest.lock();
        if latest.as_ref().is_some_and(|clone| clone.state == State::InProgress) {
            return false;
        }
        let began_us = os::clock::now_us();
        let destination = format!("{}/", destination.trim_end_matches('/'));
        let state = State::InProgress;
        let mut clone = Clone { connection_id, destination, state, began_us, ..Clone::default() };
        // A local clone drops nothing.
        clone.stages[0] = Stage { state: State::Completed, began_us, ended_us: began_us, ..Stage::default() };
        *latest = Some(clone);
        true
    }

    fn change(&self, change: impl FnOnce(&mut Clone)) {
        if let Some(clone) = self.latest.lock().as_mut() {
            change(clone);
        }
    }

    /// Notes that a stage begins, and that those before it have ended.
    pub fn enter(&self, stage: CopyStage, estimate_bytes: u64) {
        let (at, now_us) = (index_of(stage), os::clock::now_us());
        self.change(|clone| {
            assert_eq!(clone.state, State::InProgress, "stages are those of a clone that goes on");
            end_stages(&mut clone.stages, State::Completed, now_us);
            let stage = &mut clone.stages[at];
            // The log was copied in part while the files were.
            stage.estimate_bytes = stage.copied_bytes + estimate_bytes;
            (stage.state, stage.began_us) = (State::InProgress, now_us);
        });
    }

    /// Notes that a stage has copied so many bytes.
    pub fn copied(&self, stage: CopyStage, bytes: u64) {
        self.change(|clone| {
            let stage = &mut clone.stages[index_of(stage)];
            stage.copied_bytes += bytes;
            stage.estimate_bytes = stage.estimate_bytes.max(stage.copied_bytes);
        });
    }

    /// Notes that the clone has ended well.
    pub fn complete(&self, end: &CopyEnd, binlog: Option<(String, u64)>) {
        let now_us = os::clock::now_us();
        let (binlog_file, binlog_pos) = binlog.unwrap_or_default();
        self.change(|clone| {
            assert_eq!(clone.state, State::InProgress, "a clone ends once");
            end_stages(&mut clone.stages, State::Completed, now_us);
            clone.place = Place { binlog_file, binlog_pos, gtid_executed: end.gtid_executed.to_string() };
            (clone.state, clone.ended_us) = (State::Completed, now_us);
        });
    }

    /// Notes that the clone has failed.
    pub fn fail(&self, error: u16, text: &str) {
        let now_us = os::clock::now_us();
        self.change(|clone| {
            end_stages(&mut clone.stages, State::Failed, now_us);
            (clone.state, clone.ended_us) = (State::Failed, now_us);
            (clone.error, clone.error_text) = (error, text.to_owned());
        });
    }
}

/// Ends the stage that goes on.
fn end_stages(stages: &mut [Stage], state: State, now_us: u64) {
    for stage in stages.iter_mut().filter(|stage| stage.state == State::InProgress) {
        (stage.state, stage.ended_us) = (state, now_us);
    }
}
