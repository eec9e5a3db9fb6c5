/* Whether two cases differ by more than noise, as evalsuite/results/statistics.py decides it for the tables. */

const FULL_REPEATS = 5;
const SIGNIFICANT = 0.05;
const MOST_VALUES = 16; // beyond these there are too many ways to split them

/**
 * The ratio of two cases, null where their units differ, and the word for it.
 * @param {import("./data.js").Case} a @param {import("./data.js").Case} b
 * @returns {{ratio: number | null, outcome: "unlike" | "too_few" | "significant" | "not_significant"}}
 */
export function comparison(a, b) {
  if (a.unit !== b.unit) return { ratio: null, outcome: "unlike" };
  return { ratio: a.value / b.value, outcome: a.fair !== b.fair ? "unlike" : difference(a, b) };
}

function difference(a, b) {
  if (a.partial || b.partial || Math.min(a.values.length, b.values.length) < FULL_REPEATS) return "too_few";
  const below = (one, other) => Math.max(...one.values) < Math.min(...other.values);
  const differ = below(a, b) || below(b, a) || chance(a.values, b.values) < SIGNIFICANT;
  return differ ? "significant" : "not_significant";
}

/**
 * How often means are as far apart as those of *a* and *b* when their values are dealt out in every possible way:
 * an exact permutation test, two-sided.
 */
function chance(a, b) {
  const pooled = [...a, ...b];
  if (pooled.length > MOST_VALUES) return 1;
  const total = sum(pooled);
  const seen = Math.abs(sum(a) / a.length - sum(b) / b.length);
  const slack = 1e-12 * Math.max(...pooled.map(Math.abs)); // sums in another order differ in their last digits
  let splits = 0;
  let asFar = 0;
  const deal = (start, left, dealt) => {
    if (!left) {
      splits++;
      if (Math.abs(dealt / a.length - (total - dealt) / b.length) >= seen - slack) asFar++;
      return;
    }
    for (let next = start; next <= pooled.length - left; next++) deal(next + 1, left - 1, dealt + pooled[next]);
  };
  deal(0, a.length, 0);
  return asFar / splits;
}

const sum = (values) => values.reduce((soFar, value) => soFar + value, 0);
