/* Two pinned marks: their ratio, and whether it is more than noise. */
import { cases, caseTitle } from "./data.js";
import { comparison } from "./difference.js";
import { all, element, word } from "./dom.js";
import { remember } from "./state.js";

const MOST = 2;

/** @type {string[]} ids of cases, the one pinned last at the end */
let pins = [];
let panel = null;

/** Pins the case *id*, or takes its pin off; a third takes the place of the first. @param {string} id */
export function pin(id) {
  if (!(id in cases)) return;
  pins = pins.includes(id) ? pins.filter((other) => other !== id) : [...pins, id].slice(-MOST);
  for (const mark of all(".mark.is-pinned")) mark.classList.remove("is-pinned");
  for (const pinned of pins) {
    for (const mark of all(`.mark[data-ref="${pinned}"]`)) mark.classList.add("is-pinned");
  }
  showPanel();
  remember({ pins: pins.join(",") });
}

/** Pins what an address names. @param {string} [named] ids of cases */
export function setPins(named = "") {
  pins = [];
  for (const id of named.split(",")) if (!pins.includes(id)) pin(id);
}

function showPanel() {
  panel?.remove();
  panel = null;
  if (!pins.length) return;
  const clear = element("button", { type: "button" }, [word("unpin")]);
  clear.addEventListener("click", () => pins.slice().forEach(pin));
  panel = element("aside", { class: "pins", role: "status" }, [
    element("p", {}, [element("strong", {}, [word("pins")])]),
    element("ol", {}, pins.map(entry)),
    ...(pins.length === MOST ? compared(cases[pins[0]], cases[pins[1]]) : [hint()]),
    clear,
  ]);
  document.body.append(panel);
}

function entry(id) {
  const { text, unit } = cases[id];
  const receipt = element("a", { href: `#${id}` }, [word("receipt")]);
  return element("li", {}, [`${caseTitle(cases[id])}: ${text} ${unit} `, receipt]);
}

const hint = () => element("p", { class: "soft" }, [word("hint")]);

function compared(a, b) {
  const { ratio, outcome } = comparison(a, b);
  const said = element("p", {}, [word(outcome)]);
  if (ratio === null) return [said];
  return [element("p", { class: "ratio" }, [word("ratio"), ` ${ratio.toFixed(2)}x`]), said];
}
