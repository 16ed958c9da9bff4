//! Sentences that leave a matter to another document.

use crate::pattern::patterns;

patterns! {
    DEFERRAL = r"另(?:行|以|依|由|為)?[^,。;]{0,20}(?:定之|規定|訂定|訂之|公告)|另(?:行)?(?:定|訂)之|(?:依|按|以|準用|適用|參照|見|詳)[^,。;]{0,12}[《「〈『][^》」〉』]{2,40}[》」〉』]|(?:依|按|以|詳見|參照)[^,。;第條]{0,14}(?:辦法|要點|準則|細則|作業規定|作業程序|管理規定|實施計畫|手冊|契約|合約|規章|政策)(?:之|所定|所|規定|約定|另)*(?:辦理|規定|定之|為之|處理|約定)|(?:依|由)[^,。;第條]{0,12}(?:公告|另函|主管機關|法令)[^,。;]{0,6}(?:辦理|規定|定之|為之)|\b(?:set out|governed|laid down|regulated|described|defined|covered|dealt with) (?:in|by|under) (?:a |the |its |our )?(?:separate |own )?[^,.;]{0,60}\b(?:policy|policies|procedures?|guidelines?|rules|plan|agreement|manual)\b|\b(?:in accordance with|subject to|see|refer to|under) (?:a |the |our )?(?:separate )?(?:[a-z-]+ ){1,4}(?:policy|policies|procedure|guidelines|plan|manual)\b|\bseparate(?:ly)? (?:[a-z]+ ){0,4}(?:policy|rules|procedure|agreement|document)\b";
    CATCH_ALL = r"未規定之?事項|未盡事宜|未盡之?事項|有未規定|如有未盡|牴觸|抵觸|\bnot (?:covered|provided for|regulated) (?:by|in) th(?:is|ese)\b|\bmore favou?rable\b|\bprevails?\b";
}

/// Whether a folded sentence sends the reader to another document for what it speaks of. What applies to everything that the rules
/// do not say (本規則未規定之事項適用…) sends nobody anywhere.
pub(crate) fn defers(sentence: &str) -> bool {
    !CATCH_ALL.is_match(sentence) && DEFERRAL.is_match(sentence)
}

#[cfg(test)]
mod tests {
    use bylaw_retrieval::analysis::fold;

    use super::*;

    #[test]
    fn what_sends_the_reader_elsewhere_is_told_from_what_does_not() {
        let rows = [
            ("產線輪班人員之班別，依《輪班作業辦法》辦理；", true),
            ("各職等之薪級表，另以《薪資管理辦法》定之。", true),
            ("停車位之分配另行規定。", true),
            ("其辦法另定之。", true),
            ("出國考察依出國考察管理辦法辦理。", true),
            ("離職後競業禁止之約定，依個別簽訂之《競業禁止契約》定之。", true),
            ("are set out in the separate International Assignment Policy and not in this Handbook.", true),
            ("Parking is subject to the Site Parking Policy.", true),
            ("依第 41 條規定懲處。", false),
            ("本規則未規定之事項，適用勞動基準法及其他有關法令；", false),
            ("本規則如有未盡事宜，依相關法令辦理。", false),
            ("各項辦法與本規則牴觸者，以本規則為準。", false),
            ("國外出差之日支數額，依附表一之規定。", false),
            ("特別休假得以半日為單位請休。", false),
            ("另按首年節省金額之百分之五發給提案獎金", false),
            ("Where mandatory local law gives more, that law prevails over this Handbook.", false),
        ];
        for (sentence, expected) in rows {
            assert_eq!(defers(&fold(sentence).text), expected, "{sentence}");
        }
    }
}
