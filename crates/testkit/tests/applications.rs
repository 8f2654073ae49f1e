//! Tests with real applications on real sources: their migrations and their later work never stop a
//! replica, which ends with the same definitions, objects and rows.
//!
//! The slower applications run only if `SLIPSTREAM_APPLICATIONS` asks for them (`make nightly`).

use bench::instance::{Flavor, Settings};
use testkit::application::{Application, replica_has_all};
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;

/// Runs an application on a source of each family that has a replica.
fn replicates(application: &Application) {
    let test = format!("applications::{}", application.name);
    for family in [Flavor::MySql, Flavor::MariaDb] {
        if testkit::available(&test, &[family]) && application.is_available(&test) {
            let mut settings = Settings { durable: false, ..Settings::default() };
            // On a busy machine a server needs more than ten seconds to make its first keys.
            settings.extra.push("--connect-timeout=120".to_string());
            let Pair { source, replica, proxy: _proxy, .. } =
                Pair::start_with(family, flavor_under_test(), &settings, By::Position);
            application.run(&source);
            replica_has_all(application.name, &replica, &source);
        }
    }
}

/// Reports whether the slower applications run as well.
fn is_nightly() -> bool {
    std::env::var_os("SLIPSTREAM_APPLICATIONS").is_some()
}

#[test]
fn rentals() {
    replicates(&Application::of_sql("rentals"));
}

#[test]
fn office() {
    replicates(&Application::of_sql("office"));
}

#[test]
fn django_with_wagtail() {
    replicates(&Application::of_python("wagtail", "wagtail_site.py"));
}

#[test]
fn sequelize() {
    replicates(&Application::of_node("sequelize"));
}

#[test]
fn knex() {
    replicates(&Application::of_node("knex"));
}

#[test]
fn typeorm() {
    replicates(&Application::of_node("typeorm"));
}

#[test]
fn quartz() {
    replicates(&Application::of_java("quartz"));
}

#[test]
fn spring_batch_and_session() {
    replicates(&Application::of_java("spring"));
}

#[test]
fn camunda() {
    if is_nightly() {
        replicates(&Application::of_java("camunda"));
    }
}

#[test]
fn flowable() {
    if is_nightly() {
        replicates(&Application::of_java("flowable"));
    }
}

#[test]
fn camunda_by_liquibase() {
    if is_nightly() {
        replicates(&Application::of_java("camunda_liquibase"));
    }
}

#[test]
fn keycloak_by_liquibase() {
    if is_nightly() {
        replicates(&Application::of_java("keycloak"));
    }
}
