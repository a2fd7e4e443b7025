// Gradient-boosted trees for rankings (LambdaMART): each tree is fitted to how much swaps of two candidates would change
// nDCG@10. The first guess is the formula, so the trees only correct it. Small sets, one thread, no randomness.

/** A node is a leaf if `feature` is -1: `value` is its output. Else `value` is the threshold; greater goes to `right`. */
export interface Tree {
  readonly feature: readonly number[];
  readonly value: readonly number[];
  readonly left: readonly number[];
  readonly right: readonly number[];
}

export interface Model {
  /** Weight of the formula beside the trees. */
  readonly formula: number;
  readonly trees: readonly Tree[];
}

export interface Row {
  readonly gain: number;
  readonly features: Float64Array;
}

export interface Group {
  readonly gains: readonly number[];
  readonly candidates: readonly Row[];
}

export interface TrainOptions {
  readonly trees: number;
  readonly leaves: number;
  readonly rate: number;
  /** Candidates that a leaf holds at least. */
  readonly leafMin: number;
  /** Indexes of the features that trees may use. */
  readonly features: readonly number[];
  /** Weight of the formula, which is feature 0, in the first guess. */
  readonly formula: number;
}

const BINS = 48;
const DEPTH = 10;
/** Added to each leaf's curvature, so that leaves of few swaps stay small. */
const RIDGE = 1;

export function scoreOf({ formula, trees }: Model, features: ArrayLike<number>): number {
  let score = formula * features[0]!;
  for (const { feature, value, left, right } of trees) {
    let node = 0;
    while (feature[node]! >= 0) node = features[feature[node]!]! > value[node]! ? right[node]! : left[node]!;
    score += value[node]!;
  }
  return score;
}

/** nDCG@10 of gains in the order of a ranking, against all gains of the question. */
export function ndcg(ranked: readonly number[], gains: readonly number[]): number {
  const discounted = (some: readonly number[]): number =>
    some.slice(0, DEPTH).reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);
  return discounted(ranked) / discounted(gains.toSorted((a, b) => b - a));
}

export function train(groups: readonly Group[], options: TrainOptions): Model {
  const rows = groups.flatMap(({ candidates }) => candidates);
  const binned = options.features.map((feature) => bin(rows.map(({ features }) => features[feature]!)));
  const scores = Float64Array.from(rows, ({ features }) => options.formula * features[0]!);
  const trees: Tree[] = [];
  for (let round = 0; round < options.trees; round++) {
    const slopes = new Float64Array(rows.length);
    const curves = new Float64Array(rows.length);
    let start = 0;
    for (const group of groups) {
      addSwaps(group, scores, start, slopes, curves);
      start += group.candidates.length;
    }
    trees.push(grow({ binned, slopes, curves, scores }, options));
  }
  return { formula: options.formula, trees };
}

function addSwaps(
  { gains, candidates }: Group,
  scores: Float64Array,
  start: number,
  slopes: Float64Array,
  curves: Float64Array,
): void {
  const order = candidates.map((_, i) => i).sort((a, b) => scores[start + b]! - scores[start + a]! || a - b);
  const ideal = gains
    .toSorted((a, b) => b - a)
    .slice(0, DEPTH)
    .reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);
  const discounts = order.map((_, rank) => (rank < DEPTH ? 1 / Math.log2(rank + 2) : 0));
  for (const [rank, i] of order.entries()) {
    const gain = candidates[i]!.gain;
    if (gain === 0) continue;
    for (const [otherRank, j] of order.entries()) {
      const lead = gain - candidates[j]!.gain;
      const change = (lead * Math.abs(discounts[rank]! - discounts[otherRank]!)) / ideal;
      if (change <= 0) continue;
      const wrong = 1 / (1 + Math.exp(scores[start + i]! - scores[start + j]!));
      slopes[start + i]! += change * wrong;
      slopes[start + j]! -= change * wrong;
      curves[start + i]! += change * wrong * (1 - wrong);
      curves[start + j]! += change * wrong * (1 - wrong);
    }
  }
}

interface Binned {
  readonly bins: Uint8Array;
  /** The highest value of each bin. */
  readonly edges: readonly number[];
}

