/* Printing: only what is long stays folded, and its line says what there is. */
import { all } from "./dom.js";

export function followPrinting() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open], .long, .long *)");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
  for (const button of all('[data-do="print"]')) button.addEventListener("click", () => print());
}
