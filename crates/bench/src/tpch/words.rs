//! The words of TPC-H's columns, and the sentences of its comments.

use os::random::Rng;

pub const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];

/// The nations, each with the number of its region.
pub const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];

/// The words of names of parts.
pub const COLORS: &str = "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood \
    burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick \
    floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon \
    light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale \
    papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate \
    smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow";

pub const TYPES: [&[&str]; 3] = [
    &["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
    &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
    &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
];
pub const CONTAINERS: [&[&str]; 2] =
    [&["SM", "LG", "MED", "JUMBO", "WRAP"], &["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]];
pub const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
pub const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
pub const INSTRUCTIONS: [&str; 4] = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
pub const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

const NOUNS: &[&str] = &[
    "foxes",
    "ideas",
    "theodolites",
    "pinto beans",
    "instructions",
    "dependencies",
    "excuses",
    "platelets",
    "asymptotes",
    "courts",
    "dolphins",
    "multipliers",
    "sauternes",
    "warthogs",
    "frets",
    "dinos",
    "attainments",
    "somas",
    "Tiresias",
    "patterns",
    "forges",
    "braids",
    "frays",
    "warhorses",
    "dugouts",
    "notornis",
    "epitaphs",
    "pearls",
    "tithes",
    "waters",
    "orbits",
    "gifts",
    "sheaves",
    "depths",
    "sentiments",
    "decoys",
    "realms",
    "pains",
    "grouches",
    "escapades",
    "hockey players",
    "packages",
    "requests",
    "accounts",
    "deposits",
];
const VERBS: &[&str] = &[
    "sleep",
    "wake",
    "are",
    "cajole",
    "haggle",
    "nag",
    "use",
    "boost",
    "affix",
    "detect",
    "integrate",
    "maintain",
    "nod",
    "was",
    "lose",
    "sublate",
    "solve",
    "thrash",
    "promise",
    "engage",
    "hinder",
    "print",
    "x-ray",
    "breach",
    "eat",
    "grow",
    "impress",
    "mold",
    "poach",
    "serve",
    "run",
    "dazzle",
    "snooze",
    "doze",
    "unwind",
    "kindle",
    "play",
    "hang",
    "believe",
    "doubt",
];
const ADJECTIVES: &[&str] = &[
    "furious",
    "sly",
    "careful",
    "blithe",
    "quick",
    "fluffy",
    "slow",
    "quiet",
    "ruthless",
    "thin",
    "close",
    "dogged",
    "daring",
    "brave",
    "stealthy",
    "permanent",
    "enticing",
    "idle",
    "busy",
    "regular",
    "final",
    "ironic",
    "even",
    "bold",
    "silent",
    "special",
    "pending",
    "express",
    "unusual",
];
const ADVERBS: &[&str] = &[
    "sometimes",
    "always",
    "never",
    "furiously",
    "slyly",
    "carefully",
    "blithely",
    "quickly",
    "fluffily",
    "slowly",
    "quietly",
    "ruthlessly",
    "thinly",
    "closely",
    "doggedly",
    "daringly",
    "bravely",
    "stealthily",
    "permanently",
    "enticingly",
    "idly",
    "busily",
    "regularly",
    "finally",
    "ironically",
    "evenly",
    "boldly",
    "silently",
];
const PREPOSITIONS: &[&str] = &[
    "about",
    "above",
    "according to",
    "across",
    "after",
    "against",
    "along",
    "alongside of",
    "among",
    "around",
    "at",
    "atop",
    "before",
    "behind",
    "beneath",
    "beside",
    "besides",
    "between",
    "beyond",
    "by",
    "despite",
    "during",
    "except",
    "for",
    "from",
    "in place of",
    "inside",
    "instead of",
    "into",
    "near",
    "of",
    "on",
    "outside",
    "over",
    "past",
    "since",
    "through",
    "throughout",
    "to",
    "toward",
    "under",
    "until",
    "up",
    "upon",
    "without",
    "with",
    "within",
];
const AUXILIARIES: &[&str] = &[
    "do",
    "may",
    "might",
    "shall",
    "will",
    "would",
    "can",
    "could",
    "should",
    "ought to",
    "must",
    "will have to",
    "shall have to",
    "could have to",
    "should have to",
    "must have to",
    "need to",
    "try to",
];
const TERMINATORS: &[&str] = &[".", ";", ":", "?", "!", "--"];

/// Sentences, of which comments are pieces.
pub struct Prose(String);

impl Prose {
    /// Makes a text of at least so many bytes.
    pub fn new(rng: &mut Rng, bytes: usize) -> Prose {
        let mut text = String::with_capacity(bytes + 200);
        while text.len() < bytes {
            sentence(rng, &mut text);
        }
        Prose(text)
    }

    /// Returns a piece of a random length between these.
    pub fn piece(&self, rng: &mut Rng, least: usize, most: usize) -> &str {
        let len = rng.between(least as u64, most as u64) as usize;
        let at = rng.below((self.0.len() - len) as u64) as usize;
        &self.0[at..at + len]
    }
}

fn put(text: &mut String, words: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(words);
}

fn put_one_of(rng: &mut Rng, words: &[&str], text: &mut String) {
    let word: &&str = rng.pick(words);
    put(text, word);
}

fn noun_phrase(rng: &mut Rng, text: &mut String) {
    match rng.below(4) {
        0 => {}
        1 => put_one_of(rng, ADJECTIVES, text),
        2 => {
            put_one_of(rng, ADJECTIVES, text);
            text.push(',');
            put_one_of(rng, ADJECTIVES, text);
        }
        _ => {
            put_one_of(rng, ADVERBS, text);
            put_one_of(rng, ADJECTIVES, text);
        }
    }
    put_one_of(rng, NOUNS, text);
}

fn verb_phrase(rng: &mut Rng, text: &mut String) {
    if rng.one_in(2) {
        put_one_of(rng, AUXILIARIES, text);
    }
    put_one_of(rng, VERBS, text);
    if rng.one_in(2) {
        put_one_of(rng, ADVERBS, text);
    }
}

fn prepositional_phrase(rng: &mut Rng, text: &mut String) {
    put_one_of(rng, PREPOSITIONS, text);
    put(text, "the");
    noun_phrase(rng, text);
}

fn sentence(rng: &mut Rng, text: &mut String) {
    noun_phrase(rng, text);
    let shape = rng.below(5);
    if shape == 3 {
        prepositional_phrase(rng, text);
    }
    verb_phrase(rng, text);
    match shape {
        1 => prepositional_phrase(rng, text),
        2 => noun_phrase(rng, text),
        4 => {
            noun_phrase(rng, text);
            prepositional_phrase(rng, text);
        }
        _ => {}
    }
    let end: &&str = rng.pick(TERMINATORS);
    text.push_str(end);
}
