/* Two views of a figure: the first stands in the page, a button or an address turns to the other. */
import { all, byId, one } from "./dom.js";
import { remember } from "./state.js";

function turn(box, on) {
  box.classList.toggle("turned", on);
  all(".views button", box).forEach((button, place) => {
    button.setAttribute("aria-pressed", String(Boolean(place) === on));
  });
}

/** The figures that show their second view, as the address names them. */
export const turnedViews = () =>
  all(".fig-views.turned > .other")
    .map((figure) => figure.id)
    .join(",");

/** @param {string} [named] as `turnedViews` gives it */
export function setViews(named = "") {
  const wanted = named.split(",");
  for (const box of all(".fig-views")) turn(box, wanted.includes(one(".other", box).id));
}

/** Turns the figure of *node* to the view that *node* is in; whether it is in one. @param {Element} node */
export function reveal(node) {
  const box = node.closest(".fig-views");
  if (box) turn(box, Boolean(node.closest(".other")));
  return Boolean(box);
}

export function followViewButtons() {
  for (const button of all("[data-view]")) {
    button.addEventListener("click", () => {
      reveal(byId(button.dataset.view));
      remember({ view: turnedViews() });
    });
  }
}
