//! What was spent, and what may be.

use std::time::Duration;

use bylaw_contract::{Clock, KeyId, MicroUsd, OwnerId, RequestId, ReservationId, RunId, TokenUsage, ask::Mode};
use bylaw_gate::{
    Budget, BudgetKey, Charge, Claim, Day, Demand, Labels, Lease, LedgerStore, Order, Period, Row, RowKind, Scope,
    ServiceBudgets, Write, Zone,
};
use serde_json::{Value, json};

use crate::door::{Door, Held, Plan};
use bylaw_gate::Role;

/// Something that is on the books.
struct Booked<'a> {
    day: &'a str,
    key: Option<&'a KeyId>,
    model: &'a str,
    mode: Mode,
    kind: RowKind,
    amount: i64,
}

async fn book(door: &Door, booked: Booked<'_>) {
    let Booked { day, key, model, mode, kind, amount } = booked;
    let labels = Labels {
        request_id: RequestId::new("r").unwrap(),
        run_id: None,
        key: key.cloned(),
        model: model.to_owned(),
        mode: Some(mode),
        purpose: "answer".to_owned(),
    };
    let tokens = match kind {
        RowKind::Avoided => TokenUsage::default(),
        RowKind::Spent | RowKind::Estimated | RowKind::Abandoned | RowKind::Unknown => {
            TokenUsage { input_tokens: 100, output_tokens: 10, ..TokenUsage::default() }
        }
    };
    let row = Row {
        kind,
        at: door.clock.now(),
        day: day.parse().unwrap(),
        labels,
        reservation: None,
        reserved: MicroUsd(amount),
        covered: MicroUsd(amount),
        amount: MicroUsd(amount),
        tokens,
        budgets: Vec::new(),
        corrects: None,
        repeats: None,
        note: None,
    };
    door.ledger.commit(&lease(door), vec![Write::Record(row)]).await.unwrap();
}

fn lease(door: &Door) -> Lease {
    let owner = OwnerId::new(format!("own_{}", "9".repeat(24))).unwrap();
    Lease { owner, until: door.clock.now().plus(Duration::from_secs(3_600)) }
}

/// Reserves on the key's and the service's day, and settles a part if `settle` says how.
async fn reserve(door: &Door, number: u64, key: Option<&KeyId>, amount: i64) {
    let lease = lease(door);
    let day: Day = "2026-01-01".parse().unwrap();
    let claim =
        |scope, period: &str| Claim { budget: BudgetKey { scope, period: period.parse().unwrap() }, limit: None };
    let mut claims = vec![claim(Scope::Service, "day:2026-01-01")];
    if let Some(key) = key {
        claims.push(claim(Scope::Key(key.clone()), "day:2026-01-01"));
    }
    let order = Order {
        reservation: ReservationId::new(format!("rsv_{number:024}")).unwrap(),
        owner: lease.owner.clone(),
        labels: Labels {
            request_id: RequestId::new("r").unwrap(),
            run_id: Some(RunId::new(format!("run_{number:024}")).unwrap()),
            key: key.cloned(),
            model: "small".to_owned(),
            mode: Some(Mode::Pipeline),
            purpose: "answer".to_owned(),
        },
        claims,
        demand: Demand::exactly(MicroUsd(amount)),
        at: door.clock.now(),
        day,
    };
    door.ledger.commit(&lease, vec![Write::Reserve(order)]).await.unwrap();
}

/// A small history: two keys, two models, two days.
async fn history(door: &Door) -> [Held; 3] {
    let keys =
        [door.key(Role::Reader, None).await, door.key(Role::Editor, None).await, door.key(Role::Admin, None).await];
    let (one, two) = (Some(&keys[0].id), Some(&keys[1].id));
    for (day, key, model, mode, kind, amount) in [
        ("2025-12-31", one, "small", Mode::Pipeline, RowKind::Spent, 1_500),
        ("2025-12-31", one, "small", Mode::Pipeline, RowKind::Avoided, 1_500),
        ("2025-12-31", two, "large", Mode::Pipeline, RowKind::Estimated, 20_000),
        ("2026-01-01", one, "small", Mode::Auto, RowKind::Abandoned, 700),
        ("2026-01-01", one, "extract", Mode::Auto, RowKind::Avoided, 0),
        ("2026-01-01", two, "small", Mode::Auto, RowKind::Unknown, 3),
        ("2026-01-01", None, "small", Mode::Auto, RowKind::Spent, 40),
    ] {
        book(door, Booked { day, key, model, mode, kind, amount }).await;
    }
    reserve(door, 1, one, 250).await;
    reserve(door, 2, two, 1_000).await;
    keys
}

#[tokio::test]
async fn an_admin_sees_everyones_usage_told_apart_as_asked() {
    let door = Plan::new().open().await;
    let [_, _, admin] = history(&door).await;
    insta::assert_json_snapshot!(door.get_as(&admin, "/usage?by=day,key,model,mode").await.json());
    let lines = async |query: &str| -> Vec<Value> {
        let usage = door.get_as(&admin, &format!("/usage{query}")).await.json();
        usage["lines"].as_array().unwrap().clone()
    };
    let days: Vec<_> = lines("").await.iter().map(|line| line["day"].clone()).collect();
    assert_eq!(days, ["2025-12-31", "2026-01-01"]);
    let models: Vec<_> = lines("?by=model").await.iter().map(|line| line["model"].clone()).collect();
    assert_eq!(models, ["extract", "large", "small"]);
    let keys: Vec<_> = lines("?by=key").await.iter().map(|line| line["key"].is_null()).collect();
    assert_eq!(keys, [true, false, false], "the local door is a line of its own");
    assert_eq!(lines("?from=2026-01-01&by=mode").await.len(), 1);
    assert_eq!(lines("?to=2025-12-30").await.len(), 0);
}

