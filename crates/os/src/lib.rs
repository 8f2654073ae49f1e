//! Files, a simulated disk, clock, randomness, threads and their time accounts.
