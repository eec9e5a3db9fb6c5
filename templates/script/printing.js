/* Printing: nothing stays folded. */
import { all } from "./dom.js";

export function followPrinting() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
  for (const button of all('[data-do="print"]')) button.addEventListener("click", () => print());
}
