//! Applications that others wrote. Each makes its schema at a source, migrates it and works with
//! it, and a replica must then have all of it. The programs that run the applications are in
//! `crates/testkit/applications`, and `scripts/peers.sh` installs what they need.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bench::instance::{Flavor, USER, peers_dir};

use crate::schema::{Catalog, differences, picture};
use crate::server::{Replica, Server};

/// An application.
pub struct Application {
    /// The name of the application, from which the name of its database is made.
    pub name: &'static str,
    runs: Runs,
}

/// How an application is run.
enum Runs {
    /// A program is run. `words` are its first arguments; those that say where the server is follow
    /// them.
    Program {
        program: PathBuf,
        words: Vec<String>,
        /// The file or directory that must exist for the application to run.
        needs: PathBuf,
    },
    /// Statements of this project are run, which are modelled on published ones. Each ends with
    /// `;;` at the end of a line.
    Script(String),
}

/// The prefix of the names of the applications' databases.
const PREFIX: &str = "of_";

fn installed(place: &str) -> PathBuf {
    peers_dir().join("applications").join(place)
}

fn source(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("applications").join(place)
}

impl Application {
    /// Returns an application in Python with this name and this script.
    pub fn of_python(name: &'static str, script: &str) -> Application {
        let program = installed("python/bin/python");
        let words = vec![source("python").join(script).display().to_string()];
        Application { name, runs: Runs::Program { needs: program.clone(), program, words } }
    }

    /// Returns an application in JavaScript for Node. The name of its script is that of the
    /// application.
    pub fn of_node(name: &'static str) -> Application {
        let script = installed("node").join(name).with_extension("js");
        let words = vec![script.display().to_string()];
        let needs = installed("node/node_modules/mysql2");
        Application { name, runs: Runs::Program { program: "node".into(), words, needs } }
    }

    /// Returns an application that consists of statements. The name of its file is that of the
    /// application.
    pub fn of_sql(name: &'static str) -> Application {
        let file = source("sql").join(name).with_extension("sql");
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        Application { name, runs: Runs::Script(text) }
    }

    /// Returns an application in Java, which comes in a jar.
    pub fn of_java(name: &'static str) -> Application {
        let home = installed("java");
        let class_path = format!("{0}/classes:{0}/lib/*", home.display());
        let words = vec!["-cp".to_string(), class_path, "Application".to_string(), name.to_string()];
        let needs = home.join("classes/Application.class");
        Application { name, runs: Runs::Program { program: "java".into(), words, needs } }
    }

    /// Reports whether the application can be run on this machine. If not, it reports the calling
    /// test as skipped, and the test should return.
    #[must_use]
    pub fn is_available(&self, test: &str) -> bool {
        let Runs::Program { program, needs, .. } = &self.runs else { return true };
        let test = format!("{test}: {}", self.name);
        crate::reader_available(&test, needs)
            && (program.is_absolute() || crate::tool_available(&test, &program.display().to_string()))
    }

    /// Returns the name of the application's database.
    pub fn database(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Makes the application's database at a server, and runs the application there.
    pub fn run(&self, server: &Server) {
        let database = self.database();
        server.run(&format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"));
        match &self.runs {
            Runs::Program { program, words, .. } => {
                let flavor = if server.flavor() == Flavor::MariaDb { "mariadb" } else { "mysql" };
                let port = server.port().to_string();
                let mut command = Command::new(program);
                command.args(words).args([&port, USER, USER, &database, flavor]);
                self.run_program(&mut command, server.flavor());
            }
            Runs::Script(text) => self.run_script(text, server),
        }
    }

    fn run_program(&self, command: &mut Command, flavor: Flavor) {
        let output =
            command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && told.trim_end().ends_with("done"),
            "{} at {flavor} ended with {}:\n{told}\n{}",
            self.name,
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn run_script(&self, text: &str, server: &Server) {
        let mut client = server.connect();
        let first = format!("USE {}", self.database());
        let statements = text.split(";;\n").map(str::trim).filter(|sql| !sql.is_empty());
        for sql in std::iter::once(first.as_str()).chain(statements) {
            client
                .query(sql)
                .unwrap_or_else(|error| panic!("{} at {}: {sql}: {error}", self.name, server.flavor()));
        }
    }
}

/// Checks that the replica has everything that its source has in the applications' databases.
pub fn replica_has_all(name: &str, replica: &Replica, source: &Server) {
    replica.catch_up(source);
    let catalog =
        Catalog::read(&mut source.connect(), PREFIX).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!catalog.tables.is_empty(), "{name} has made no table");
    let [theirs, ours] = [source, &replica.server].map(|server| {
        picture(server, &catalog, source.flavor()).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    let found: Vec<String> =
        differences(&theirs, &ours).into_iter().map(|(what, both)| format!("{what}:\n{both}")).collect();
    assert!(found.is_empty(), "{name} behind {}:\n{}", source.flavor(), found.join("\n"));
    println!("{name} behind {}: {} tables are the same", source.flavor(), catalog.tables.len());
}
