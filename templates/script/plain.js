/* A number is also found without its separators: "12411.97" beside "12,411.97", unseen and not spoken. */
import { all, element } from "./dom.js";

const GROUPED = /^\d{1,3}(,\d{3})+(\.\d+)?/;
const AT_ONCE = 400; // numbers in one go: the page stays quick

export function offerPlainNumbers() {
  const left = all("main .num").filter((link) => GROUPED.test(link.textContent));
  const some = () => {
    for (const link of left.splice(0, AT_ONCE)) {
      const [found] = GROUPED.exec(link.textContent);
      link.after(element("span", { class: "vh plain", "aria-hidden": "true" }, [found.replace(/,/g, "")]));
    }
    if (left.length) requestIdleCallback(some);
  };
  if (window.requestIdleCallback) requestIdleCallback(some);
}
