//! `bylaw config`, and how the command line reads.

use crate::program::{Ended, Home};

#[test]
fn every_setting_says_where_its_value_came_from() {
    let home = Home::new();
    home.write(
        "bylaw.toml",
        "[server]\nport = 9000\n[model]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"s3cret\"\nname = \"m\"\n\
         [prices]\n\"gpt-4.1\" = { input = \"2\", output = \"8\" }\nm = { free = true }\n",
    );
    let mut command = home.command(&["config", "show"]);
    let ended = Ended::of(command.env("BYLAW_LOG", "warn").env("BYLAW_KEY", "s3cret"));
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
        ("[server]\nframe_ancestors = [\"*\"]\n", "server.frame_ancestors: \"*\" is not an origin such as https://"),
        ("[model]\nname = \"m\"\n", "model.base_url"),
        ("[model]\nbase_url = \"http://127.0.0.1:1\"\n", "model.name"),
        ("[model]\nretries = 11\n", "model.retries: 11 is outside 0 to 10"),
        ("[model]\nactions = \"magic\"\n", "magic"),
        ("[client]\nlanguage = \"fr\"\n", "client.language"),
        ("[log]\nlevel = \"bylaw=shout\"\n", "log.level"),
        ("not toml", "bylaw.toml"),
        ("[money]\ncurrency = \"twd\"\n", "money.currency: \"twd\": a currency is three capital letters"),
        ("[money]\nrate = 32\n", "written in quotes: \"32\" for key \"default.money.rate\""),
        ("[money]\nrate = 32.5\n", "written in quotes: \"32.5\" for key \"default.money.rate\""),
        ("[money]\nrate = \"0\"\n", "money.rate: \"0\": a rate is"),
        ("[money]\nrate = \"1000001\"\n", "money.rate: \"1000001\": a rate is"),
        ("[money]\nrate = \"1e3\"\n", "money.rate: \"1e3\": not an amount"),
        ("[money]\ncurrency = \"USD\"\n", "money.rate: \"32\": one US dollar is worth \"1\" USD"),
        ("[money]\ntime_zone = \"Taipei\"\n", "money.time_zone: \"Taipei\" is not a time zone; write a name such as"),
        (
            "[budgets]\nservice = [\"5\"]\n",
            "budgets.service: \"5\": write an amount in TWD, a slash and day, month or once",
        ),
        ("[budgets]\nservice = [5]\n", "written in quotes: \"5\""),
        ("[budgets]\nkey = [\"5/week\"]\n", "budgets.key: \"5/week\": write an amount"),
        ("[budgets]\nkey = [\"-5/day\"]\n", "budgets.key: \"-5/day\": an amount is not negative"),
        ("[budgets]\nkey = [\"5/day\", \"6/day\"]\n", "budgets.key: \"6/day\": there is one for this period already"),
        ("[caps]\nmax_cost = 5\n", "written in quotes: \"5\" for key \"default.caps.max_cost\""),
        ("[caps]\nmax_cost = \"0\"\n", "caps.max_cost: \"0\" is less than a millionth"),
        ("[caps]\nmax_cost = \"-1\"\n", "caps.max_cost: \"-1\": an amount is not negative"),
        ("[caps]\nmax_cost = \"0.0000001\"\n", "caps.max_cost: \"0.0000001\": an amount has at most six decimals"),
        ("[caps]\nmax_cost = \"9999999999\"\n", "caps.max_cost: \"9999999999\": an amount is at most"),
        ("[caps]\nmax_steps = 13\n", "caps.max_steps: 13 is outside 1 to 12"),
        ("[caps]\nmax_wall_seconds = 0\n", "caps.max_wall_seconds: 0 is outside 1 to 600"),
        ("[ledger]\nlease_seconds = 0\n", "ledger.lease_seconds: 0 is outside"),
        ("[ledger]\nseal_seconds = 0\n", "ledger.seal_seconds: 0 is outside"),
        ("[prices]\n\"m-1.5\" = {}\n", "prices.\"m-1.5\".input: missing"),
        ("[prices]\nm = { input = 0.15 }\n", "written in quotes: \"0.15\" for key \"default.prices.m.input\""),
        ("[prices]\nm = { input = \"-1\" }\n", "prices.\"m\".input: \"-1\": an amount is not negative"),
        ("[prices]\nm = { input = \"0\" }\n", "prices.\"m\": a price of zero is written as `free = true`"),
        ("[prices]\nm = { input = \"100001\" }\n", "prices.\"m\": a price above"),
        ("[prices]\nm = { free = true, input = \"1\" }\n", "prices.\"m\": free = true, and a price"),
        ("[prices]\nm = { inptu = \"1\" }\n", "inptu"),
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
    let commands = "|serve|ingest|search|ask|chat|sources|key|key create|key revoke|ledger|ledger report|ledger verify|\
                    ledger export|explain|cost|leave|leave serve|leave stdio|leave key|leave key revoke|leave reopen|mcp|\
                    mcp install|config|\
                    doctor|bench";
    for command in commands.split('|') {
        let name = if command.is_empty() { "bylaw".to_owned() } else { command.replace(' ', "_") };
        let name = format!("help_{name}");
        let command: Vec<&str> = command.split_whitespace().collect();
        insta::assert_snapshot!(name, home.run(&[&command[..], &["--help"]].concat()).stdout);
    }
}

#[test]
fn every_code_has_an_http_status_and_an_exit_code_in_one_table() {
    insta::assert_snapshot!(Home::new().run(&["config", "codes"]).stdout);
}

#[test]
fn what_is_odd_about_money_is_said_once_where_it_matters() {
    let home = Home::new();
    let model = "[model]\nbase_url = \"http://127.0.0.1:1/v1\"\nname = \"m\"\n";
    let rows = [
        ("", "warning: model.name: \"m\" has no price; write [prices] \"m\" = { input ="),
        ("[prices]\nm = { input = \"1001\", output = \"1001\" }\n", "warning: prices.\"m\": a price above"),
        ("[prices]\nm = { input = \"2\", output = \"1\" }\n", "warning: prices.\"m\": output is cheaper than input"),
        (
            "[prices]\nm = { input = \"1\", cached_input = \"2\", output = \"3\" }\n",
            "warning: prices.\"m\": cached input is dearer than input",
        ),
    ];
    for (prices, expected) in rows {
        home.write("bylaw.toml", format!("{model}{prices}"));
        let ended = home.run(&["doctor"]);
        assert_eq!(ended.stderr.matches(expected).count(), 1, "{prices}: {}", ended.stderr);
    }
    home.write("bylaw.toml", format!("{model}[prices]\nm = {{ free = true }}\n"));
    assert_eq!(home.run(&["doctor"]).stderr, "");
}

#[test]
fn limits_that_there_are_not_are_said_as_well() {
    let home = Home::new();
    let budgets = || {
        let stdout = home.run(&["doctor"]).stdout;
        stdout.lines().find_map(|line| line.split_once("budgets")).unwrap().1.trim().to_owned()
    };
    assert_eq!(budgets(), "one question: no limit; each key: no limit; everyone: no limit");
    home.write(
        "bylaw.toml",
        "[money]\nrate = \"31.7\"\n[caps]\nmax_cost = \"0.5\"\n[budgets]\nservice = [\"50/day\", \"900/month\"]\n",
    );
    assert_eq!(budgets(), "one question: 0.5 TWD; each key: no limit; everyone: 50 TWD/day, 900 TWD/month");
}
