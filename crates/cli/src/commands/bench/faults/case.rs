//! The cases.

/// One thing that goes wrong. Its name is the model's name, and a part of the address of the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// Arguments that end in the middle of a string.
    BadJson,
    /// Arguments that are a list.
    ArrayArgs,
    /// No arguments for a tool that takes none.
    EmptyArgs,
    /// A tool that is not there.
    UnknownTool,
    /// Arguments of the wrong type and value.
    SchemaViolation,
    /// Two calls with one id.
    DupIds,
    /// Two calls, one of which the tool refuses.
    ParallelOneError,
    /// Two calls, on one of which the server breaks.
    ParallelOneRpcError,
    /// The server answers HTTP 500.
    Mcp500,
    /// The server forgets its session.
    Session404,
    /// A result without text.
    StructuredOnly,
    /// A result that is a picture.
    ImageResult,
    /// Two megabytes of result.
    HugeResult,
    /// The model never stops calling.
    LoopForever,
    /// The model refuses for the moment.
    RateLimit,
    /// The reply says that it is done, and calls.
    FinishStopWithCalls,
    /// The reply was cut off, and its call looks whole.
    FinishLengthValidJson,
    /// What the model thought has to be sent back.
    ReasoningRoundtrip,
    /// The model says nothing.
    EmptyAnswer,
    /// A list of tools with two pages.
    PageTwo,
    /// A tool whose name no provider takes.
    LongDottedName,
    /// A schema that no provider takes.
    NoProperties,
    /// Usage without numbers.
    UsageNull,
    /// Tools that never answer.
    Hang,
}

impl Case {
    /// Every case.
    pub(super) const ALL: [Self; 24] = [
        Self::BadJson,
        Self::ArrayArgs,
        Self::EmptyArgs,
        Self::UnknownTool,
        Self::SchemaViolation,
        Self::DupIds,
        Self::ParallelOneError,
        Self::ParallelOneRpcError,
        Self::Mcp500,
        Self::Session404,
        Self::StructuredOnly,
        Self::ImageResult,
        Self::HugeResult,
        Self::LoopForever,
        Self::RateLimit,
        Self::FinishStopWithCalls,
        Self::FinishLengthValidJson,
        Self::ReasoningRoundtrip,
        Self::EmptyAnswer,
        Self::PageTwo,
        Self::LongDottedName,
        Self::NoProperties,
        Self::UsageNull,
        Self::Hang,
    ];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::BadJson => "bad_json",
            Self::ArrayArgs => "array_args",
            Self::EmptyArgs => "empty_args",
            Self::UnknownTool => "unknown_tool",
            Self::SchemaViolation => "schema_violation",
            Self::DupIds => "dup_ids",
            Self::ParallelOneError => "parallel_one_error",
            Self::ParallelOneRpcError => "parallel_one_rpc_error",
            Self::Mcp500 => "mcp_500",
            Self::Session404 => "session_404",
            Self::StructuredOnly => "structured_only",
            Self::ImageResult => "image_result",
            Self::HugeResult => "huge_result",
            Self::LoopForever => "loop_forever",
            Self::RateLimit => "rate_limit",
            Self::FinishStopWithCalls => "finish_stop_with_calls",
            Self::FinishLengthValidJson => "finish_length_valid_json",
            Self::ReasoningRoundtrip => "reasoning_roundtrip",
            Self::EmptyAnswer => "empty_answer",
            Self::PageTwo => "page_two",
            Self::LongDottedName => "long_dotted_name",
            Self::NoProperties => "no_properties",
            Self::UsageNull => "usage_null",
            Self::Hang => "hang",
        }
    }

    /// The case of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.name() == name)
    }
}
