//! The statement's side of RESET BINARY LOGS AND GTIDS. The writer's side is in `writer`.

use engine::EngineError;

use crate::error::Refusal;
use crate::files::LogFiles;
use crate::series::MAX_LOG_NUMBER;

/// The number of attempts to forget all GTIDs, which the engine's own background work may disturb
/// by logging something.
pub(crate) const RESET_TRIES: u32 = 20;

/// Carries out RESET BINARY LOGS AND GTIDS [TO first].
///
/// # Errors
/// Returns 3567 when `first` is out of range, 1105 when the engine cannot forget its GTIDs, and the
/// errors of waiting for the writer.
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

/// Carries out RESET BINARY LOGS AND GTIDS for a log that was turned off: removes all files, so
/// that the next start finds no old ones.
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
