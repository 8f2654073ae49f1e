//! Pages, tablespaces, the buffer pool, flushing and doublewrite.
