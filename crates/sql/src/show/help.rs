//! HELP: searches the tables `mysql.help_topic`, `help_keyword`, `help_relation` and
//! `help_category`, which are empty until the help of some release is loaded into them.
//!
//! As in MySQL, the words are a pattern of LIKE. Topics with such a name come first, then topics
//! that have such a keyword, and then categories.

use crate::error::Result;
use crate::host::VirtualTable;
use crate::memory::{Budget, Charge};
use crate::result_column::column_meta;
use crate::sink::ColumnMeta;
use crate::system_rows;
use engine::{Engine, Isolation, KeyRange, Transaction};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use types::like::like;
use types::{ColumnType, Value, collation};

/// How long the statement waits for the tables, in milliseconds.
const PATIENCE_MS: u64 = 1000;

/// The most characters of a text that clients are told of.
const CHARS_OF_TEXT: u32 = 1000;

/// A row of `help_topic`.
struct Topic {
    id: i128,
    category: i128,
    name: String,
    description: Value,
    example: Value,
}

/// A row of `help_category`.
struct Category {
    id: i128,
    parent: Option<i128>,
    name: String,
}

/// The contents of the tables.
struct Help {
    topics: Vec<Topic>,
    categories: Vec<Category>,
    /// The ids of keywords, by their names.
    keywords: Vec<(String, i128)>,
    /// The topics of each keyword.
    relations: HashMap<i128, HashSet<i128>>,
}

/// Returns the answer to HELP with this pattern.
///
/// # Errors
/// Returns 1146 when one of the tables does not exist, the errors of reading them, and those of
/// [`Charge::add`], because the tables are in memory while the answer is found.
pub(super) fn rows(engine: &Arc<Engine>, memory: &Arc<Budget>, pattern: &[u8]) -> Result<VirtualTable> {
    let mut transaction = engine.begin(Isolation::RepeatableRead);
    transaction.set_metadata_lock_timeout_ms(PATIENCE_MS);
    let mut charge = Charge::new(memory);
    let help = Help::read(&mut transaction, &mut charge);
    transaction.rollback();
    Ok(help?.answer(pattern))
}

impl Help {
    fn read(transaction: &mut Transaction, charge: &mut Charge) -> Result<Help> {
        let text =
            |value: &Value| String::from_utf8_lossy(&value.text_bytes(None).unwrap_or_default()).into_owned();
        let id = |value: &Value| value.to_integer().unwrap_or_default();
        let of_topic = ["help_topic_id", "help_category_id", "name", "description", "example"];
        let topics = table(transaction, charge, "help_topic", of_topic)?;
        let topics = topics.into_iter().map(|[topic, category, name, description, example]| Topic {
            id: id(&topic),
            category: id(&category),
            name: text(&name),
            description,
            example,
        });
        let of_category = ["help_category_id", "parent_category_id", "name"];
        let categories = table(transaction, charge, "help_category", of_category)?;
        let categories = categories.into_iter().map(|[category, parent, name]| Category {
            id: id(&category),
            parent: parent.to_integer(),
            name: text(&name),
        });
        let keywords = table(transaction, charge, "help_keyword", ["name", "help_keyword_id"])?;
        let keywords = keywords.iter().map(|[name, keyword]| (text(name), id(keyword)));
        let mut relations: HashMap<i128, HashSet<i128>> = HashMap::new();
        for [keyword, topic] in
            table(transaction, charge, "help_relation", ["help_keyword_id", "help_topic_id"])?
        {
            relations.entry(id(&keyword)).or_default().insert(id(&topic));
        }
        Ok(Help {
            topics: topics.collect(),
            categories: categories.collect(),
            keywords: keywords.collect(),
            relations,
        })
    }

