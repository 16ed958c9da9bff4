//! Cuts a question into the things it asks.

use std::ops::Range;

use crate::{asked::Asked, pattern::patterns};

/// One thing that a question asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Bytes of the folded question.
    pub(crate) range: Range<usize>,
    /// What it asks for.
    pub(crate) asked: Asked,
}

/// Most parts that are answered one by one.
const MAX_PARTS: usize = 3;

patterns! {
    BOUNDARY = r"[?!。;]+|,|，|、(?:又|還|另外)|又(?:最|可以|要|能|該|會)|(?:以及|還有|另外|並且|而且|然後)|\b(?:and|also|plus) (?:when|how|what|who|which|where|can|may|do|does|is|are|must|should|by|whether)\b";
    JOINT = r"、|和|與|跟|及|\b(?:and|or)\b";
    INTERROGATIVE = r"幾|多少|多久|多長|何時|什麼|甚麼|誰|哪|嗎|怎|如何|是否|能否|可否|得否|有無|有沒有|要不要|能不能|可不可以|需不需要|會不會|多快|行嗎|多高|多遠|多大|啥|何人|何單位|呢[?!。;]*$|\b(?:when|how|what|who|which|where|can i|may i|do i|does|is there|are there|must i|should i|whether)\b";
    SHARED_ASKED = r"(?:^|[,，;。])(?<a>[^,，?]{2,12}?)(?:和|與|跟|及|以及|、| and )(?<b>[^,，?]{2,12}?)(?<tail>各|分別|各自|\b(?:respectively|each)\b)";
}

/// The parts of a folded question, in order. A stretch that asks nothing belongs to the part that follows it, since
/// people say their circumstances first; at the end it belongs to the part before.
pub(crate) fn parts(folded: &str) -> Vec<Part> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for boundary in BOUNDARY.find_iter(folded) {
        // A mark belongs to what it ends, a conjunction to what it begins.
        let is_mark = boundary.as_str().starts_with(['?', '!', '。', ';', ',', '，']);
        let cut = if is_mark { boundary.end() } else { boundary.start() };
        if cut > start {
            pieces.push(start..cut);
            start = cut;
        }
    }
    if start < folded.len() {
        pieces.push(start..folded.len());
    }

    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    for piece in pieces.into_iter().flat_map(|piece| apart(folded, piece)) {
        let begin = open.unwrap_or(piece.start);
        if asks(&folded[piece.clone()]) {
            ranges.push(begin..piece.end);
            open = None;
        } else {
            open = Some(begin);
        }
    }
    match (ranges.last_mut(), open) {
        (Some(last), Some(_)) => last.end = folded.len(),
        (None, _) => ranges.push(0..folded.len()),
        (Some(_), None) => {}
    }
    // More questions than are answered one by one: the rest stay together.
    if ranges.len() > MAX_PARTS {
        ranges.truncate(MAX_PARTS);
        if let Some(last) = ranges.last_mut() {
            last.end = folded.len();
        }
    }
    ranges.into_iter().map(|range| Part { asked: Asked::of(&folded[range.clone()]), range }).collect()
}

/// Cuts a stretch at the words that join two things, where both sides ask: 天數怎麼算、最晚何時發.
fn apart(folded: &str, piece: Range<usize>) -> Vec<Range<usize>> {
    let mut cut = Vec::new();
    let mut start = piece.start;
    for joint in JOINT.find_iter(&folded[piece.clone()]) {
        let (end, next) = (piece.start + joint.start(), piece.start + joint.end());
        if asks(&folded[start..end]) && asks(&folded[next..piece.end]) {
            cut.push(start..end);
            start = end;
        }
    }
    cut.push(start..piece.end);
    cut
}

/// Whether a stretch asks something: a question word, or a verb and its denial side by side (算不算, 有沒有).
fn asks(stretch: &str) -> bool {
    if INTERROGATIVE.is_match(stretch) {
        return true;
    }
    let characters: Vec<char> = stretch.chars().collect();
    characters.windows(3).any(|three| three[0] == three[2] && matches!(three[1], '不' | '沒' | '没'))
}

/// Whether a part names two subjects for one asked fact (事假和病假各幾天): where the two subjects are.
pub(crate) fn two_subjects(part: &str) -> Option<(Range<usize>, Range<usize>)> {
    let found = SHARED_ASKED.captures(part)?;
    Some((found.name("a")?.range(), found.name("b")?.range()))
}

#[cfg(test)]
mod tests {
    use bylaw_retrieval::analysis::fold;

    use super::*;

    fn check(question: &str, expected: &[&str]) {
        let folded = fold(question).text;
        let expected: Vec<String> = expected.iter().map(|part| fold(part).text).collect();
        let found: Vec<_> = parts(&folded).into_iter().map(|part| folded[part.range].trim().to_owned()).collect();
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn a_question_falls_into_the_things_it_asks() {
        check("事假一年最多幾天？", &["事假一年最多幾天？"]);
        check(
            "我做滿兩年了，特休有幾天？今年沒休完可以延幾次？",
            &["我做滿兩年了，特休有幾天？", "今年沒休完可以延幾次？"],
        );
        check(
            "加班要幾點前申請，一個月又最多能加幾小時？",
            &["加班要幾點前申請，", "一個月又最多能加幾小時？"].map(|p| p),
        );
        check("婚假幾天以及要附什麼證明", &["婚假幾天", "以及要附什麼證明"]);
        check("特別休假", &["特別休假"]);
        check("剩下的天數怎麼處理、最晚何時拿到錢？", &["剩下的天數怎麼處理", "、最晚何時拿到錢？"]);
        check("補休休不完會怎樣？申請的手續呢？", &["補休休不完會怎樣？", "申請的手續呢？"]);
        check("捷運誤點算不算遲到，要附什麼", &["捷運誤點算不算遲到，", "要附什麼"]);
        check(
            "I lost my work phone. How fast do I have to tell IT?",
            &["I lost my work phone. How fast do I have to tell IT?"],
        );
        check(
            "How much notice must I give if I quit after six years, and when must I return my laptop?",
            &["How much notice must I give if I quit after six years,", "and when must I return my laptop?"],
        );
        check("健檢可以自己挑醫院或帶家人一起做嗎？", &["健檢可以自己挑醫院或帶家人一起做嗎？"]);
    }

    #[test]
    fn at_most_three_parts_are_answered_one_by_one() {
        assert_eq!(parts(&fold("甲幾天？乙幾天？丙幾天？丁幾天？").text).len(), 3);
    }

    #[test]
    fn two_subjects_of_one_asked_fact_are_seen() {
        let text = fold("事假和病假各可以請幾天").text;
        let (a, b) = two_subjects(&text).unwrap();
        assert_eq!((&text[a], &text[b]), ("事假", "病假"));
        assert_eq!(two_subjects(&fold("事假可以請幾天").text), None);
    }
}