#[tokio::test]
async fn shares_are_those_of_the_rows_and_null_of_nothing() {
    let door = Plan::new().open().await;
    let [_, _, admin] = history(&door).await;
    let usage = door.get_as(&admin, "/usage").await.json();
    // One hit beside five paid calls; one extract beside those six.
    assert_eq!((&usage["hit_rate"], &usage["extract_share"]), (&json!(0.1666), &json!(0.1428)));
    let nothing = door.get_as(&admin, "/usage?from=2027-01-01").await.json();
    assert_eq!((&nothing["hit_rate"], &nothing["extract_share"]), (&Value::Null, &Value::Null));
    assert_eq!(nothing["reserved_now"]["micro_usd"], 1_250, "now is now");
}

#[tokio::test]
async fn others_see_their_own_usage_and_nothing_else() {
    let door = Plan::new().open().await;
    let [reader, editor, admin] = history(&door).await;
    for (key, charged, reserved) in [(&reader, 2_200, 250), (&editor, 20_003, 1_000)] {
        let own = door.get_as(key, "/usage?by=key").await.json();
        let kinds = ["spent", "estimated", "abandoned", "unknown"];
        let sum: i64 = kinds.iter().map(|kind| own["total"][kind]["micro_usd"].as_i64().unwrap()).sum();
        assert_eq!((sum, &own["reserved_now"]["micro_usd"]), (charged, &json!(reserved)));
        assert_eq!(own["key"], key.id.as_str());
        let asked = door.get_as(key, &format!("/usage?key={}", key.id)).await;
        assert_eq!(asked.status, 200);
        for other in [&admin.id, &KeyId::new(format!("key_{}", "f".repeat(24))).unwrap()] {
            let refused = door.get_as(key, &format!("/usage?key={other}")).await;
            assert_eq!(refused.error().1, "forbidden", "whether or not there is such a key");
        }
        let as_admin = door.get_as(&admin, &format!("/usage?by=key&key={}", key.id)).await.json();
        assert_eq!((&as_admin["total"], &as_admin["lines"]), (&own["total"], &own["lines"]));
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_by_name() {
    let door = Plan::new().open().await;
    for (query, message) in [
        ("from=yesterday", "from: \"yesterday\" is not a day such as 2026-03-08"),
        ("to=2026-3-8", "to: \"2026-3-8\" is not a day such as 2026-03-08"),
        ("from=2026-01-02&to=2026-01-01", "from: is after to"),
        ("by=week", "by: \"week\" is none of day, key, model, mode"),
        ("key=mine", "key: key_ and 24 hexadecimal digits"),
        ("form=2026-01-01", "query parameter form: unknown field; known are from, to, key, by"),
    ] {
        let refusal = door.get(&format!("/usage?{query}")).await.error();
        assert_eq!(refusal, (422, "invalid_request".to_owned(), message.to_owned()), "{query}");
    }
}

#[tokio::test]
async fn debt_is_what_was_billed_beyond_a_reservation() {
    let door = Plan::new().open().await;
    reserve(&door, 1, None, 100).await;
    let settle = Write::Settle {
        reservation: ReservationId::new(format!("rsv_{:024}", 1)).unwrap(),
        charge: Charge::unknown(MicroUsd(130)),
        at: door.clock.now(),
    };
    door.ledger.commit(&lease(&door), vec![settle]).await.unwrap();
    let usage = door.get("/usage").await.json();
    assert_eq!(usage["total"]["debt"], json!({ "micro_usd": 30, "shown": "0.00096" }));
    assert_eq!(usage["reserved_now"]["micro_usd"], 0);
    let day = &door.get("/budgets").await.json()["service"][0];
    assert_eq!((&day["settled"]["micro_usd"], &day["debt"]["micro_usd"]), (&json!(100), &json!(30)));
}

fn budget(limit: i64, period: Period) -> Budget {
    Budget { limit: MicroUsd(limit), period }
}

#[tokio::test]
async fn budgets_say_what_is_left_and_where_there_is_no_limit() {
    let budgets = ServiceBudgets {
        request: Some(MicroUsd(50_000)),
        service: vec![budget(1_000, Period::Day), budget(90_000, Period::Month)],
        key: Vec::new(),
        zone: Zone::named("Asia/Taipei").unwrap(),
    };
    let door = Plan::new().budgets(budgets).open().await;
    let plain = door.key(Role::Admin, None).await;
    let own = vec![budget(500, Period::Day), budget(7_000_000, Period::Once)];
    let limited = door.key_with(Role::Reader, None, own).await;
    reserve(&door, 1, Some(&limited.id), 250).await;
    insta::assert_json_snapshot!(door.get_as(&plain, "/budgets").await.json());
}

#[tokio::test]
async fn without_budgets_everything_is_counted_and_nothing_limited() {
    let door = Plan::new().open().await;
    let budgets = door.get("/budgets").await.json();
    assert_eq!(budgets["request_limit"], Value::Null);
    assert_eq!(budgets["keys"], json!([]));
    let [day] = budgets["service"].as_array().unwrap().as_slice() else { panic!("{budgets}") };
    assert_eq!((&day["limited"], &day["limit"], &day["left"]), (&json!(false), &Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_said_and_search_goes_on() {
    let door = Plan::new().open().await;
    door.ledger.break_down();
    for path in ["/usage", "/budgets"] {
        let reply = door.get(path).await;
        let (status, code, message) = reply.error();
        assert_eq!((status, code.as_str()), (503, "ledger_unavailable"), "{path}");
        assert!(reply.json()["error"]["hint"].as_str().unwrap().contains("bylaw ledger verify"), "{path}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert_eq!(door.post("/search", r#"{"question":"事假"}"#).await.status, 200);
}
