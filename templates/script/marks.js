/* The marks of a figure, by pointer and by keyboard: their cards. */
import { hideCard, showCard } from "./card.js";
import { cases, caseTitle } from "./data.js";
import { all } from "./dom.js";
import { openReceipt } from "./drawer.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function followMarks() {
  for (const svg of all(".fig-svg")) {
    const marks = all(".mark[data-ref]", svg).filter((mark) => mark.dataset.ref in cases);
    if (!marks.length) continue;
    svg.setAttribute("role", "group");
    marks.forEach((mark, place) => followMark(mark, place, marks));
  }
  addEventListener("scroll", keepCardAtMark, { passive: true });
}

/* One mark of a figure is a stop of the Tab key, the arrows go on from there. */
function followMark(mark, place, marks) {
  const id = mark.dataset.ref;
  const { text, unit } = cases[id];
  mark.setAttribute("tabindex", place ? "-1" : "0");
  mark.setAttribute("role", "button");
  mark.setAttribute("aria-label", `${caseTitle(cases[id])} ${text || ""} ${unit || ""}`);
  for (const event of ["pointerenter", "focus"]) mark.addEventListener(event, () => showCard(mark));
  for (const event of ["pointerleave", "blur"]) mark.addEventListener(event, hideCard);
  mark.addEventListener("click", () => openReceipt(id, mark));
  mark.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hideCard();
    if (event.key in STEPS) focus(marks, place, STEPS[event.key]);
    else if (event.key === "Enter" || event.key === " ") openReceipt(id, mark);
    else return;
    event.preventDefault();
  });
}

function focus(marks, place, step) {
  const next = marks.at((place + step) % marks.length);
  marks[place].setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function keepCardAtMark() {
  const focused = document.activeElement;
  if (focused?.matches(".mark")) showCard(focused);
  else hideCard();
}
