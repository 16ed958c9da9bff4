//! Ranking metrics with binary relevance, as in trec_eval.

use std::collections::HashSet;

/// Sums over questions; divide by `questions`.
#[derive(Clone, Debug, Default)]
pub(super) struct Metrics {
    pub(super) questions: usize,
    pub(super) ndcg_at_10: f64,
    pub(super) mrr_at_10: f64,
    pub(super) recall: [f64; 4],
}

/// Depths at which recall is taken.
pub(super) const RECALL_AT: [usize; 4] = [1, 5, 10, 100];

impl Metrics {
    /// Adds one question: `ranked` are document ids, best first; `relevant` must not be empty.
    pub(super) fn add(&mut self, ranked: &[String], relevant: &HashSet<&str>) {
        self.questions += 1;
        let is_hit = |id: &String| relevant.contains(id.as_str());
        let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let dcg: f64 =
            ranked.iter().take(10).enumerate().filter(|(_, id)| is_hit(id)).map(|(rank, _)| gain(rank)).sum();
        let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
        self.ndcg_at_10 += dcg / ideal;
        self.mrr_at_10 += ranked.iter().take(10).position(is_hit).map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
        for (sum, depth) in self.recall.iter_mut().zip(RECALL_AT) {
            *sum += ranked.iter().take(depth).filter(|id| is_hit(id)).count() as f64 / relevant.len() as f64;
        }
    }

    /// The mean of a sum.
    pub(super) fn mean(&self, sum: f64) -> f64 {
        if self.questions == 0 { 0.0 } else { sum / self.questions as f64 }
    }
}

/// The value below which `share` of the sorted values lie (nearest rank).
pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let rank = ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1).min(last);
    sorted.get(rank).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(ranked: &[&str], relevant: &[&str]) -> Metrics {
        let mut metrics = Metrics::default();
        let ranked: Vec<String> = ranked.iter().map(|id| (*id).to_owned()).collect();
        metrics.add(&ranked, &relevant.iter().copied().collect());
        metrics
    }

    #[test]
    fn a_perfect_ranking_scores_one_everywhere() {
        let metrics = one(&["a", "b", "x"], &["a", "b"]);
        assert_eq!((metrics.ndcg_at_10, metrics.mrr_at_10), (1.0, 1.0));
        assert_eq!(metrics.recall, [0.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_second_place_is_discounted_by_the_binary_logarithm_of_three() {
        let metrics = one(&["x", "a"], &["a"]);
        assert!((metrics.ndcg_at_10 - 1.0 / 3.0_f64.log2()).abs() < 1e-12);
        assert_eq!(metrics.mrr_at_10, 0.5);
        assert_eq!(metrics.recall[0], 0.0);
    }

    #[test]
    fn percentiles_take_the_nearest_rank() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(percentile(&values, 0.5), 2.0);
        assert_eq!(percentile(&values, 0.95), 4.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
