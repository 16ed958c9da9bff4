//! The result in three sentences: what it is at your volume, where it turns, and how sure that is.

use bylaw_contract::Language;

use crate::{
    break_even::{BreakEven, Never},
    figure::Figure,
    report::CostReport,
    words,
};

/// A share as per cent: `10.62 %`.
pub(crate) fn per_cent(share: Figure) -> String {
    format!("{} %", share * Figure::from(100))
}

/// A probability as per cent; draws are ten thousand, so it has no more than four decimals.
fn per_cent_of(share: f64) -> String {
    per_cent(format!("{share:.4}").parse().unwrap_or_default())
}

pub(crate) fn sentences(report: &CostReport, language: Language) -> Vec<String> {
    if language.is_chinese() {
        vec![here_zh(report), turning_zh(report), sure_zh(report)]
    } else {
        vec![here(report), turning(report), sure(report)]
    }
}

fn money(report: &CostReport, amount: Figure) -> String {
    let currency = &report.currency;
    if amount < Figure::ZERO {
        return format!("{currency}\u{a0}−{}", (-amount).grouped(2));
    }
    // What belongs together stays on one line.
    format!("{currency}\u{a0}{}", amount.grouped(2))
}

/// What a replica is worth or costs in a day, which may be a part of a cent.
fn day(report: &CostReport, amount: Figure) -> String {
    format!("{} {}", report.currency, plain(amount))
}

/// A figure that is no money: whole, or with two places, or with as many as it has.
pub(crate) fn plain(figure: Figure) -> String {
    let decimals = figure.decimals();
    figure.grouped(if decimals == 1 { 2 } else { decimals })
}

/// A name between Chinese characters, which a Latin one is set apart from.
fn beside_chinese(name: &str) -> String {
    let space = |c: Option<char>| if c.is_some_and(|c| c.is_ascii_alphanumeric()) { " " } else { "" };
    format!("{}{name}{}", space(name.chars().next()), space(name.chars().next_back()))
}

fn here(report: &CostReport) -> String {
    let CostReport { api, self_hosted: own, saving_per_month: saving, .. } = report;
    let replicas = if own.replicas == Figure::ONE { "replica that is" } else { "replicas that are" };
    let verdict = if *saving > Figure::ZERO {
        format!("{} saves {}", own.name, money(report, *saving))
    } else if *saving == Figure::ZERO {
        "they cost the same".to_owned()
    } else {
        format!("{} saves {}", api.name, money(report, -*saving))
    };
    format!(
        "At {} tasks a day, {} costs {} a month, and {} costs {} with {} {replicas} busy {} of the time: {verdict} a month.",
        plain(report.tasks_per_day),
        api.name,
        money(report, api.cost_per_month),
        own.name,
        money(report, own.cost_per_month),
        own.replicas.grouped(0),
        per_cent(own.utilisation),
    )
}

fn here_zh(report: &CostReport) -> String {
    let CostReport { api, self_hosted: own, saving_per_month: saving, .. } = report;
    let (one, other) = (beside_chinese(&api.name), beside_chinese(&own.name));
    let (one, other) = (one.trim_start(), other.trim_start());
    let verdict = if *saving > Figure::ZERO {
        format!("{other}每月省 {}", money(report, *saving))
    } else if *saving == Figure::ZERO {
        "兩者相同".to_owned()
    } else {
        format!("{one}每月省 {}", money(report, -*saving))
    };
    format!(
        "每日 {} 件時，{one}每月 {}；{other}每月 {}，需 {} 份模型副本，平均使用率 {}：{verdict}。",
        plain(report.tasks_per_day),
        money(report, api.cost_per_month),
        money(report, own.cost_per_month),
        own.replicas.grouped(0),
        per_cent(own.utilisation),
    )
}

/// How many replicas the first volume needs at which hosting pays.
fn first_replicas(break_even: &BreakEven) -> Figure {
    break_even.steps.first().map_or(Figure::ONE, |step| step.replicas)
}

fn turning(report: &CostReport) -> String {
    let even = &report.break_even;
    let Some(first) = even.first_tasks_per_day else { return never(report) };
    let mut text = match even.ranges.first().and_then(|range| range.to) {
        None => format!("Hosting pays from {} tasks a day on", plain(first)),
        Some(to) => format!("Hosting first pays between {} and {} tasks a day", plain(first), plain(to)),
    };
    let replicas = first_replicas(even);
    let plural = if replicas == Figure::ONE { "replica" } else { "replicas" };
    text.push_str(&format!(", with {} {plural}", replicas.grouped(0)));
    match even.naive_tasks_per_day {
        Some(naive) if !even.naive_fits => {
            text.push_str(&format!("; a formula without capacity says {}, more than its hardware bears", plain(naive)));
        }
        Some(_) | None => {}
    }
    if !even.gaps.is_empty() {
        text.push_str("; above that a new replica makes it dearer again for a while");
    }
    text.push('.');
    text
}

