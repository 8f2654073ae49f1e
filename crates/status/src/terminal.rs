//! The terminal: its width, and the codes that draw a screen over the one before.

use std::io::IsTerminal;

const LEAST_COLUMNS: usize = 80;
const MOST_COLUMNS: usize = 120;
/// The width of text that goes to no terminal.
const USUAL_COLUMNS: usize = 100;

/// The place that screens go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// True when standard output is a terminal.
    pub is_one: bool,
}

impl Terminal {
    /// Returns what standard output is.
    pub fn of_output() -> Terminal {
        Terminal { is_one: std::io::stdout().is_terminal() }
    }

    /// Returns the number of columns that lines may have, from 80 to 120.
    pub fn columns(self) -> usize {
        let columns = if self.is_one { told_columns() } else { None };
        columns.unwrap_or(USUAL_COLUMNS).clamp(LEAST_COLUMNS, MOST_COLUMNS)
    }

    /// Returns what draws the text over the screen before. Nothing is cleared before it is written
    /// again, so that the screen does not flicker, and everything goes out in one piece.
    pub fn frame(self, text: &str, is_first: bool) -> String {
        if !self.is_one {
            return if is_first { text.to_owned() } else { format!("\n{text}") };
        }
        const CLEAR: &str = "\x1b[2J";
        const HOME: &str = "\x1b[H";
        const END_OF_LINE: &str = "\x1b[K\n";
        const REST: &str = "\x1b[J";
        let clear = if is_first { CLEAR } else { "" };
        format!("{clear}{HOME}{}{REST}", text.replace('\n', END_OF_LINE))
    }
}

/// Returns the columns that the system tells of the terminal.
fn told_columns() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call writes to the local variable that it is given, and to nothing else.
    let told = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) } == 0;
    (told && size.ws_col > 0).then(|| usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_drawn_over_and_other_output_is_plain() {
        let terminal = Terminal { is_one: true };
        assert_eq!(terminal.frame("a\nb\n", true), "\x1b[2J\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(terminal.frame("a\n", false), "\x1b[Ha\x1b[K\n\x1b[J");
        let file = Terminal { is_one: false };
        assert_eq!([file.frame("a\n", true), file.frame("a\n", false)], ["a\n", "\na\n"]);
        assert_eq!(file.columns(), 100);
    }
}
