/* The switches of language and theme. */
import { all } from "./dom.js";
import { keep, showLanguage, showTheme } from "./preferences.js";
import { remember } from "./state.js";

/** Shows *language* and keeps what is being read where it is on the screen. @param {string} language */
export function changeLanguage(language) {
  const place = firstInView();
  showLanguage(language);
  if (place) scrollBy(0, place.node.getBoundingClientRect().top - place.top);
}

const STEP = 40; // pixels

/* Asked of points: the height of what stands above would have a large page laid out whole. */
function firstInView() {
  for (let y = STEP; y < innerHeight; y += STEP) {
    const node = document.elementFromPoint(innerWidth / 2, y)?.closest("main :is(h2, h3, p, tr, figure, li)");
    if (node && !node.closest("form")) return { node, top: node.getBoundingClientRect().top };
  }
  return null;
}

export function followSwitches() {
  for (const input of all(".switch input")) {
    input.addEventListener("change", () => {
      const { name, value } = input;
      (name === "lang" ? changeLanguage : showTheme)(value);
      keep(name, value);
      remember({ [name]: value === "auto" ? "" : value });
    });
  }
}
