/* The card of a case beside a mark of a figure. */
import { cases, caseTitle } from "./data.js";
import { byId, element, word } from "./dom.js";

const EDGE = 8; // pixels between the card and the window's edge
const GAP = 12; // between the card and its mark

const card = byId("card");

/** @param {any} mark */
export function showCard(mark) {
  const found = cases[mark.dataset.ref];
  if (!found) return;
  card.replaceChildren(contentOf(found));
  card.hidden = false;
  const box = mark.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  let left = within(box.right + GAP, innerWidth - width);
  if (left < box.right && box.left - width - GAP > EDGE) left = box.left - width - GAP;
  card.style.left = `${left}px`;
  card.style.top = `${within(box.top - height / 2, innerHeight - height)}px`;
}

export function hideCard() {
  card.hidden = true;
}

const within = (wished, room) => Math.min(Math.max(EDGE, wished), room - EDGE);

/** @param {import("./data.js").Case} found */
function contentOf(found) {
  const based = found.efficiency && found.base > 1;
  const lines = [
    [word("interval"), found.interval],
    ["n", found.n],
    [word("speedup"), found.speedup],
    [word("efficiency"), based ? `${found.efficiency} (÷ ${found.base})` : found.efficiency],
    [word("batch"), found.batch],
    [word("origin"), word(`origin.${found.origin}`)],
  ];
  const value = element("strong", {}, [`${found.text || "–"} ${found.unit || ""}`]);
  const made = element("div", {}, [
    element("p", {}, [caseTitle(found)]),
    element("p", {}, [value]),
    element("dl", {}, lines.filter(([, shown]) => isThere(shown)).flatMap(line)),
  ]);
  if (found.partial) made.append(element("p", { class: "hint" }, ["◐ ", word("partial")]));
  made.append(element("p", { class: "hint" }, [word("hint")]));
  return made;
}

const isThere = (shown) => shown !== null && shown !== undefined && shown !== "";

const line = ([name, shown]) => [element("dt", {}, [name]), element("dd", {}, [shown])];
