/* In a narrow window the two panels of a drawing stand one below the other, each in its width. */
import { all } from "./dom.js";

export function stackPanels() {
  if (!matchMedia("(max-width: 40rem)").matches) return;
  for (const second of all("svg[data-fold]")) {
    const { width, height } = second.viewBox.baseVal;
    const fold = Number(second.dataset.fold);
    second.dataset.whole = second.getAttribute("viewBox");
    const first = second.cloneNode(true);
    for (const named of [first, ...all("[id]", first)]) named.removeAttribute("id");
    crop(first, 0, fold, height);
    crop(second, fold, width - fold, height);
    second.before(first);
  }
}

function crop(svg, left, width, height) {
  svg.setAttribute("viewBox", `${left} 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.classList.remove("fig-wide", "fig-ends");
  svg.classList.add("fig-panel");
}
