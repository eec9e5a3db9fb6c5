/* One framework's page: where the filter has it alone, its cards of every model stand first. */
import { offerCopy } from "./copy.js";
import { all, byId, element, one } from "./dom.js";
import { addressWith } from "./state.js";

/** @param {string} [name] of the framework; none: no page */
export function showSheet(name) {
  const sheet = byId("sheet");
  if (!sheet) return;
  const cards = name ? all(".why .why-card").filter((card) => card.dataset.framework === name) : [];
  sheet.hidden = !cards.length;
  one(".sheet-name", sheet).textContent = name ?? "";
  if (cards.length) one(".note", sheet).replaceWith(one(".why > .note").cloneNode(true));
  one(".why-cards", sheet).replaceChildren(...cards.map(copyOf));
}

function copyOf(card) {
  const copy = card.cloneNode(true);
  copy.hidden = false;
  copy.removeAttribute("aria-labelledby");
  for (const node of [copy, ...all("[id]", copy)]) node.removeAttribute("id");
  one("h4", copy).replaceWith(element("h3", {}, [element("a", { href: `#${card.id}` }, [card.dataset.model])]));
  for (const button of all("button", copy)) button.remove();
  for (const box of all(".code", copy)) offerCopy(box);
  return copy;
}

/** A button of each card leads to the page of its framework. */
export function followSheetButtons() {
  for (const button of all("[data-sheet]")) {
    button.addEventListener("click", () => {
      location.hash = addressWith({ framework: button.dataset.sheet, at: "" });
    });
  }
}
