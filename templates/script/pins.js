/* Two pinned marks, and what is known of the two: the decision in the data is printed, none is made here. */
import { cases, caseTitle, decisionOf } from "./data.js";
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
  const found = decisionOf(a, b);
  if (!found) return unasked(a, b);
  const first = a.row === found.first ? a : b;
  const lines = [
    [element("strong", {}, [word(`evidence.${found.evidence}`)])],
    [`${caseTitle(first)}: ${found.lead} (n = ${a.n} / ${b.n})`],
    ...(found.why.length ? [found.why.flatMap((key, at) => [at ? ", " : "", word(`why.${key}`)])] : []),
    ...(found.needed ? [[word(`needs.${found.needed}`), ...price(found)]] : []),
  ];
  return lines.map((line) => element("p", { "data-evidence": found.evidence }, line));
}

const unasked = (a, b) => [
  ...(a.unit && a.unit === b.unit ? [element("p", {}, [word("ratio"), ` ${(a.value / b.value).toFixed(2)}x`])] : []),
  element("p", {}, [word("unasked")]),
];

const price = ({ runs, chance }) => [
  ...(runs ? [`: ${runs}`] : []),
  ...(chance ? [" (", word("chance"), ` ${chance})`] : []),
];
