//! Variables of full-text searches.
//!
//! Names, scopes, ranges and defaults are MySQL 9.7's. Those of MyISAM's indexes (`ft_*`) are kept
//! for clients to read; there are no such indexes.

use crate::variables::definition::Definition;
use crate::variables::definition::Kind::{Bool, Text, UInt};
use crate::variables::definition::{global, session};

/// Why the variables of InnoDB's inverted index do nothing.
const NO_INDEX: &str = "The entries of words are in a tree of the table's file, like those of other indexes.";

/// Why those of MyISAM do nothing.
const NO_MYISAM: &str = "It is about MyISAM's indexes, which are not there.";

/// Sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    global("ft_boolean_syntax", Text, "+ -><()~*:\"\"&|").kept("The operators are InnoDB's."),
    global("ft_max_word_len", UInt(10, 84), "84").read_only().kept(NO_MYISAM),
    global("ft_min_word_len", UInt(1, 84), "4").read_only().kept(NO_MYISAM),
    global("ft_query_expansion_limit", UInt(0, 1_000), "20").read_only().kept(NO_MYISAM),
    global("ft_stopword_file", Text, "(built-in)").read_only().kept(NO_MYISAM),
    global("innodb_ft_aux_table", Text, "").kept(NO_INDEX),
    global("innodb_ft_cache_size", UInt(1_600_000, 80_000_000), "8000000").read_only().kept(NO_INDEX),
    global("innodb_ft_enable_diag_print", Bool, "OFF").kept(NO_INDEX),
    session("innodb_ft_enable_stopword", Bool, "ON")
        .does(
            "OFF lets indexes that are made then have the words of \
             INFORMATION_SCHEMA.INNODB_FT_DEFAULT_STOPWORD too.",
        )
        .entered(|server, s| {
            let on = s.is_on();
            server.engine.change_word_sizes(|sizes| sizes.has_stop_words = on);
            Ok(())
        }),
    global("innodb_ft_max_token_size", UInt(10, 84), "84")
        .read_only()
        .does("Indexes that are made then have no words of more characters.")
        .entered(|server, s| {
            let chars = s.uint() as usize;
            server.engine.change_word_sizes(|sizes| sizes.most_chars = chars);
            Ok(())
        }),
    global("innodb_ft_min_token_size", UInt(0, 16), "3")
        .read_only()
        .does("Indexes that are made then have no words of fewer characters.")
        .entered(|server, s| {
            let chars = s.uint() as usize;
            server.engine.change_word_sizes(|sizes| sizes.least_chars = chars);
            Ok(())
        }),
    global("innodb_ft_num_word_optimize", UInt(1_000, 10_000), "2000").kept(NO_INDEX),
    global("innodb_ft_result_cache_limit", UInt(1_000_000, 4_294_967_295), "2000000000")
        .kept("What a search keeps is charged to the connection."),
    global("innodb_ft_server_stopword_table", Text, "").kept("The stop words are the default ones."),
    global("innodb_ft_sort_pll_degree", UInt(1, 16), "2").read_only().kept(NO_INDEX),
    global("innodb_ft_total_cache_size", UInt(32_000_000, 1_600_000_000), "640000000")
        .read_only()
        .kept(NO_INDEX),
    session("innodb_ft_user_stopword_table", Text, "").kept("The stop words are the default ones."),
    global("innodb_optimize_fulltext_only", Bool, "OFF").kept(NO_INDEX),
    global("ngram_token_size", UInt(1, 10), "2")
        .read_only()
        .does(
            "Indexes WITH PARSER ngram that are made then have every so many characters that follow \
             each other.",
        )
        .entered(|server, s| {
            let chars = s.uint() as usize;
            server.engine.change_word_sizes(|sizes| sizes.ngram_chars = chars);
            Ok(())
        }),
];
