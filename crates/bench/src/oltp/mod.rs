//! `slipstream bench oltp`: sysbench's transactions against several servers, side by side.
//!
//! One server is started and filled for each flavor and each combination of settings. Then all of
//! them are measured in turn, round after round, so that changes of the machine's speed hit all of
//! them. A short run before each measurement is not counted. Servers that run already take part as
//! they are; only their durability is changed.

mod accounts;
mod outcome;
mod report;
pub mod sysbench;

use crate::error::MeasureError;
use crate::instance::Settings;
use crate::progress::{Progress, grouped};
use crate::server::{Mode, Server};
use crate::usage::{self, PerOperation, Usage};

pub use accounts::Accounts;
use accounts::Look;
pub use outcome::{Outcome, Plan, Sample, Subject, Variation};
pub use report::{json, page, text};
use sysbench::{Report, Run, Second};

/// Measures everything that the plan asks for.
pub fn run(plan: &Plan, progress: &mut Progress) -> Result<Outcome, MeasureError> {
    if let Some(error) = sysbench::unavailable() {
        return Err(error);
    }
    let mut outcome =
        Outcome { plan: plan.clone(), subjects: Vec::new(), missing: Vec::new(), samples: Vec::new() };
    let mut servers = start(plan, &mut outcome, progress)?;
    for round in 1..=plan.rounds {
        for script in &plan.scripts {
            for clients in &plan.clients {
                for mode in &plan.modes {
                    let run = Run {
                        script,
                        size: plan.size,
                        clients: *clients,
                        seconds: plan.seconds,
                        seed: plan.seed.wrapping_add(1 + outcome.samples.len() as u64),
                    };
                    for (subject, server) in servers.iter_mut().enumerate() {
                        server.set_mode(*mode)?;
                        let (report, window) = measure(plan, &run, *mode, server, progress)?;
                        let (script, clients) = (script.clone(), *clients);
                        let mode = *mode;
                        outcome.samples.push(Sample {
                            round,
                            script,
                            clients,
                            mode,
                            subject,
                            report,
                            server: window.server.each(window.transactions),
                            sysbench: window.sysbench.each(window.transactions),
                            accounts: window.accounts(),
                        });
                    }
                }
            }
        }
    }
    Ok(outcome)
}

/// Starts and fills every server, and returns the servers in the order of [`Outcome::subjects`].
fn start(plan: &Plan, outcome: &mut Outcome, progress: &mut Progress) -> Result<Vec<Server>, MeasureError> {
    let mut servers = Vec::new();
    for flavor in &plan.flavors {
        for variation in &plan.variations {
            let settings = settings(plan, variation, 1 + servers.len() as u32);
            let started = Server::start_if_there(*flavor, &settings, &mut outcome.missing, progress)?;
            let Some(mut server) = started else { continue };
            server.fill(plan.size, plan.seed, progress)?;
            outcome.subjects.push(Subject { server: server.describe()?, variation: Some(*variation) });
            servers.push(server);
        }
    }
    for address in &plan.addresses {
        let mut server = Server::by_address(address)?;
        if plan.fill_addresses {
            server.fill(plan.size, plan.seed, progress)?;
        }
        outcome.subjects.push(Subject { server: server.describe()?, variation: None });
        servers.push(server);
    }
    Ok(servers)
}

fn settings(plan: &Plan, variation: &Variation, server_id: u32) -> Settings {
    Settings {
        server_id,
        pool_bytes: variation.pool_bytes,
        redo_bytes: plan.redo_bytes,
        log_bin: variation.log_bin,
        durable: false,
        row_image: plan.image,
        doublewrite: variation.doublewrite,
        page_bytes: variation.page_bytes,
        ..Settings::default()
    }
}

/// Warms the server up, then measures it.
fn measure(
    plan: &Plan,
    run: &Run<'_>,
    mode: Mode,
    server: &mut Server,
    progress: &mut Progress,
) -> Result<(Report, Window), MeasureError> {
    progress.step(format!("{}: {} from {} clients, {}", server.name(), run.script, run.clients, mode.name()));
    if plan.warmup_seconds > 0 {
        let warmup = Run { seconds: plan.warmup_seconds, seed: !run.seed, ..*run };
        sysbench::run(server.options(), &warmup, &mut |_, _| progress.tell(|| "warming up".into()))?;
    }
    let (mut window, mut looked) = (Window::default(), Ok(()));
    let options = server.options().clone();
    let report = sysbench::run(&options, run, &mut |sysbench, second| {
        if second.at < run.seconds {
            window.look(second, server.usage(), usage::of(sysbench));
            // The accounts are read at the ends of the first second and of the last but one only,
            // because reading them costs the server time.
            if plan.accounts && (second.at == 1 || second.at + 1 == run.seconds) {
                match Look::at(server) {
                    Ok(look) => window.looks.extend(look),
                    Err(error) => looked = Err(error),
                }
            }
        }
        progress.tell(|| format!("{}/s", grouped(second.transactions as u64)));
    })?;
    looked?;
    progress.done(format!("{}/s", grouped(report.rate() as u64)));
    Ok((report, window))
}

/// What server and sysbench used from the end of the first second to the end of the last but one.
/// All clients work throughout that time.
#[derive(Default)]
struct Window {
    server: Span,
    sysbench: Span,
    transactions: f64,
    /// The looks at the server's time accounts.
    looks: Vec<Look>,
}

impl Window {
    fn accounts(&self) -> Option<Accounts> {
        let [first, .., last] = self.looks.as_slice() else { return None };
        Some(Accounts::between(first, last, self.transactions))
    }

    fn look(&mut self, second: Second, server: Option<Usage>, sysbench: Option<Usage>) {
        // The first look opens the window, so the transactions of the second before it do not
        // count.
        if self.sysbench.first.is_some() {
            self.transactions += second.transactions;
        }
        self.server.look(server);
        self.sysbench.look(sysbench);
    }
}

/// The first and the last look at a process.
#[derive(Default)]
struct Span {
    first: Option<Usage>,
    last: Option<Usage>,
}

impl Span {
    fn look(&mut self, now: Option<Usage>) {
        self.first = self.first.or(now);
        self.last = now;
    }

    fn each(&self, operations: f64) -> Option<PerOperation> {
        PerOperation::between(&self.first?, &self.last?, operations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_what_lies_between_its_looks() {
        let used = |cpu_ms| Some(Usage { cpu_ms, ..Usage::default() });
        let mut window = Window::default();
        for (at, transactions, cpu_ms) in [(1, 900.0, 100), (2, 10.0, 110), (3, 30.0, 140)] {
            window.look(Second { at, transactions }, used(cpu_ms), used(cpu_ms * 2));
        }
        assert_eq!(window.transactions, 40.0);
        assert_eq!(window.server.each(window.transactions).map(|each| each.cpu_us), Some(1_000.0));
        assert_eq!(window.sysbench.each(window.transactions).map(|each| each.cpu_us), Some(2_000.0));
        assert_eq!(Window::default().server.each(0.0), None);
    }
}
