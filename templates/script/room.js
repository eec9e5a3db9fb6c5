/* In a large page a part that is not laid out yet takes the room that it will need: the scroll bar stays true. */
import { all } from "./dom.js";
import { root } from "./preferences.js";

const AT_MOST_MS = 30; // in one go: the page stays quick

export function keepRoom() {
  if (!root.classList.contains("large") || !window.requestIdleCallback) return;
  const left = all(".chapter, .block"); // the last first: a block before its chapter
  const some = () => {
    const until = performance.now() + AT_MOST_MS;
    while (left.length && performance.now() < until) measure(left.pop());
    if (left.length) requestIdleCallback(some);
  };
  requestIdleCallback(some);
}

/** @param {HTMLElement} part */
function measure(part) {
  if (getComputedStyle(part).contentVisibility !== "auto") return;
  part.style.contentVisibility = "visible";
  const height = Math.round(part.getBoundingClientRect().height);
  part.style.contentVisibility = "";
  part.style.containIntrinsicSize = `auto ${height}px`;
}
