//! The language a person wrote in.

use serde::{Deserialize, Serialize};

/// The languages Bylaw answers in. Chosen from the script of the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
pub enum Language {
    /// Traditional Chinese (Taiwan).
    #[default]
    #[serde(rename = "zh-Hant")]
    TraditionalChinese,
    /// Simplified Chinese. Sentences of our own are given in Traditional; a model is asked for Simplified.
    #[serde(rename = "zh-Hans")]
    SimplifiedChinese,
    /// English.
    #[serde(rename = "en")]
    English,
}

impl Language {
    /// The BCP 47 tag.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::TraditionalChinese => "zh-Hant",
            Self::SimplifiedChinese => "zh-Hans",
            Self::English => "en",
        }
    }

    /// Whether our own sentences are written in Chinese for this reader.
    #[must_use]
    pub const fn is_chinese(self) -> bool {
        match self {
            Self::TraditionalChinese | Self::SimplifiedChinese => true,
            Self::English => false,
        }
    }
}
