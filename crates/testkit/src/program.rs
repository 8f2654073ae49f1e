//! Runs other programs against a server under test.

use std::process::Command;

/// Runs a program to its end and returns its output, standard output first. The program must
/// succeed.
pub fn succeed(program: &str, arguments: &[String]) -> String {
    let (success, said) = run(program, arguments);
    assert!(success, "{program} {} failed:\n{said}", arguments.join(" "));
    said
}

/// Runs a program to its end. It returns whether the program succeeded, and its output.
pub fn run(program: &str, arguments: &[String]) -> (bool, String) {
    let output = Command::new(program)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), said)
}
