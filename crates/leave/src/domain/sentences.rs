//! The sentences of refusals: one catalogue in Traditional Chinese, one in English.

use super::{
    catalogue::Unit,
    refusal::{LegalMove, Refusal},
    status::Party,
    time::InvalidTime,
};

const fn unit_zh(unit: Unit) -> &'static str {
    match unit {
        Unit::Day => "整日",
        Unit::HalfDay => "整日或半日",
        Unit::Hour => "整小時",
    }
}

const fn unit_en(unit: Unit) -> &'static str {
    match unit {
        Unit::Day => "whole days",
        Unit::HalfDay => "whole or half days",
        Unit::Hour => "whole hours",
    }
}

fn who_zh(by: &[(Party, String)]) -> String {
    by.iter().map(|(party, name)| format!("{}{name}", party.zh())).collect::<Vec<_>>().join("或")
}

fn who_en(by: &[(Party, String)]) -> String {
    by.iter().map(|(party, name)| format!("the {party} {name}")).collect::<Vec<_>>().join(" or ")
}

fn legal_zh(legal: &[LegalMove]) -> String {
    if legal.is_empty() {
        return "這張假單已結案，不能再變更；如有需要請用 create_leave 另開一張。".to_owned();
    }
    let moves: Vec<String> =
        legal.iter().map(|each| format!("{}（{}，由{}）", each.step, each.step.zh(), who_zh(&each.by))).collect();
    format!("目前可行的下一步：{}。", moves.join("、"))
}

fn legal_en(legal: &[LegalMove]) -> String {
    if legal.is_empty() {
        return "It is closed for good; if another is needed, make one with create_leave.".to_owned();
    }
    let moves: Vec<String> = legal.iter().map(|each| format!("{} (by {})", each.step, who_en(&each.by))).collect();
    format!("What can be done now: {}.", moves.join(", "))
}

