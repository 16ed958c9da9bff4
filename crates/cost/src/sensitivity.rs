//! How much hangs on each figure, and how sure the result is.

use serde::{Deserialize, Serialize};

use crate::{figure::Figure, scenario::Scenario};

/// Draws of the uncertainty.
pub const DRAWS: u32 = 10_000;

/// Every figure is taken to be a quarter off at most.
const SPREAD: Figure = Figure::new(25, 2);

macro_rules! levers {
    ($($name:ident = $field:literal, $($path:ident).+;)+) => {
        /// A figure that may turn out to be another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Lever {
            $(#[doc = concat!("`", $field, "`")] $name,)+
        }

        impl Lever {
            /// Every lever.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The field of the input that it moves.
            #[must_use]
            pub const fn field(self) -> &'static str {
                match self { $(Self::$name => $field,)+ }
            }

            /// Its figure.
            #[must_use]
            pub const fn of(self, scenario: &Scenario) -> Figure {
                match self { $(Self::$name => scenario.$($path).+,)+ }
            }

            const fn of_mut(self, scenario: &mut Scenario) -> &mut Figure {
                match self { $(Self::$name => &mut scenario.$($path).+,)+ }
            }
        }
    };
}

levers! {
    Volume = "tasks_per_day", tasks_per_day;
    ApiPrompt = "api.profile.prompt_tokens", api.profile.prompt_tokens;
    ApiCached = "api.profile.cached_tokens", api.profile.cached_tokens;
    ApiCompletion = "api.profile.completion_tokens", api.profile.completion_tokens;
    ApiCalls = "api.profile.calls_per_task", api.profile.calls_per_task;
    InputPrice = "api.input_price", api.input_price;
    CachedInputPrice = "api.cached_input_price", api.cached_input_price;
    OutputPrice = "api.output_price", api.output_price;
    Extras = "api.extras_per_task", api.extras_per_task;
    Prompt = "self_hosted.profile.prompt_tokens", self_hosted.profile.prompt_tokens;
    Cached = "self_hosted.profile.cached_tokens", self_hosted.profile.cached_tokens;
    Completion = "self_hosted.profile.completion_tokens", self_hosted.profile.completion_tokens;
    Calls = "self_hosted.profile.calls_per_task", self_hosted.profile.calls_per_task;
    GpuPrice = "self_hosted.gpu_price_per_hour", self_hosted.gpu_price_per_hour;
    Prefill = "self_hosted.prefill_tokens_per_second", self_hosted.prefill_tokens_per_second;
    Decode = "self_hosted.decode_tokens_per_second", self_hosted.decode_tokens_per_second;
    Utilisation = "self_hosted.target_utilisation", self_hosted.target_utilisation;
    Peak = "self_hosted.peak_factor", self_hosted.peak_factor;
    Labour = "self_hosted.labour_per_month", self_hosted.labour_per_month;
    Retraining = "self_hosted.retraining_cost", self_hosted.retraining_cost;
    Storage = "self_hosted.storage_and_network_per_month", self_hosted.storage_and_network_per_month;
    Variable = "self_hosted.variable_cost_per_task", self_hosted.variable_cost_per_task;
    Purchase = "self_hosted.purchase_price_per_replica", self_hosted.purchase_price_per_replica;
}

impl Lever {
    /// Multiplies the figure.
    pub fn scale(self, scenario: &mut Scenario, factor: Figure) {
        let figure = self.of_mut(scenario);
        // Twenty digits are more than anyone knows, and keep products of many of them exact.
        *figure = (*figure * factor).rounded(12);
    }
}

/// Keeps what was scaled possible: the cached part within its prompt, utilisation within 1, the peak above the mean.
pub fn keep_possible(scenario: &mut Scenario) {
    for profile in [&mut scenario.api.profile, &mut scenario.self_hosted.profile] {
        profile.cached_tokens = profile.cached_tokens.min(profile.prompt_tokens);
    }
    let hosting = &mut scenario.self_hosted;
    hosting.target_utilisation = hosting.target_utilisation.min(Figure::ONE);
    hosting.peak_factor = hosting.peak_factor.max(Figure::ONE);
}