function bin(values: readonly number[]): Binned {
  const sorted = Float64Array.from(values).sort();
  const edges: number[] = [];
  for (let b = 1; b <= BINS; b++) {
    const edge = sorted[Math.min(sorted.length - 1, Math.floor((b * sorted.length) / BINS))]!;
    if (edges.length === 0 || edge > edges.at(-1)!) edges.push(edge);
  }
  const bins = Uint8Array.from(values, (value) => {
    let b = 0;
    while (b < edges.length - 1 && value > edges[b]!) b += 1;
    return b;
  });
  return { bins, edges };
}

interface Fit {
  readonly binned: readonly Binned[];
  readonly slopes: Float64Array;
  readonly curves: Float64Array;
  /** The tree's outputs are added to it. */
  readonly scores: Float64Array;
}

interface Split {
  readonly better: number;
  readonly at: number;
  readonly bin: number;
}

interface Leaf {
  readonly node: number;
  readonly rows: readonly number[];
  readonly split: Split | undefined;
}

/** Splits the leaf that gains the most, until there are enough leaves. */
function grow(fit: Fit, { leaves: leavesMax, leafMin, rate, features }: TrainOptions): Tree {
  const tree = { feature: [-1], value: [0], left: [0], right: [0] };
  const leafOf = (node: number, rows: readonly number[]): Leaf => ({
    node,
    rows,
    split: bestSplit(fit, rows, leafMin),
  });
  let leaves = [
    leafOf(
      0,
      Array.from(fit.scores, (_, i) => i),
    ),
  ];
  while (leaves.length < leavesMax) {
    const leaf = leaves.reduce((best, one) => ((one.split?.better ?? 0) > (best.split?.better ?? 0) ? one : best));
    if (leaf.split === undefined) break;
    const { at, bin: last } = leaf.split;
    const { bins, edges } = fit.binned[at]!;
    const left = tree.feature.length;
    const { node } = leaf;
    Object.assign(tree.feature, { [node]: features[at]!, [left]: -1, [left + 1]: -1 });
    Object.assign(tree.value, { [node]: edges[last]!, [left]: 0, [left + 1]: 0 });
    Object.assign(tree.left, { [node]: left, [left]: 0, [left + 1]: 0 });
    Object.assign(tree.right, { [node]: left + 1, [left]: 0, [left + 1]: 0 });
    leaves = leaves.filter((one) => one !== leaf);
    leaves.push(
      leafOf(
        left,
        leaf.rows.filter((row) => bins[row]! <= last),
      ),
    );
    leaves.push(
      leafOf(
        left + 1,
        leaf.rows.filter((row) => bins[row]! > last),
      ),
    );
  }
  for (const { node, rows } of leaves) {
    let slope = 0;
    let curve = RIDGE;
    for (const row of rows) {
      slope += fit.slopes[row]!;
      curve += fit.curves[row]!;
    }
    tree.value[node] = (rate * slope) / curve;
    for (const row of rows) fit.scores[row]! += tree.value[node];
  }
  return tree;
}

function bestSplit({ binned, slopes, curves }: Fit, rows: readonly number[], leafMin: number): Split | undefined {
  if (rows.length < 2 * leafMin) return undefined;
  let best: Split | undefined;
  for (const [at, { bins, edges }] of binned.entries()) {
    const counts = new Uint32Array(edges.length);
    const slope = new Float64Array(edges.length);
    const curve = new Float64Array(edges.length);
    for (const row of rows) {
      const b = bins[row]!;
      counts[b]! += 1;
      slope[b]! += slopes[row]!;
      curve[b]! += curves[row]!;
    }
    const allSlope = slope.reduce((sum, one) => sum + one, 0);
    const allCurve = curve.reduce((sum, one) => sum + one, 0);
    let count = 0;
    let leftSlope = 0;
    let leftCurve = 0;
    for (let b = 0; b < edges.length - 1; b++) {
      count += counts[b]!;
      leftSlope += slope[b]!;
      leftCurve += curve[b]!;
      if (count < leafMin || rows.length - count < leafMin) continue;
      const rightSlope = allSlope - leftSlope;
      const rightCurve = allCurve - leftCurve;
      const better =
        leftSlope ** 2 / (leftCurve + RIDGE) +
        rightSlope ** 2 / (rightCurve + RIDGE) -
        allSlope ** 2 / (allCurve + RIDGE);
      if (better > (best?.better ?? 1e-12)) best = { better, at, bin: b };
    }
  }
  return best;
}
