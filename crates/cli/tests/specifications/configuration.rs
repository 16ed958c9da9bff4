//! `bylaw config`, and how the command line reads.

use crate::program::{Ended, Home};

#[test]
fn every_setting_says_where_its_value_came_from() {
    let home = Home::new();
    home.write(
        "bylaw.toml",
        "[server]\nport = 9000\n[model]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"s3cret\"\nname = \"m\"\n",
    );
    let ended = Ended::of(home.command(&["config", "show"]).env("BYLAW_LOG", "warn"));
    assert!(!ended.stdout.contains("s3cret"));
    insta::assert_snapshot!(home.redact(&ended.stdout));
}

#[test]
fn flags_win_over_variables_and_variables_over_the_file() {
    let home = Home::new();
    home.write("bylaw.toml", "[data]\ndirectory = \"from-file\"\n");
    let shown = |command: &mut std::process::Command| {
        let ended = Ended::of(command);
        ended.stdout.lines().find(|line| line.starts_with("data.directory")).unwrap().to_owned()
    };
    assert!(shown(&mut home.command(&["config", "show"])).contains("\"from-file\""));
    assert!(shown(home.command(&["config", "show"]).env("BYLAW_DATA", "from-env")).contains("\"from-env\""));
    let both = shown(home.command(&["--data", "from-flag", "config", "show"]).env("BYLAW_DATA", "from-env"));
    assert!(both.contains("\"from-flag\"") && both.contains("flag --data"), "{both}");
}

#[test]
fn the_printed_defaults_are_a_valid_configuration() {
    let home = Home::new();
    let defaults = home.run(&["config", "defaults"]).stdout;
    home.write("bylaw.toml", defaults);
    assert_eq!(home.run(&["config", "show"]).code, Some(0));
}

#[test]
fn mistakes_in_the_configuration_are_named() {
    let rows = [
        ("[server]\nprot = 1\n", "prot"),
        ("[server]\nport = \"x\"\n", "port"),
        ("[server]\nhost = \"example\"\n", "server.host"),
        ("[model]\nname = \"m\"\n", "model.base_url"),
        ("[model]\nbase_url = \"http://127.0.0.1:1\"\n", "model.name"),
        ("[log]\nlevel = \"bylaw=shout\"\n", "log.level"),
        ("not toml", "bylaw.toml"),
    ];
    for (text, named) in rows {
        let home = Home::new();
        home.write("bylaw.toml", text);
        let ended = home.run(&["config", "show"]);
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.stdout);
        assert!(ended.stderr.starts_with("error[invalid_configuration]"), "{text}: {}", ended.stderr);
        assert!(ended.stderr.contains(named), "{text}: {}", ended.stderr);
    }
}

#[test]
fn help_reads_as_it_is_meant_to() {
    let home = Home::new();
    for command in
        [&[][..], &["serve"], &["ingest"], &["search"], &["ask"], &["sources"], &["config"], &["doctor"], &["bench"]]
    {
        let name = format!("help_{}", command.first().unwrap_or(&"bylaw"));
        insta::assert_snapshot!(name, home.run(&[command, &["--help"]].concat()).stdout);
    }
}

#[test]
fn every_code_has_an_http_status_and_an_exit_code_in_one_table() {
    insta::assert_snapshot!(Home::new().run(&["config", "codes"]).stdout);
}