    fn answer(&self, pattern: &[u8]) -> VirtualTable {
        let is_meant =
            |name: &str| like(name.as_bytes(), pattern, Some(b'\\'), collation::UTF8MB4_GENERAL_CI);
        let mut topics: Vec<&Topic> = self.topics.iter().filter(|topic| is_meant(&topic.name)).collect();
        if topics.is_empty() {
            topics = self.topics_of_keyword(&is_meant);
        }
        let mut categories: Vec<&Category> =
            self.categories.iter().filter(|category| is_meant(&category.name)).collect();
        match (&topics[..], &categories[..]) {
            ([topic], _) => described(topic),
            ([], [category]) => self.contents(category),
            _ => {
                topics.sort_by(|a, b| a.name.cmp(&b.name));
                categories.sort_by(|a, b| a.name.cmp(&b.name));
                let topics = topics.into_iter().map(|topic| vec![name_of(&topic.name), Value::text("N")]);
                let categories =
                    categories.into_iter().map(|category| vec![name_of(&category.name), Value::text("Y")]);
                let columns = vec![column("name", 64), column("is_it_category", 1)];
                VirtualTable { columns, rows: topics.chain(categories).collect() }
            }
        }
    }

    /// Returns the topics of the keyword that is meant. There are none if several keywords are.
    fn topics_of_keyword(&self, is_meant: &dyn Fn(&str) -> bool) -> Vec<&Topic> {
        let mut keywords = self.keywords.iter().filter(|(name, _)| is_meant(name));
        let (Some((_, keyword)), None) = (keywords.next(), keywords.next()) else { return Vec::new() };
        let Some(topics) = self.relations.get(keyword) else { return Vec::new() };
        self.topics.iter().filter(|topic| topics.contains(&topic.id)).collect()
    }

    /// Lists the topics of a category and the categories in it.
    fn contents(&self, category: &Category) -> VirtualTable {
        let topics = self.topics.iter().filter(|topic| topic.category == category.id);
        let mut topics: Vec<&str> = topics.map(|topic| &*topic.name).collect();
        let within = self.categories.iter().filter(|other| other.parent == Some(category.id));
        let mut within: Vec<&str> = within.map(|other| &*other.name).collect();
        topics.sort_unstable();
        within.sort_unstable();
        let row = |name: &str, kind: &str| vec![name_of(&category.name), name_of(name), Value::text(kind)];
        let mut rows: Vec<Vec<Value>> = topics.into_iter().map(|name| row(name, "N")).collect();
        rows.extend(within.into_iter().map(|name| row(name, "Y")));
        let columns =
            vec![column("source_category_name", 64), column("name", 64), column("is_it_category", 1)];
        VirtualTable { columns, rows }
    }
}

fn described(topic: &Topic) -> VirtualTable {
    let columns =
        vec![column("name", 64), column("description", CHARS_OF_TEXT), column("example", CHARS_OF_TEXT)];
    let rows = vec![vec![name_of(&topic.name), topic.description.clone(), topic.example.clone()]];
    VirtualTable { columns, rows }
}

fn name_of(name: &str) -> Value {
    Value::text(name)
}

fn column(name: &str, chars: u32) -> ColumnMeta {
    const DECIMALS_OF_EXPRESSION: u8 = 31;
    let ty = ColumnType::varchar(chars, collation::UTF8MB3_GENERAL_CI);
    ColumnMeta { decimals: DECIMALS_OF_EXPRESSION, org_name: String::new(), ..column_meta(name, ty, false) }
}

/// Returns the values of these columns in all rows of a table. There are no rows if the table lacks
/// one of the columns.
fn table<const N: usize>(
    transaction: &mut Transaction,
    charge: &mut Charge,
    name: &str,
    columns: [&str; N],
) -> Result<Vec<[Value; N]>> {
    let table = transaction.open_table("mysql", name)?;
    let Some(places) = system_rows::places(&table, columns) else { return Ok(Vec::new()) };
    system_rows::charged_rows(transaction, &table, places, KeyRange::all(), charge)
}
