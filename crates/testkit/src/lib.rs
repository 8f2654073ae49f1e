//! What tests of whole servers need: instances on temporary directories and free ports, sysbench, checksums, and a
//! TCP proxy that cuts.
