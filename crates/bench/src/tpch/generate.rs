//! The rows of TPC-H's tables, with the distributions that clause 4.2 of its specification
//! describes. The same scale and the same seed give the same rows.
//!
//! The rows are lines for LOAD DATA, with tabs between their columns. They are made in pieces of
//! some megabytes, so that a large table never lies in memory as a whole.

use super::words::{
    COLORS, CONTAINERS, INSTRUCTIONS, MODES, NATIONS, PRIORITIES, Prose, REGIONS, SEGMENTS, TYPES,
};
use os::random::Rng;
use std::fmt::Write;

/// The size at which a piece is handed over, in bytes.
const PIECE_BYTES: usize = 4 << 20;
/// The length of the text that comments are pieces of, in bytes.
const PROSE_BYTES: usize = 4 << 20;
/// The days from 1992-01-01, the day of the first orders, to the day of the last ones (1998-08-02),
/// and to the day that counts as today (1995-06-17).
const LAST_ORDER_DAY: u64 = 2405;
const TODAY: u64 = 1263;

/// Takes a piece of a table's rows: the name of the table, and the lines.
pub type TakePiece<'t, E> = dyn FnMut(&'static str, &str) -> Result<(), E> + 't;

/// Makes the rows of all tables.
pub struct Generator {
    rng: Rng,
    prose: Prose,
    suppliers: u64,
    parts: u64,
    customers: u64,
    orders: u64,
    colors: Vec<&'static str>,
}

/// Lines of one table that have not been handed over yet.
struct Lines<'l, 't, E> {
    table: &'static str,
    text: String,
    take: &'l mut TakePiece<'t, E>,
}

