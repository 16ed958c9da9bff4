//! What a person is asked, with the facts, in their language.

use super::{
    book::Book,
    decide::{Asking, Policy},
    effect::{Effect, Tool},
    leave::Leave,
    refusal::shortened,
    rules::Question,
    words::amount,
};

impl Policy {
    /// What a person is asked before an effect: whose leave, which, when, how much, and what is lost. `fingerprint` stands
    /// for the arguments in what the answer is bound to.
    #[must_use]
    pub fn question(
        &self,
        book: &Book,
        asking: Asking<'_>,
        leave: &Leave,
        (tool, effect): (Tool, Effect),
        (reason, fingerprint): (&str, &str),
    ) -> Question {
        let language = asking.language;
        let kind = self.catalogue.get(&leave.kind);
        let name = kind.map_or(leave.kind.as_str(), |kind| kind.name(language));
        let taken = amount(leave.minutes(), self.calendar.day_minutes(), language);
        let (id, title, owner) = (&leave.id, &leave.title, book.name_of(&leave.applicant));
        let (start, end) = leave.span.edges();
        let deputy = leave.deputy.as_ref().filter(|_| leave.has_consent).map(|deputy| book.name_of(deputy));
        let reason = shortened(reason);
        let message = if language.is_chinese() {
            let lost = match effect {
                Effect::Revoke => "這張假已經核准；取消後核准即失效，要休須重新申請。",
                Effect::TurnDown => "駁回後申請即結案，申請人須重新申請。",
                Effect::TakeBack => "撤回後申請即結案，代理人的同意也隨之失效。",
                Effect::Arrange
                | Effect::Discard
                | Effect::Submit
                | Effect::Consent
                | Effect::Approve
                | Effect::Conclude => "",
            };
            let deputy = deputy.map_or_else(String::new, |name| format!("代理人{name}已同意代理。"));
            let reason = if reason.is_empty() { String::new() } else { format!("理由：{reason}。") };
            format!(
                "要{}嗎？{owner}的{name}「{title}」（{id}），{start} 至 {end}，共 {taken}。{deputy}{lost}{reason}",
                effect.zh()
            )
        } else {
            let (what, lost) = match effect {
                Effect::Revoke => {
                    ("Cancel", "It has been approved; the approval is lost, and it must be asked for anew.")
                }
                Effect::TurnDown => ("Turn down", "The request is closed, and must be made anew."),
                Effect::TakeBack => ("Withdraw", "The request is closed, and the deputy's consent is lost with it."),
                Effect::Arrange
                | Effect::Discard
                | Effect::Submit
                | Effect::Consent
                | Effect::Approve
                | Effect::Conclude => (effect.as_str(), ""),
            };
            let deputy = deputy.map_or_else(String::new, |name| format!("The deputy {name} has agreed to stand in. "));
            let reason = if reason.is_empty() { String::new() } else { format!(" Reason: {reason}.") };
            format!("{what} {owner}'s {name} {title:?} ({id}), {start} to {end}, {taken}? {deputy}{lost}{reason}",)
        };
        let binding = format!("{}|{tool}|{}|{}|{effect}|{fingerprint}", asking.who, leave.id, leave.version);
        Question { leave: leave.id.clone(), effect, message, binding }
    }
}
