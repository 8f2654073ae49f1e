//! Dictionary, transactions, commit, versions, locks, recovery, apply.
