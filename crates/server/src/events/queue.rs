//! The queue of events by the time when they are due. It reads no clock: its caller tells it the
//! time.

use engine::{Object, ObjectDef};
use sql::event_timing::{EventTiming, last_executed_s};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An event that waits for its time.
struct Waiting {
    event: Arc<Object>,
    timing: EventTiming,
    /// The time of the next run, in seconds of unix time. `None` means that the event runs no more.
    next_s: Option<i64>,
}

/// An event that is due.
pub struct Due {
    /// The event as it is in the dictionary.
    pub event: Arc<Object>,
    /// True when the event will not run again.
    pub is_last: bool,
}

/// The enabled events, each with the time of its next run.
#[derive(Default)]
pub struct Queue {
    /// The waiting events by their ids in the dictionary.
    waiting: BTreeMap<u64, Waiting>,
}

impl Queue {
    /// Takes over the dictionary's events. An unchanged event keeps its time, and one that is new
    /// or was altered gets its next time after `now_s`.
    pub fn refresh(
        &mut self,
        events: Vec<Arc<Object>>,
        now_s: i64,
        timing_of: impl Fn(&ObjectDef) -> Option<EventTiming>,
    ) {
        let mut known = std::mem::take(&mut self.waiting);
        let most = events.len();
        for event in events {
            let Some(timing) = timing_of(&event.def) else { continue };
            let next_s = match known.remove(&event.id) {
                Some(known) if known.timing == timing => known.next_s,
                _ => timing.next_s(now_s, last_executed_s(&event.def)),
            };
            let before = self.waiting.insert(event.id, Waiting { event, timing, next_s });
            assert!(before.is_none(), "an event waits once");
        }
        assert!(self.waiting.len() <= most, "only events of the dictionary wait");
    }

    /// Returns the time when the next event is due, in seconds of unix time. `None` means that no
    /// event waits.
    pub fn next_s(&self) -> Option<i64> {
        self.waiting.values().filter_map(|waiting| waiting.next_s).min()
    }

    /// Takes the event that has been due for longest, which then waits for its next time after
    /// `now_s`.
    pub fn take_due(&mut self, now_s: i64) -> Option<Due> {
        let is_due = |waiting: &&mut Waiting| waiting.next_s.is_some_and(|next_s| next_s <= now_s);
        let due = self.waiting.values_mut().filter(is_due).min_by_key(|waiting| waiting.next_s)?;
        due.next_s = due.timing.after_run_s(now_s);
        Some(Due { event: due.event.clone(), is_last: due.next_s.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{ObjectDef, ObjectKind};

    fn event(id: u64, attributes: &[(&str, &str)]) -> Arc<Object> {
        let attributes = attributes.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let def = ObjectDef {
            kind: ObjectKind::Event,
            schema: "d".into(),
            name: format!("e{id}"),
            trigger: None,
            definer: ("root".into(), "localhost".into()),
            sql_mode: 0,
            character_set_client: 255,
            collation_connection: 255,
            schema_collation: 255,
            created_us: 0,
            altered_us: 0,
            of_mariadb: false,
            body: "DO 1".into(),
            attributes: attributes.collect(),
        };
        Arc::new(Object { id, def })
    }

    fn once(id: u64, at: &str) -> Arc<Object> {
        event(id, &[("at", at)])
    }

    fn timing(def: &ObjectDef) -> Option<EventTiming> {
        EventTiming::of(def, |_| Some(types::Zone::UTC))
    }

    fn every(id: u64, seconds: &str) -> Arc<Object> {
        event(id, &[("amount", seconds), ("unit", "SECOND"), ("starts", "1970-01-01 00:16:40")])
    }

    fn taken(queue: &mut Queue, now_s: i64) -> Vec<(u64, bool)> {
        std::iter::from_fn(|| queue.take_due(now_s)).map(|due| (due.event.id, due.is_last)).collect()
    }

    #[test]
    fn events_run_in_the_order_of_their_moments() {
        let mut queue = Queue::default();
        queue.refresh(
            vec![once(1, "1970-01-01 00:16:50"), every(2, "7"), once(3, "1970-01-01 00:16:45")],
            900,
            timing,
        );
        assert_eq!(queue.next_s(), Some(1000));
        assert_eq!(taken(&mut queue, 999), []);
        assert_eq!(taken(&mut queue, 1000), [(2, false)]);
        assert_eq!(queue.next_s(), Some(1005));
        assert_eq!(taken(&mut queue, 1030), [(3, true), (2, false), (1, true)]);
        assert_eq!(queue.next_s(), Some(1035));
    }

    #[test]
    fn an_event_that_is_as_it_was_keeps_its_moment() {
        let mut queue = Queue::default();
        queue.refresh(vec![every(1, "10")], 1000, timing);
        assert_eq!(taken(&mut queue, 1000), [(1, false)]);
        // The dictionary is read again within the same second.
        queue.refresh(vec![every(1, "10")], 1000, timing);
        assert_eq!(queue.next_s(), Some(1010));
        // The event was altered.
        queue.refresh(vec![every(1, "100")], 1005, timing);
        assert_eq!(queue.next_s(), Some(1100));
        // The event was disabled or dropped.
        queue.refresh(vec![event(1, &[("at", "1970-01-01 00:00:01"), ("status", "DISABLED")])], 1005, timing);
        assert_eq!((queue.next_s(), taken(&mut queue, 9999)), (None, vec![]));
    }
}
