//! What things are called, in both languages.

use bylaw_contract::Language;

/// One thing in English and in Traditional Chinese.
pub(crate) type Words = (&'static str, &'static str);

/// The words in a language.
pub(crate) const fn say(language: Language, words: Words) -> &'static str {
    if language.is_chinese() { words.1 } else { words.0 }
}

/// Fields of the input that can move, as people call them.
const FIELDS: &[(&str, Words)] = &[
    ("tasks_per_day", ("your volume", "您的用量")),
    ("api.profile.prompt_tokens", ("prompt tokens, API", "提示詞元（API）")),
    ("api.profile.cached_tokens", ("cached tokens, API", "快取詞元（API）")),
    ("api.profile.completion_tokens", ("written tokens, API", "輸出詞元（API）")),
    ("api.profile.calls_per_task", ("calls per task, API", "每件呼叫次數（API）")),
    ("api.input_price", ("input price", "輸入單價")),
    ("api.cached_input_price", ("cached input price", "快取輸入單價")),
    ("api.output_price", ("output price", "輸出單價")),
    ("api.extras_per_task", ("extras per task, API", "每件附加費（API）")),
    ("self_hosted.profile.prompt_tokens", ("prompt tokens, self-hosted", "提示詞元（自架）")),
    ("self_hosted.profile.cached_tokens", ("cached tokens, self-hosted", "快取詞元（自架）")),
    ("self_hosted.profile.completion_tokens", ("written tokens, self-hosted", "輸出詞元（自架）")),
    ("self_hosted.profile.calls_per_task", ("calls per task, self-hosted", "每件呼叫次數（自架）")),
    ("self_hosted.gpu_price_per_hour", ("GPU price per hour", "GPU 每小時價格")),
    ("self_hosted.prefill_tokens_per_second", ("reading speed", "讀取速度")),
    ("self_hosted.decode_tokens_per_second", ("writing speed", "生成速度")),
    ("self_hosted.target_utilisation", ("target utilisation", "目標使用率")),
    ("self_hosted.peak_factor", ("peak factor", "尖峰倍數")),
    ("self_hosted.labour_per_month", ("labour", "人力")),
    ("self_hosted.retraining_cost", ("cost of a retraining", "每次再訓練費用")),
    ("self_hosted.storage_and_network_per_month", ("storage and network", "儲存與網路")),
    ("self_hosted.variable_cost_per_task", ("variable cost per task", "每件變動成本")),
    ("self_hosted.purchase_price_per_replica", ("purchase price", "設備購價")),
];

/// A field as people call it.
pub(crate) fn field(name: &str, language: Language) -> &str {
    FIELDS.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| say(language, *words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::Lever;

    #[test]
    fn everything_that_moves_has_a_name_in_both_languages() {
        for lever in Lever::ALL {
            for language in [Language::English, Language::TraditionalChinese] {
                assert_ne!(field(lever.field(), language), lever.field());
            }
        }
    }
}