fn never(report: &CostReport) -> String {
    let even = &report.break_even;
    match even.never {
        Some(Never::ApiIsFree) => "Hosting never pays: a task costs nothing at the API.".to_owned(),
        Some(Never::NothingSavedPerTask) => format!(
            "Hosting never pays: a task costs {} {} at the API, no more than hosting costs for it beside the GPUs.",
            report.currency, report.api.cost_per_task,
        ),
        Some(Never::ReplicaWorthLessThanItsPrice) | None => format!(
            "Hosting never pays: a full replica does work for {} a day at the API's prices, and costs {}.",
            day(report, even.replica_worth_per_day),
            day(report, even.replica_price_per_day),
        ),
    }
}

fn turning_zh(report: &CostReport) -> String {
    let even = &report.break_even;
    let Some(first) = even.first_tasks_per_day else { return never_zh(report) };
    let mut text = match even.ranges.first().and_then(|range| range.to) {
        None => format!("每日 {} 件起自架划算", plain(first)),
        Some(to) => format!("自架最早在每日 {} 至 {} 件之間划算", plain(first), plain(to)),
    };
    text.push_str(&format!("，此時需 {} 份副本", first_replicas(even).grouped(0)));
    match even.naive_tasks_per_day {
        Some(naive) if !even.naive_fits => {
            text.push_str(&format!("；不計容量的公式說是 {} 件，但它假設的硬體承受不了", plain(naive)));
        }
        Some(_) | None => {}
    }
    if !even.gaps.is_empty() {
        text.push_str("；再往上，增加副本會讓它暫時又變貴");
    }
    text.push('。');
    text
}

fn never_zh(report: &CostReport) -> String {
    let even = &report.break_even;
    match even.never {
        Some(Never::ApiIsFree) => "自架永遠不划算：API 每件不收費。".to_owned(),
        Some(Never::NothingSavedPerTask) => format!(
            "自架永遠不划算：API 每件 {} {}，不高於自架在 GPU 之外每件的花費。",
            report.currency, report.api.cost_per_task,
        ),
        Some(Never::ReplicaWorthLessThanItsPrice) | None => format!(
            "自架永遠不划算：一份副本滿載一天的工作以 API 計價只值 {}，卻要花 {}。",
            day(report, even.replica_worth_per_day),
            day(report, even.replica_price_per_day),
        ),
    }
}

fn sure(report: &CostReport) -> String {
    let uncertainty = &report.uncertainty;
    let mut text = format!(
        "If every figure may be a quarter off, {} is cheaper in {} of {} draws",
        report.self_hosted.name,
        per_cent_of(uncertainty.probability_self_hosting_is_cheaper),
        Figure::from(u64::from(uncertainty.draws)).grouped(0),
    );
    if let Some(most) = report.sensitivity.first() {
        let (least, highest) = ordered(most.saving_at_low, most.saving_at_high);
        text.push_str(&format!(
            "; most hangs on {}, which alone moves the saving between {} and {} a month",
            words::field(&most.field, Language::English),
            money(report, least),
            money(report, highest),
        ));
    }
    text.push('.');
    text
}

fn sure_zh(report: &CostReport) -> String {
    let uncertainty = &report.uncertainty;
    let mut text = format!(
        "若每個數字都可能有四分之一的誤差，{} 次抽樣中有 {} 是{}較便宜",
        Figure::from(u64::from(uncertainty.draws)).grouped(0),
        per_cent_of(uncertainty.probability_self_hosting_is_cheaper),
        beside_chinese(&report.self_hosted.name),
    );
    if let Some(most) = report.sensitivity.first() {
        let (least, highest) = ordered(most.saving_at_low, most.saving_at_high);
        text.push_str(&format!(
            "；影響最大的是{}，單獨變動就使每月節省介於 {} 與 {} 之間",
            words::field(&most.field, Language::TraditionalChinese),
            money(report, least),
            money(report, highest),
        ));
    }
    text.push('。');
    text
}

fn ordered(one: Figure, other: Figure) -> (Figure, Figure) {
    (one.min(other), one.max(other))
}
