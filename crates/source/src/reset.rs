//! RESET BINARY LOGS AND GTIDS, the statement's side. What the writer does about it is in `writer`.

use engine::EngineError;

use crate::error::Refusal;
use crate::files::LogFiles;
use crate::series::MAX_LOG_NUMBER;

/// The engine's own background work may log something while GTIDs are being forgotten; it is tried
/// so often.
pub(crate) const RESET_TRIES: u32 = 20;

/// RESET BINARY LOGS AND GTIDS [TO first].
pub(crate) fn reset(files: &LogFiles, first: u64) -> Result<(), Refusal> {
    if !(1..=MAX_LOG_NUMBER).contains(&first) {
        return Err(Refusal::new(
            3567,
            format!(
                "The requested value '{first}' for the next binary log index is out of range. Please use a value between '1' and '2000000000'."
            ),
        ));
    }
    if files.is_turned_off() {
        return reset_turned_off(files);
    }
    files.wait_caught_up()?;
    let mut shared = files.shared.lock();
    let before = shared.resets_done;
    shared.reset_wanted = Some(first);
    files.wait_for_writer(&mut shared, |shared| shared.resets_done > before)?;
    match shared.reset_error.take() {
        Some(why) => Err(Refusal::new(1105, why)),
        None => Ok(()),
    }
}

/// RESET BINARY LOGS AND GTIDS of a log that was turned off: no file has anything of what
/// comes, nor will the next start find old ones.
fn reset_turned_off(files: &LogFiles) -> Result<(), Refusal> {
    let removed = files.series.lock().remove_all();
    removed.map_err(|error| Refusal::new(1377, format!("Fatal error during log purge ({error})")))?;
    files.safe.forget_gtids();
    let mut tries = 0;
    loop {
        match files.engine.reset_gtids() {
            Err(EngineError::GtidUnusable(_)) if tries < RESET_TRIES => tries += 1,
            other => return other.map_err(|error| Refusal::new(1105, error.to_string())),
        }
    }
}
