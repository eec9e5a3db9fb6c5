/* The answer bar: a model, a setting and a scale lead to one of the answers that the page holds anyway. */
import { all, byId, one } from "./dom.js";
import { root } from "./preferences.js";
import { remember } from "./state.js";

const AXES = ["model", "setting", "scale"];

/** @type {any} null where the answers stand open */
const bar = byId("ask");
const offered = all("#answers > .answer");
let shown = byId("answer")?.dataset.shown;

const fits = (answer, wanted) => Object.entries(wanted).every(([axis, value]) => answer.dataset[axis] === value);

/** What an axis of an answer is called in the reader's language. @param {any} answer @param {string} axis */
function called(answer, axis) {
  const language = root.dataset.lang ?? "";
  return answer.dataset[`${axis}In${language.charAt(0).toUpperCase()}${language.slice(1)}`] ?? answer.dataset[axis];
}

/** The answer to what the selects say; to the nearest question where that one was not asked. */
function asked(changed) {
  const wanted = {};
  for (const axis of [changed, ...AXES.filter((axis) => axis !== changed)]) {
    const more = { ...wanted, [axis]: bar.elements[axis].value };
    if (offered.some((answer) => fits(answer, more))) Object.assign(wanted, more);
  }
  const fitting = offered.filter((answer) => fits(answer, wanted));
  return fitting.find((answer) => "chosen" in answer.dataset) ?? fitting[fitting.length - 1];
}

/** Offers what there is beside *answer*: settings of its model, scales of its setting. */
function offer(answer) {
  const above = {};
  for (const axis of AXES) {
    const fitting = offered.filter((other) => fits(other, above));
    const labels = new Map(fitting.map((other) => [other.dataset[axis], called(other, axis)]));
    bar.elements[axis].replaceChildren(...[...labels].map(([value, label]) => new Option(label, value)));
    bar.elements[axis].value = above[axis] = answer.dataset[axis];
  }
}

/** Shows the answer *id*, if there is such a one. @param {string | undefined} id */
function showAnswer(id) {
  const answer = offered.find((other) => other.id === id);
  if (!answer) return false;
  offer(answer);
  if (id !== shown) {
    const children = [...answer.childNodes].map((node) => node.cloneNode(true));
    byId("answer").replaceChildren(...children);
  }
  for (const figure of all(".curve")) figure.classList.toggle("shown", figure.id === answer.dataset.curve);
  shown = id;
  return true;
}

/** Sets the bar as an address says. @param {string | undefined} id */
export function setQuestion(id) {
  if (bar && !showAnswer(id)) showAnswer(shown);
}

export function followQuestions() {
  if (!bar) return;
  bar.addEventListener("change", (event) => {
    showAnswer(asked(event.target.name).id);
    remember({ ask: shown });
  });
  for (const input of all('input[name="lang"]')) input.addEventListener("change", () => showAnswer(shown));
  bar.addEventListener("submit", (event) => event.preventDefault());
  for (const link of all('.standings a[href^="#a-"]')) {
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || !showAnswer(link.getAttribute("href").slice(1))) return;
      event.preventDefault();
      event.stopPropagation();
      remember({ ask: shown });
      const { top } = bar.getBoundingClientRect();
      if (top < 0 || top > innerHeight / 3) bar.scrollIntoView();
    });
  }
}