pub(super) fn zh(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UnknownLeave { asked } => {
            format!("查無假單「{asked}」。請先用 search_leaves 查詢，取得真實的假單編號。")
        }
        Refusal::UnknownType { asked, known } => {
            format!("沒有「{asked}」這個假別。請改用下列之一：{}。", known.join("、"))
        }
        Refusal::UnknownEmployee { asked } => format!("查無員工「{asked}」。請向使用者確認員工編號後再試。"),
        Refusal::UnknownStatus { asked } => format!(
            "沒有「{asked}」這個狀態。請改用 submitted、consented、approved、taken、rejected、withdrawn 或 cancelled。"
        ),
        Refusal::BadTime { written, why } => match why {
            InvalidTime::Form => {
                format!("看不懂「{written}」。日期請寫成 2026-03-01，時間請寫成 2026-03-01T08:30（公司當地時間）。")
            }
            InvalidTime::NoSuchDay => format!("「{written}」不是曆上有的日子。請向使用者確認日期後再試。"),
            InvalidTime::NoSuchTime => {
                format!("「{written}」不是一天之內的時間。時間介於 00:00 與 24:00，請確認後再試。")
            }
        },
        Refusal::Reversed { start, end } => {
            format!("結束（{end}）不在開始（{start}）之後。請確認起訖時間，或將兩者對調後再試。")
        }
        Refusal::TooLong { days, most } => {
            format!("一張假單最長 {most} 日，這張有 {days} 日。請縮短期間，或分成數張。")
        }
        Refusal::NothingToTake { from, to } => {
            format!("{from} 至 {to} 之間沒有工作時間，不需請假。請選擇工作日的上班時間。")
        }
        Refusal::BeyondCalendar { from, to } => {
            format!("工作日曆只涵蓋 {from} 至 {to}。請改選期間內的日子，或請管理者提供下一年度的日曆。")
        }
        Refusal::WrongUnit { kind, unit, day, hours } => {
            format!("{kind}以{}為單位，{day} 這天不符。當天上班時間為 {hours}，請調整起訖時間。", unit_zh(*unit))
        }
        Refusal::BadText { field, chars, most } if *chars == 0 => format!("{field} 不可空白。請填寫 1 至 {most} 字。"),
        Refusal::BadText { field, chars, most } => {
            format!("{field} 有 {chars} 字，最多 {most} 字，且不可含控制字元。請精簡後再試。")
        }
        Refusal::BadArgument { field, rule } => format!("{field} 的格式不對（{rule}）。請更正後再試。"),
        Refusal::EventNeeded { kind, cases } => {
            format!(
                "{kind}須填事件日期 event_date 與事由 event_case，事由為下列之一：{}。請向使用者確認。",
                cases.join("、")
            )
        }
        Refusal::EventUnwanted { kind } => format!("{kind}不以事件計算，請不要填 event_date 與 event_case。"),
        Refusal::BeforeHired { hired } => format!("到職日為 {hired}，之前不能請假。請改選到職後的日子。"),
        Refusal::Overlaps { with, title, status } => format!(
            "這段時間已有假單 {with}「{title}」（{}）。請改選其他時間，或先用 get_leave 檢視那一張再決定。",
            status.zh()
        ),
        Refusal::NotEnough { kind, missing, left } => {
            format!("{kind}不足：可用 {left}，還差 {missing}。請用 leave_balance 查詢餘額，縮短期間或改用其他假別。")
        }
        Refusal::Begun { kind, start } => {
            format!("{kind}須事前申請，而這張自 {start} 起已經開始。請改選之後的時間。")
        }
        Refusal::NotOver { end } => {
            format!("這張假要到 {end} 才結束，結束後才能銷假。請屆時再試；若不休了，請改用 cancel_approved_leave。")
        }
        Refusal::NotShown { id } => {
            format!("更新 {id} 之前必須先查詢。請用 search_leaves 或 get_leave 查到它，再試一次。")
        }
        Refusal::ShownLongAgo { id } => format!("{id} 上次查詢距今太久。請用 get_leave 再查一次，確認內容後再試。"),
        Refusal::ChangedSince { id } => format!("{id} 在您查詢之後已有變更。請用 get_leave 再查一次，確認內容後再試。"),
        Refusal::IllegalMove { id, from, wanted, legal } => {
            format!("{id} 目前為{}，不能直接變為 {wanted}；狀態只能逐級推進。{}", from.zh(), legal_zh(legal))
        }
        Refusal::NotYours { step, by } => {
            format!("這一步（{}）須由{}進行。請轉告使用者洽該人員辦理。", step.zh(), who_zh(by))
        }
        Refusal::ConsentFirst { deputy } => {
            format!("職務代理人{deputy}尚未同意，不能核准。請先請代理人以 update_leave_status 將狀態設為 consented。")
        }
        Refusal::ConsentGiven { id } => format!("{id} 的代理人已經同意，不需重複。請等候主管核准。"),
        Refusal::DeputyNeeded { kind } => format!("{kind}一日以上須指定職務代理人。請向使用者確認後填寫 deputy。"),
        Refusal::DeputyIsApplicant => "自己不能當自己的職務代理人。請改填另一位員工。".to_owned(),
        Refusal::NotADraft { id, status } => format!(
            "{id} 為{}，只有草稿可以修改。若要改期，請先依規定撤回或取消，再用 create_leave 另開一張。",
            status.zh()
        ),
        Refusal::OtherTool { tool } => format!("這件事請改用 {tool}，並說明理由。"),
        Refusal::ManagersOnly => "只有主管有待審的假單。若要查自己的假單，請用 search_leaves。".to_owned(),
        Refusal::CannotAsk { id } => format!(
            "這個動作必須先由本人確認，而目前的用戶端無法詢問使用者，所以沒有執行。請改用支援 elicitation 的用戶端（例如 bylaw chat）處理 {id}。"
        ),
        Refusal::NotAnswered { id } => format!("沒有等到使用者的答覆，{id} 沒有變更。請確認使用者在場後再試一次。"),
        Refusal::Dismissed { id } => {
            format!("使用者關閉了確認視窗，{id} 沒有變更。請問清楚使用者的意思，必要時再試一次。")
        }
        Refusal::Declined { id, effect } => {
            format!("使用者拒絕了（{}），{id} 沒有變更。請停止，不要改用其他工具達成；告知使用者即可。", effect.zh())
        }
        Refusal::SaidNo { id, effect, by } => format!(
            "對 {id}「{}」，{by} 已經說過不要。請停止，不要改用其他工具達成；除非本人在主機上執行 bylaw leave reopen {id}。",
            effect.zh()
        ),
        Refusal::AnswersAnother { id } => {
            format!("這個確認不是針對 {id} 目前的內容，不予採計。請用 get_leave 再查一次，重新送出。")
        }
        Refusal::AnswerExpired { id } => format!("對 {id} 的確認已逾時，不予採計。請重新送出，再請使用者確認。"),
        Refusal::AnswerUsed { id } => format!("對 {id} 的這個確認已經用過，不予採計。請用 get_leave 查看目前狀態。"),
        Refusal::KeyUsedOtherwise { key } => format!("idempotency_key「{key}」已用於另一個要求。請換一個新的。"),
        Refusal::Busy => "同時有其他人在變更，這次沒有執行。請再查一次後重試。".to_owned(),
    }
}

