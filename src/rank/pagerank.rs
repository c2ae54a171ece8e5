//! PageRank over a weighted graph, personalised by seeds; the same bytes on every machine.

/// Iterations of every run: enough for a file graph, and fixed so that results never depend on
/// a convergence test.
pub const N_ITERATIONS: usize = 30;

/// A weighted directed graph: for each node its targets, sorted and unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weighted {
    pub targets: Vec<Vec<(u32, f64)>>,
}

/// Ranks the nodes of `graph`. The result sums to about 1.
///
/// `alpha` is the chance to follow an edge. `seeds` holds one weight a node (not negative); where
/// all are 0 every node is a seed alike. Starts from the seeds, runs a fixed number of rounds in a
/// fixed order, and is quantized to 1e-12.
pub fn pagerank(graph: &Weighted, seeds: &[f64], alpha: f64) -> Vec<f64> {
    let n_nodes = graph.targets.len();
    if n_nodes == 0 {
        return Vec::new();
    }
    let total: f64 = seeds.iter().sum();
    let teleport: Vec<f64> = if seeds.len() == n_nodes && total > 0.0 {
        seeds.iter().map(|seed| seed / total).collect()
    } else {
        vec![1.0 / n_nodes as f64; n_nodes]
    };
    let out_weight: Vec<f64> = graph.targets.iter().map(|t| t.iter().map(|(_, w)| w).sum()).collect();
    let mut rank = teleport.clone();
    for _ in 0..N_ITERATIONS {
        let mut next = vec![0.0; n_nodes];
        let mut dangling = 0.0;
        for (node, targets) in graph.targets.iter().enumerate() {
            if out_weight[node] <= 0.0 {
                dangling += rank[node];
                continue;
            }
            let share = rank[node] / out_weight[node];
            for (target, weight) in targets {
                next[*target as usize] += share * weight;
            }
        }
        for (node, value) in next.iter_mut().enumerate() {
            *value = (1.0 - alpha) * teleport[node] + alpha * (*value + dangling * teleport[node]);
        }
        rank = next;
    }
    rank.iter().map(|value| (value * 1e12).round() / 1e12).collect()
}

#[cfg(test)]
mod tests {
    use super::{Weighted, pagerank};

    #[test]
    fn what_many_use_ranks_first() {
        let graph = Weighted { targets: vec![vec![(2, 1.0)], vec![(2, 1.0)], vec![(3, 1.0)], vec![]] };
        let rank = pagerank(&graph, &[], 0.85);
        assert!(rank[2] > rank[0] && rank[3] > rank[1]);
        assert!((rank.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn seeds_pull_rank_to_their_neighbors() {
        let graph = Weighted { targets: vec![vec![(1, 1.0)], vec![], vec![(3, 1.0)], vec![]] };
        let rank = pagerank(&graph, &[1.0, 0.0, 0.0, 0.0], 0.85);
        assert!(rank[1] > rank[3] && rank[2] == 0.0);
    }

    #[test]
    fn an_empty_graph_has_no_ranks() {
        assert!(pagerank(&Weighted::default(), &[], 0.85).is_empty());
    }
}