/// What is saved in a month if one figure is a quarter off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Sensitivity {
    /// The field of the input.
    pub field: String,
    /// A quarter less.
    pub low: Figure,
    /// What is saved then.
    pub saving_at_low: Figure,
    /// A quarter more.
    pub high: Figure,
    /// What is saved then.
    pub saving_at_high: Figure,
}

impl Sensitivity {
    fn swing(&self) -> Figure {
        (self.saving_at_high - self.saving_at_low).max(self.saving_at_low - self.saving_at_high)
    }
}

/// Moves each figure that is not nothing by a quarter down and up, alone; the one that matters most comes first.
#[must_use]
pub fn sensitivity(scenario: &Scenario) -> Vec<Sensitivity> {
    let at = |lever: Lever, factor: Figure| {
        let mut moved = *scenario;
        lever.scale(&mut moved, factor);
        keep_possible(&mut moved);
        (lever.of(&moved), moved.saving_per_month())
    };
    let mut all: Vec<Sensitivity> = Lever::ALL
        .iter()
        .filter(|lever| lever.of(scenario) != Figure::ZERO)
        .map(|lever| {
            let (low, saving_at_low) = at(*lever, Figure::ONE - SPREAD);
            let (high, saving_at_high) = at(*lever, Figure::ONE + SPREAD);
            Sensitivity { field: lever.field().to_owned(), low, saving_at_low, high, saving_at_high }
        })
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.swing()));
    all
}

/// How sure the result is, if every figure is off at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Uncertainty {
    /// In which share of the draws hosting costs less.
    pub probability_self_hosting_is_cheaper: f64,
    /// Draws; in each, every figure that is not nothing is multiplied by a factor of its own, between 0.75 and 1.25 and
    /// most often near 1 (triangular).
    pub draws: u32,
    /// What the draws begin with: the same gives the same.
    pub seed: u32,
    /// What is saved in a month, at least, in all but a twentieth of the draws.
    pub saving_p5: Figure,
    /// In half of them.
    pub saving_p50: Figure,
    /// In a twentieth of them.
    pub saving_p95: Figure,
}

/// Draws every figure anew, many times.
#[must_use]
pub fn uncertainty(scenario: &Scenario, seed: u32) -> Uncertainty {
    let mut draws = Draws(u64::from(seed));
    let levers: Vec<Lever> = Lever::ALL.iter().copied().filter(|lever| lever.of(scenario) != Figure::ZERO).collect();
    let mut savings: Vec<Figure> = (0..DRAWS)
        .map(|_| {
            let mut drawn = *scenario;
            for lever in &levers {
                lever.scale(&mut drawn, draws.factor());
            }
            keep_possible(&mut drawn);
            drawn.saving_per_month()
        })
        .collect();
    savings.sort_unstable();
    let cheaper = savings.iter().filter(|saving| **saving > Figure::ZERO).count();
    let at = |per_cent: usize| savings[(savings.len() - 1) * per_cent / 100];
    Uncertainty {
        probability_self_hosting_is_cheaper: u32::try_from(cheaper).map_or(1.0, f64::from) / f64::from(DRAWS),
        draws: DRAWS,
        seed,
        saving_p5: at(5),
        saving_p50: at(50),
        saving_p95: at(95),
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): a few lines that give the same draws in every version of the program, which
/// libraries do not promise.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A millionth of 0 to 1,000,000.
    fn millionths(&mut self) -> i64 {
        i64::try_from(self.next() % 1_000_001).unwrap_or(0)
    }

    /// Triangular between 0.75 and 1.25: the sum of two uniform draws is triangular.
    fn factor(&mut self) -> Figure {
        let two = self.millionths() + self.millionths();
        Figure::new(75_000_000 + 25 * two, 8)
    }
}
