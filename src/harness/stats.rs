//! Means, and how far the mean of paired differences may be off: bootstrap intervals with a fixed
//! seed, so that one set of runs gives one report.

/// How many resamplings an interval takes.
const N_SAMPLES: usize = 10_000;

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The 95 % interval of the mean of paired differences, by the bootstrap's percentiles.
/// `None` of fewer than two pairs.
pub fn interval(differences: &[f64]) -> Option<(f64, f64)> {
    if differences.len() < 2 {
        return None;
    }
    let mut random = SplitMix(0x5eed);
    let mut means: Vec<f64> = (0..N_SAMPLES)
        .map(|_| {
            let sum: f64 = (0..differences.len()).map(|_| differences[random.below(differences.len())]).sum();
            sum / differences.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((N_SAMPLES - 1) as f64 * share).round() as usize];
    Some((at(0.025), at(0.975)))
}

/// SplitMix64: small, and good enough to pick pairs.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{interval, mean};

    #[test]
    fn intervals_hold_the_mean_and_are_the_same_each_time() {
        let differences = [-3.0, -1.0, -2.0, 0.0, -4.0, -2.5];
        let (low, high) = interval(&differences).unwrap();
        assert!(low < mean(&differences) && mean(&differences) < high && high < 0.0, "{low} {high}");
        assert_eq!(interval(&differences), Some((low, high)));
        assert_eq!(interval(&[1.0]), None);
    }
}
