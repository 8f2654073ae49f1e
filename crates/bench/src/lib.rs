//! The benchmark kit; speaks to servers over the wire only.
