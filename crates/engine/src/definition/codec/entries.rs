//! The entries of kept indexes as bytes: for each index that has entries its position, its number
//! and the rule that says which entries a row has.

use crate::bytes::{Put, Reader};
use crate::definition::{EntryRule, KeptEntries, KeptKind, TableDef};
use crate::error::Result;
use types::cells::Surface;
use types::words::WordSizes;

const WORDS: u8 = 1;
const CELLS: u8 = 2;
const CELLS_ON_GLOBE: u8 = 3;

/// The flags of a rule of words.
const NGRAM: u8 = 1;
const STOP_WORDS: u8 = 2;

/// Appends the entries of a table's kept indexes.
pub(super) fn put(out: &mut Vec<u8>, def: &TableDef) {
    let all = || def.kept_indexes.iter().enumerate().filter_map(|(at, i)| Some((at, i.entries.as_ref()?)));
    out.put_varint(all().count() as u64);
    for (at, entries) in all() {
        out.put_varint(at as u64);
        out.put_u32(entries.id);
        match entries.rule {
            EntryRule::Words { is_ngram, sizes } => {
                out.put_u8(WORDS);
                let flags = if is_ngram { NGRAM } else { 0 };
                out.put_u8(flags | if sizes.has_stop_words { STOP_WORDS } else { 0 });
                for chars in [sizes.least_chars, sizes.most_chars, sizes.ngram_chars] {
                    out.put_varint(chars as u64);
                }
            }
            EntryRule::Cells(Surface::Plane) => out.put_u8(CELLS),
            EntryRule::Cells(Surface::Globe) => out.put_u8(CELLS_ON_GLOBE),
        }
    }
}

/// Reads what [`put`] has written.
pub(super) fn read(reader: &mut Reader<'_>, def: &mut TableDef) -> Result<()> {
    for _ in 0..reader.count()? {
        let (at, id) = (reader.varint()? as usize, reader.u32()?);
        let rule = match reader.u8()? {
            WORDS => {
                let flags = reader.u8()?;
                let mut chars = || Ok::<_, crate::EngineError>(reader.varint()? as usize);
                let (least_chars, most_chars, ngram_chars) = (chars()?, chars()?, chars()?);
                let has_stop_words = flags & STOP_WORDS != 0;
                let sizes = WordSizes { least_chars, most_chars, ngram_chars, has_stop_words };
                EntryRule::Words { is_ngram: flags & NGRAM != 0, sizes }
            }
            CELLS => EntryRule::Cells(Surface::Plane),
            CELLS_ON_GLOBE => EntryRule::Cells(Surface::Globe),
            _ => return Err(reader.impossible("rule of entries")),
        };
        let fits = |kind: &KeptKind| match rule {
            EntryRule::Words { .. } => matches!(kind, KeptKind::FullText(_)),
            EntryRule::Cells(_) => matches!(kind, KeptKind::Spatial { .. }),
        };
        let columns = def.kept_indexes.get(at).and_then(|index| def.kept_columns(index));
        match def.kept_indexes.get_mut(at) {
            Some(index) if fits(&index.kind) && columns.is_some_and(|columns| !columns.is_empty()) => {
                index.entries = Some(KeptEntries { id, rule });
            }
            _ => return Err(reader.impossible("kept index with entries")),
        }
    }
    Ok(())
}
