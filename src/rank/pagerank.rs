//! PageRank over a weighted graph, personalised by seeds; the same bytes on every machine.

/// Iterations of a run from nothing: enough for a file graph, and fixed so that results never
/// depend on a convergence test.
pub const N_ITERATIONS: usize = 30;
/// Iterations of a run from seeds, whose rank stays near them: what lies farther than this is
/// nothing that the question is about.
pub const N_NEAR_ITERATIONS: usize = 12;

/// A weighted directed graph: rows of targets, sorted and unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weighted {
    /// For each node the first of its targets; one more than nodes.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// Shares of what leaves the node, one a target.
    shares: Vec<f64>,
}

impl Weighted {
    /// A graph of `rows`: for each node its targets with their weights.
    pub fn new(rows: &[Vec<(u32, f64)>]) -> Self {
        let mut graph = Weighted { starts: vec![0], ..Weighted::default() };
        for row in rows {
            let out: f64 = row.iter().map(|(_, weight)| weight).sum();
            for (target, weight) in row.iter().filter(|_| out > 0.0) {
                graph.targets.push(*target);
                graph.shares.push(weight / out);
            }
            graph.starts.push(graph.targets.len() as u32);
        }
        graph
    }

    fn n_nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// Ranks the nodes of `graph`. The result sums to about 1.
///
/// `alpha` is the chance to follow an edge. `seeds` holds one weight a node (not negative); where
/// all are 0 every node is a seed alike. Starts from the seeds, runs a fixed number of rounds in a
/// fixed order, and is quantized to 1e-12.
pub fn pagerank(graph: &Weighted, seeds: &[f64], alpha: f64, n_iterations: usize) -> Vec<f64> {
    let n_nodes = graph.n_nodes();
    if n_nodes == 0 {
        return Vec::new();
    }
    let total: f64 = seeds.iter().sum();
    let teleport: Vec<f64> = if seeds.len() == n_nodes && total > 0.0 {
        seeds.iter().map(|seed| seed / total).collect()
    } else {
        vec![1.0 / n_nodes as f64; n_nodes]
    };
    let mut rank = teleport.clone();
    let mut next = vec![0.0; n_nodes];
    for _ in 0..n_iterations {
        next.fill(0.0);
        let mut dangling = 0.0;
        for (node, value) in rank.iter().copied().enumerate() {
            let (start, end) = (graph.starts[node] as usize, graph.starts[node + 1] as usize);
            if start == end {
                dangling += value;
            } else if value > 0.0 {
                for (target, share) in graph.targets[start..end].iter().zip(&graph.shares[start..end]) {
                    next[*target as usize] += value * share;
                }
            }
        }
        for (value, teleport) in next.iter_mut().zip(&teleport) {
            *value = (1.0 - alpha) * teleport + alpha * (*value + dangling * teleport);
        }
        std::mem::swap(&mut rank, &mut next);
    }
    rank.iter().map(|value| (value * 1e12).round() / 1e12).collect()
}

#[cfg(test)]
mod tests {
    use super::{N_ITERATIONS, Weighted, pagerank};

    #[test]
    fn what_many_use_ranks_first() {
        let graph = Weighted::new(&[vec![(2, 1.0)], vec![(2, 1.0)], vec![(3, 1.0)], vec![]]);
        let rank = pagerank(&graph, &[], 0.85, N_ITERATIONS);
        assert!(rank[2] > rank[0] && rank[3] > rank[1]);
        assert!((rank.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn seeds_pull_rank_to_their_neighbors() {
        let graph = Weighted::new(&[vec![(1, 1.0)], vec![], vec![(3, 1.0)], vec![]]);
        let rank = pagerank(&graph, &[1.0, 0.0, 0.0, 0.0], 0.85, N_ITERATIONS);
        assert!(rank[1] > rank[3] && rank[2] == 0.0);
    }

    #[test]
    fn an_empty_graph_has_no_ranks() {
        assert!(pagerank(&Weighted::new(&[]), &[], 0.85, N_ITERATIONS).is_empty());
        assert!(pagerank(&Weighted::default(), &[], 0.85, N_ITERATIONS).is_empty());
    }
}