impl<E> Lines<'_, '_, E> {
    /// Ends a line.
    fn end(&mut self) -> Result<(), E> {
        self.text.push('\n');
        if self.text.len() >= PIECE_BYTES { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), E> {
        if !self.text.is_empty() {
            (self.take)(self.table, &self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

/// Writes formatted text. Writing to a text never fails.
macro_rules! put {
    ($lines:expr, $($words:tt)*) => {
        let _ = write!($lines.text, $($words)*);
    };
}

/// Returns a number of cents as a decimal.
fn money(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.unsigned_abs() / 100, cents.unsigned_abs() % 100)
}

/// Returns the day that is so many days behind 1992-01-01.
fn date(days: u64) -> String {
    let (mut left, mut year) = (days, 1992);
    let days_of = |year: u64| if year.is_multiple_of(4) { 366 } else { 365 };
    while left >= days_of(year) {
        left -= days_of(year);
        year += 1;
    }
    let february = if year.is_multiple_of(4) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

/// The price of a part in cents.
fn retail_price(part: u64) -> u64 {
    90_000 + part / 10 % 20_001 + 100 * (part % 1000)
}

impl Generator {
    /// Returns the generator of a scale: 1 has 6 million rows of lineitem.
    pub fn new(scale: f64, seed: u64) -> Generator {
        let mut rng = Rng::new(seed);
        let prose = Prose::new(&mut rng, PROSE_BYTES);
        let scaled = |rows: f64| ((rows * scale) as u64).max(4);
        Generator {
            rng,
            prose,
            suppliers: scaled(10_000.0),
            parts: scaled(200_000.0),
            customers: scaled(150_000.0),
            orders: scaled(1_500_000.0),
            colors: COLORS.split_whitespace().collect(),
        }
    }

    /// Passes the rows of all tables to `take`.
    ///
    /// # Errors
    /// Returns the errors of `take`.
    pub fn run<E>(mut self, take: &mut TakePiece<'_, E>) -> Result<(), E> {
        let mut lines = Lines { table: "region", text: String::new(), take: &mut *take };
        for (key, name) in REGIONS.iter().enumerate() {
            put!(lines, "{key}\t{name}\t{}", self.prose.piece(&mut self.rng, 31, 115));
            lines.end()?;
        }
        lines.hand_over()?;
        lines.table = "nation";
        for (key, (name, region)) in NATIONS.iter().enumerate() {
            put!(lines, "{key}\t{name}\t{region}\t{}", self.prose.piece(&mut self.rng, 31, 114));
            lines.end()?;
        }
        lines.hand_over()?;
        lines.table = "supplier";
        self.suppliers(&mut lines)?;
        lines.table = "part";
        self.parts(&mut lines)?;
        lines.table = "partsupp";
        self.supplies(&mut lines)?;
        lines.table = "customer";
        self.customers(&mut lines)?;
        self.orders(take)
    }

    fn address(&mut self) -> String {
        const CHARACTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,. ";
        let len = self.rng.between(10, 40);
        (0..len).map(|_| char::from(*self.rng.pick(CHARACTERS))).collect()
    }

    /// Returns a nation's number, a telephone number in the nation, and a balance.
    fn account(&mut self) -> (u64, String, String) {
        let nation = self.rng.below(25);
        let (a, b, c) =
            (self.rng.between(100, 999), self.rng.between(100, 999), self.rng.between(1000, 9999));
        let balance = self.rng.between(0, 1_099_998) as i64 - 99_999;
        (nation, format!("{}-{a}-{b}-{c}", nation + 10), money(balance))
    }

    fn suppliers<E>(&mut self, lines: &mut Lines<'_, '_, E>) -> Result<(), E> {
        for key in 1..=self.suppliers {
            let address = self.address();
            let (nation, phone, balance) = self.account();
            let mut comment = self.prose.piece(&mut self.rng, 25, 100).to_owned();
            // Ten of 10,000 suppliers have had a customer's words, half of them complaints.
            let said = match key % 2000 {
                500 | 1500 => Some("Complaints"),
                900 | 1900 => Some("Recommends"),
                _ => None,
            };
            if let Some(said) = said {
                comment = format!("Customer {said}{}", comment.get(19..).unwrap_or_default());
            }
            put!(lines, "{key}\tSupplier#{key:09}\t{address}\t{nation}\t{phone}\t{balance}\t{comment}");
            lines.end()?;
        }
        lines.hand_over()
    }

    fn parts<E>(&mut self, lines: &mut Lines<'_, '_, E>) -> Result<(), E> {
        for key in 1..=self.parts {
            for at in 0..5 {
                let other = self.rng.between(at, self.colors.len() as u64 - 1) as usize;
                self.colors.swap(at as usize, other);
            }
            let name = self.colors[..5].join(" ");
            let (maker, brand) = (self.rng.between(1, 5), self.rng.between(1, 5));
            let [a, b, c] = TYPES.map(|words| *self.rng.pick(words));
            let size = self.rng.between(1, 50);
            let [container, kind] = CONTAINERS.map(|words| *self.rng.pick(words));
            let price = money(retail_price(key) as i64);
            put!(lines, "{key}\t{name}\tManufacturer#{maker}\tBrand#{maker}{brand}\t{a} {b} {c}\t{size}\t");
            put!(lines, "{container} {kind}\t{price}\t{}", self.prose.piece(&mut self.rng, 5, 22));
            lines.end()?;
        }
        lines.hand_over()
    }

    /// Returns one of the four suppliers of a part.
    fn supplier_of(&self, part: u64, which: u64) -> u64 {
        (part + which * (self.suppliers / 4 + (part - 1) / self.suppliers)) % self.suppliers + 1
    }

    fn supplies<E>(&mut self, lines: &mut Lines<'_, '_, E>) -> Result<(), E> {
        for part in 1..=self.parts {
            for which in 0..4 {
                let supplier = self.supplier_of(part, which);
                let available = self.rng.between(1, 9999);
                let cost = money(self.rng.between(100, 100_000) as i64);
                let comment = self.prose.piece(&mut self.rng, 49, 198);
                put!(lines, "{part}\t{supplier}\t{available}\t{cost}\t{comment}");
                lines.end()?;
            }
        }
        lines.hand_over()
    }

    fn customers<E>(&mut self, lines: &mut Lines<'_, '_, E>) -> Result<(), E> {
        for key in 1..=self.customers {
            let address = self.address();
            let (nation, phone, balance) = self.account();
            let segment = self.rng.pick(&SEGMENTS);
            let comment = self.prose.piece(&mut self.rng, 29, 116);
            put!(
                lines,
                "{key}\tCustomer#{key:09}\t{address}\t{nation}\t{phone}\t{balance}\t{segment}\t{comment}"
            );
            lines.end()?;
        }
        lines.hand_over()
    }

    /// Makes the orders and their items, which belong together.
    fn orders<E>(&mut self, take: &mut TakePiece<'_, E>) -> Result<(), E> {
        let mut orders = String::new();
        let mut items = String::new();
        for number in 0..self.orders {
            self.order(number, &mut orders, &mut items);
            for (table, text) in [("orders", &mut orders), ("lineitem", &mut items)] {
                if text.len() >= PIECE_BYTES || number + 1 == self.orders {
                    take(table, text)?;
                    text.clear();
                }
            }
        }
        Ok(())
    }

    fn order(&mut self, number: u64, orders: &mut String, items: &mut String) {
        // Of 32 keys the first eight are used.
        let key = number / 8 * 32 + number % 8 + 1;
        // A third of the customers has no orders.
        let mut customer = self.rng.between(1, self.customers);
        while customer.is_multiple_of(3) {
            customer = self.rng.between(1, self.customers);
        }
        let day = self.rng.between(0, LAST_ORDER_DAY);
        let count = self.rng.between(1, 7);
        let (mut total, mut open) = (0, 0);
        for line in 1..=count {
            let part = self.rng.between(1, self.parts);
            let which = self.rng.below(4);
            let supplier = self.supplier_of(part, which);
            let quantity = self.rng.between(1, 50);
            let (discount, tax) = (self.rng.below(11), self.rng.below(9));
            let price = quantity * retail_price(part);
            total += price * (100 + tax) * (100 - discount);
            let shipped = day + self.rng.between(1, 121);
            let committed = day + self.rng.between(30, 90);
            let received = shipped + self.rng.between(1, 30);
            let returned = match received <= TODAY {
                true => *self.rng.pick(&["R", "A"]),
                false => "N",
            };
            let is_open = shipped > TODAY;
            open += u64::from(is_open);
            let status = if is_open { "O" } else { "F" };
            let _ = writeln!(
                items,
                "{key}\t{part}\t{supplier}\t{line}\t{quantity}\t{}\t0.{discount:02}\t0.{tax:02}\t{returned}\t{status}\t\
                 {}\t{}\t{}\t{}\t{}\t{}",
                money(price as i64),
                date(shipped),
                date(committed),
                date(received),
                self.rng.pick(&INSTRUCTIONS),
                self.rng.pick(&MODES),
                self.prose.piece(&mut self.rng, 10, 43),
            );
        }
        let status = match open {
            0 => "F",
            open if open == count => "O",
            _ => "P",
        };
        let clerks = (self.orders / 1500).max(1);
        let _ = writeln!(
            orders,
            "{key}\t{customer}\t{status}\t{}\t{}\t{}\tClerk#{:09}\t0\t{}",
            money(((total + 5000) / 10_000) as i64),
            date(day),
            self.rng.pick(&PRIORITIES),
            self.rng.between(1, clerks),
            self.prose.piece(&mut self.rng, 19, 78),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, shown) in [
            (0, "1992-01-01"),
            (59, "1992-02-29"),
            (366, "1993-01-01"),
            (TODAY, "1995-06-17"),
            (LAST_ORDER_DAY, "1998-08-02"),
            (2556, "1998-12-31"),
        ] {
            assert_eq!(date(days), shown);
        }
    }

    #[test]
    fn tables_have_the_rows_of_their_scale() {
        let mut rows: HashMap<&str, usize> = HashMap::new();
        let taken: Result<(), ()> = Generator::new(0.01, 1).run(&mut |table, lines| {
            *rows.entry(table).or_default() += lines.lines().count();
            Ok(())
        });
        assert_eq!(taken, Ok(()));
        let of = |table: &str| rows[table];
        let small = [of("region"), of("nation"), of("supplier"), of("part"), of("partsupp")];
        assert_eq!(small, [5, 25, 100, 2000, 8000]);
        assert_eq!([of("customer"), of("orders")], [1500, 15_000]);
        assert!((57_000..63_000).contains(&of("lineitem")), "{}", of("lineitem"));
    }
}
