/* A value counted again from what the page holds, and printed as the report prints it. */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const FINE_BELOW = 1; // these four as in evalsuite/report/text/numbers.py
const WHOLE_FROM = 100_000;
const DECIMALS = 2;
const FINE_DIGITS = 3;

/** A throughput as the report prints it. @param {number} value */
export function printed(value) {
  if (value > 0 && value < FINE_BELOW) {
    return inForm({ minimumSignificantDigits: FINE_DIGITS, maximumSignificantDigits: FINE_DIGITS }, value);
  }
  const digits = Math.abs(value) >= WHOLE_FROM ? 0 : DECIMALS;
  return inForm({ minimumFractionDigits: digits, maximumFractionDigits: digits }, value);
}

const inForm = (form, value) => new Intl.NumberFormat("en-US", { ...form, roundingMode: "halfEven" }).format(value);
