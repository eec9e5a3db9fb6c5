/* The fragment of an address: #lang=en&framework=A,B&at=section holds state and place in one. */

/**
 * The pairs of a fragment; `#section` alone is a place. What cannot be decoded is left out.
 * @param {string} fragment as in `location.hash` @returns {Record<string, string>}
 */
export function pairsOf(fragment) {
  const text = fragment.replace(/^#/, "");
  const pairs = text.includes("=") ? text.split("&").map(pairOf) : [["at", decoded(text)]];
  return Object.fromEntries(pairs.filter(([key, value]) => key && value !== null));
}

function pairOf(text) {
  const cut = Math.max(0, text.indexOf("="));
  return [text.slice(0, cut), decoded(text.slice(cut + 1))];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // not ours
  }
}

/** The fragment of *pairs*, without those that have no value. @param {Record<string, string>} pairs */
export function fragmentOf(pairs) {
  const kept = Object.entries(pairs).filter(([, value]) => value);
  return "#" + kept.map(([key, value]) => `${key}=${encodeURIComponent(value).replace(/%2C/g, ",")}`).join("&");
}
