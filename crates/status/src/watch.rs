//! One look, or look after look, and the exit code.

use std::io::{self, Write};

use protocol::client::{Client, ClientError, ConnectOptions};

use crate::command_line::Request;
use crate::look::Look;
use crate::rates::Rates;
use crate::terminal::Terminal;
use crate::{json, screen};

const EXIT_OK: u8 = 0;
const EXIT_FAILED: u8 = 1;

/// Looks and shows as the request says, and returns the process's exit code. A server that cannot
/// be asked ends the command at the first look; later looks wait for it to come back.
pub fn run(request: &Request) -> u8 {
    let terminal = Terminal::of_output();
    let (mut client, mut before): (Option<Client>, Option<Look>) = (None, None);
    let mut looks = 0;
    loop {
        looks += 1;
        let is_last = request.every.is_none() || request.looks == Some(looks);
        let (text, code) = match look(&mut client, &request.server) {
            Ok(now) => {
                let rates = Rates::between(before.as_ref(), &now);
                let text = match request.json {
                    true if request.every.is_some() => format!("{}\n", json::object(&now, &rates)),
                    true => format!("{:#}\n", json::object(&now, &rates)),
                    false => screen::text(&now, &rates, terminal.columns()),
                };
                let code = if now.is_well() { EXIT_OK } else { EXIT_FAILED };
                before = Some(now);
                (text, code)
            }
            Err(error) => {
                let why = format!("slipstream status: {}: {error}", screen::place(&request.server));
                if looks == 1 || is_last {
                    eprintln!("{why}");
                    return EXIT_FAILED;
                }
                client = None;
                let text = match request.json {
                    true => format!("{}\n", serde_json::json!({ "well": false, "problems": [why] })),
                    false => format!("{why}\n"),
                };
                (text, EXIT_FAILED)
            }
        };
        if show(&text, terminal, looks == 1, request).is_err() {
            // Nobody reads on, as when `head` has seen enough.
            return code;
        }
        match request.every {
            Some(every) if !is_last => os::clock::sleep(every),
            _ => return code,
        }
    }
}

fn look(client: &mut Option<Client>, server: &ConnectOptions) -> Result<Look, ClientError> {
    let client = match client {
        Some(client) => client,
        None => client.insert(Client::connect(server)?),
    };
    Look::take(client)
}

fn show(text: &str, terminal: Terminal, is_first: bool, request: &Request) -> io::Result<()> {
    let is_screen = request.every.is_some() && !request.json;
    let framed = if is_screen { terminal.frame(text, is_first) } else { text.to_owned() };
    let mut out = io::stdout().lock();
    out.write_all(framed.as_bytes())?;
    out.flush()
}
