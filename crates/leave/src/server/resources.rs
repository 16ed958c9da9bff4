//! Two papers to read: the policy and the calendar.

use async_trait::async_trait;
use bylaw_contract::Language;
use bylaw_mcp::{Caller, ResourceBody, ResourceSpec, ServerResources, Words};

use crate::{desk::Desk, domain::calendar::Special};

const POLICY: &str = "leave://policy";
const CALENDAR: &str = "leave://calendar";

pub(super) struct Papers(Desk);

impl Papers {
    pub(super) fn new(desk: &Desk) -> Self {
        Self(desk.clone())
    }

    fn policy(&self, language: Language) -> String {
        let (zh, catalogue) = (language.is_chinese(), &self.0.policy().catalogue);
        let mut text = if zh {
            format!("# 請假規定\n\n法條依 {} 公布之文字。\n", catalogue.law_as_of())
        } else {
            format!("# Leave policy\n\nArticles as published on {}.\n", catalogue.law_as_of())
        };
        for kind in catalogue.types() {
            let (rule, evidence) =
                if zh { (&kind.summary_zh, &kind.evidence_zh) } else { (&kind.summary_en, &kind.evidence_en) };
            let articles = catalogue.cite(kind, language).join(if zh { "、" } else { "; " });
            let name = kind.name(language);
            text.push_str(&format!("\n## {name} ({})\n\n{rule}\n\n{evidence}\n\n{articles}\n", kind.id));
        }
        text
    }

    fn calendar(&self, language: Language) -> String {
        let (zh, calendar) = (language.is_chinese(), &self.0.policy().calendar);
        let (from, to) = calendar.covers();
        let mut text = format!("# {}\n\n{from} – {to}\n", calendar.name());
        if calendar.is_provisional() {
            text.push_str(&if zh {
                format!("\n這是範例，僅供參考。正式日曆公布於 {}。\n", calendar.official())
            } else {
                format!(
                    "\nThis is a provisional sample. The official calendar is published at {}.\n",
                    calendar.official()
                )
            });
        }
        for (day, special) in calendar.specials(from, to) {
            let line = match (special, zh) {
                (Special::Holiday(name), true) => format!("* {day} {name}（放假）\n"),
                (Special::Holiday(name), false) => format!("* {day} {name} (day off)\n"),
                (Special::MakeUp(name), true) => format!("* {day} {name}（上班，{}）\n", calendar.hours(day)),
                (Special::MakeUp(name), false) => format!("* {day} {name} (worked, {})\n", calendar.hours(day)),
            };
            text.push_str(&line);
        }
        text
    }
}

#[async_trait]
impl ServerResources for Papers {
    async fn list(&self, _caller: &Caller) -> Result<Vec<ResourceSpec>, String> {
        let spec = |uri: &str, name: &str, english: &str, chinese: &str| {
            let mut spec = ResourceSpec::new(uri, name);
            spec.title = Some(Words::new(english, chinese));
            spec.mime = Some("text/markdown".to_owned());
            spec
        };
        Ok(vec![
            spec(POLICY, "policy", "Leave policy", "請假規定"),
            spec(CALENDAR, "calendar", "Working calendar", "工作日曆"),
        ])
    }

    async fn read(&self, caller: &Caller, uri: &str) -> Result<Option<(Option<String>, ResourceBody)>, String> {
        let text = match uri {
            POLICY => self.policy(caller.language),
            CALENDAR => self.calendar(caller.language),
            _ => return Ok(None),
        };
        Ok(Some((Some("text/markdown".to_owned()), ResourceBody::Text(text))))
    }
}
