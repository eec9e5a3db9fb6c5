/*
 * What may be said of two pinned cases. Whether they may be compared and whether they differ by more than noise stands
 * in the data (evalsuite/results/compare/fairness.py decides it, evalsuite/report/page/embedded.py says the rule).
 */

/**
 * The ratio of two cases, null where their units differ or one has no value, and the word for it.
 * @param {import("./data.js").Case} a @param {import("./data.js").Case} b
 * @returns {{ratio: number | null, outcome: "unlike" | "too_few" | "significant" | "not_significant"}}
 */
export function comparison(a, b) {
  const counted = a.unit !== null && a.unit === b.unit;
  return { ratio: counted ? a.value / b.value : null, outcome: outcome(a, b) };
}

function outcome(a, b) {
  if (a.group === null || a.group !== b.group) return "unlike";
  if (a.partial || b.partial) return "too_few";
  return a.apart.includes(b.row) ? "significant" : "not_significant";
}
