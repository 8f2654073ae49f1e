//! Parse, bind, plan and execute SQL against the engine.