pub(super) fn en(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UnknownLeave { asked } => {
            format!("There is no leave {asked:?}. Look it up with search_leaves first and use the id it shows.")
        }
        Refusal::UnknownType { asked, known } => {
            format!("There is no leave type {asked:?}. Use one of: {}.", known.join(", "))
        }
        Refusal::UnknownEmployee { asked } => {
            format!("There is no employee {asked:?}. Ask the person for the employee's id and try again.")
        }
        Refusal::UnknownStatus { asked } => format!(
            "There is no status {asked:?}. Use submitted, consented, approved, taken, rejected, withdrawn or cancelled."
        ),
        Refusal::BadTime { written, why } => match why {
            InvalidTime::Form => format!(
                "{written:?} cannot be read. Write a date as 2026-03-01 and a time as 2026-03-01T08:30, on the company's clock."
            ),
            InvalidTime::NoSuchDay => {
                format!("{written:?} is no day of the calendar. Check the date with the person and try again.")
            }
            InvalidTime::NoSuchTime => {
                format!("{written:?} is no time of day. Use a time from 00:00 to 24:00.")
            }
        },
        Refusal::Reversed { start, end } => {
            format!("The end ({end}) is not after the beginning ({start}). Check both, or swap them, and try again.")
        }
        Refusal::TooLong { days, most } => {
            format!("One leave has at most {most} days, this one has {days}. Make it shorter, or make several.")
        }
        Refusal::NothingToTake { from, to } => format!(
            "There is no working time from {from} to {to}, so no leave is needed. Choose working hours of a working day."
        ),
        Refusal::BeyondCalendar { from, to } => format!(
            "The working calendar reaches from {from} to {to}. Choose days within, or ask the operator for the next year's."
        ),
        Refusal::WrongUnit { kind, unit, day, hours } => format!(
            "{kind} is taken in {}, and {day} does not fit. That day's working hours are {hours}: adjust beginning and end.",
            unit_en(*unit)
        ),
        Refusal::BadText { field, chars, most } if *chars == 0 => {
            format!("{field} is empty. Give 1 to {most} characters.")
        }
        Refusal::BadText { field, chars, most } => format!(
            "{field} has {chars} characters; it may have {most}, none of them a control character. Shorten it and try again."
        ),
        Refusal::BadArgument { field, rule } => {
            format!("{field} has the wrong form: {rule}. Correct it and try again.")
        }
        Refusal::EventNeeded { kind, cases } => format!(
            "{kind} needs event_date, the day of the event, and event_case, one of: {}. Ask the person.",
            cases.join(", ")
        ),
        Refusal::EventUnwanted { kind } => {
            format!("{kind} is not counted by events: leave out event_date and event_case.")
        }
        Refusal::BeforeHired { hired } => {
            format!("The first day at work is {hired}; there is no leave before. Choose later days.")
        }
        Refusal::Overlaps { with, title, status } => format!(
            "{with} {title:?} ({status}) has this time already. Choose another time, or look at that one with get_leave first."
        ),
        Refusal::NotEnough { kind, missing, left } => format!(
            "There is not enough {kind}: {left} is left, {missing} is missing. See leave_balance; take less, or another type."
        ),
        Refusal::Begun { kind, start } => {
            format!("{kind} is asked for beforehand, and this one began at {start}. Choose a later time.")
        }
        Refusal::NotOver { end } => format!(
            "It ends at {end}, and is taken only then. Try again after that; to give it up, use cancel_approved_leave."
        ),
        Refusal::NotShown { id } => {
            format!("Look {id} up before you touch it: find it with search_leaves or get_leave, then try again.")
        }
        Refusal::ShownLongAgo { id } => {
            format!("It is too long since {id} was looked up. Look it up again with get_leave, then try again.")
        }
        Refusal::ChangedSince { id } => {
            format!("{id} has changed since it was looked up. Look it up again with get_leave, then try again.")
        }
        Refusal::IllegalMove { id, from, wanted, legal } => {
            format!(
                "{id} is {from} and cannot become {wanted} at once; a leave moves one step at a time. {}",
                legal_en(legal)
            )
        }
        Refusal::NotYours { step, by } => {
            format!("This step ({step}) is for {} to take. Tell the person to turn to them.", who_en(by))
        }
        Refusal::ConsentFirst { deputy } => format!(
            "The deputy {deputy} has not agreed yet, so it cannot be approved. The deputy sets the status consented with \
             update_leave_status first."
        ),
        Refusal::ConsentGiven { id } => {
            format!("The deputy of {id} has agreed already. Wait for the manager to approve it.")
        }
        Refusal::DeputyNeeded { kind } => {
            format!("{kind} of a day or more needs a deputy. Ask the person who stands in, and give deputy.")
        }
        Refusal::DeputyIsApplicant => "Nobody stands in for themselves. Name another employee as deputy.".to_owned(),
        Refusal::NotADraft { id, status } => format!(
            "{id} is {status}, and only drafts are edited. To move it, withdraw or cancel it as the rules say, then make \
             another with create_leave."
        ),
        Refusal::OtherTool { tool } => format!("Use {tool} for this, and give the reason."),
        Refusal::ManagersOnly => {
            "Only managers have leaves to approve. To find one's own leaves, use search_leaves.".to_owned()
        }
        Refusal::CannotAsk { id } => format!(
            "The person must confirm this, and this client cannot ask them, so nothing was done. Handle {id} with a client \
             that supports elicitation, such as bylaw chat."
        ),
        Refusal::NotAnswered { id } => {
            format!(
                "The person did not answer in time; {id} is unchanged. Make sure that they are there and try again."
            )
        }
        Refusal::Dismissed { id } => format!(
            "The person put the question away; {id} is unchanged. Ask what they want, and try again if they want it."
        ),
        Refusal::Declined { id, effect } => format!(
            "The person said no ({effect}); {id} is unchanged. Stop here, use no other tool to the same end, and tell them so."
        ),
        Refusal::SaidNo { id, effect, by } => format!(
            "The person said no: {by} declined to {effect} {id}. Stop here and use no other tool to the same end. Only the \
             person can reopen it, at the machine: bylaw leave reopen {id}."
        ),
        Refusal::AnswersAnother { id } => format!(
            "This confirmation is not about {id} as it is now, and does not count. Look it up again with get_leave and start over."
        ),
        Refusal::AnswerExpired { id } => {
            format!(
                "The confirmation for {id} has expired and does not count. Call again, so that the person is asked again."
            )
        }
        Refusal::AnswerUsed { id } => {
            format!(
                "This confirmation for {id} was used before and does not count. See where it stands with get_leave."
            )
        }
        Refusal::KeyUsedOtherwise { key } => {
            format!("The idempotency_key {:?} was used for another request. Choose a new one.", key.as_str())
        }
        Refusal::Busy => {
            "Others changed the same leaves at that moment, and nothing was done. Look it up again and retry."
                .to_owned()
        }
    }
}
