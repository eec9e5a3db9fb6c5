/* A number is also found without its separators: "12411.97" beside "12,411.97", unseen and not spoken. */
import { element, one } from "./dom.js";

const GROUPED = /\d{1,3}(?:,\d{3})+(?:\.\d+)?/g;
const ELSEWHERE = "svg, code, pre, .plain";
const AT_ONCE = 400; // texts in one go: the page stays quick

export function offerPlainNumbers() {
  const left = groupedTexts();
  const some = () => {
    for (const text of left.splice(0, AT_ONCE)) offerBeside(text);
    if (left.length) requestIdleCallback(some);
  };
  if (window.requestIdleCallback) requestIdleCallback(some);
}

/** @returns {Text[]} the texts of the page with such a number in them */
function groupedTexts() {
  const found = [];
  const texts = document.createTreeWalker(one("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode);
    if (text.data.search(GROUPED) >= 0 && !text.parentElement.closest(ELSEWHERE)) found.push(text);
  }
  return found;
}

/** @param {Text} text */
function offerBeside(text) {
  const plain = text.data.match(GROUPED).map((number) => number.replaceAll(",", ""));
  const place = text.parentElement.closest(".num, .interval") ?? text;
  place.after(element("span", { class: "vh plain", "aria-hidden": "true" }, [plain.join(" ")]));
}
