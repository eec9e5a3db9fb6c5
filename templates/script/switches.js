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

function firstInView() {
  for (const node of all("main h2, main h3, main table, main figure")) {
    const { top } = node.getBoundingClientRect();
    if (top > 0) return { node, top };
  }
  return null;
}

export function followSwitches() {
  for (const input of all('input[name="lang"]')) {
    input.addEventListener("change", () => {
      changeLanguage(input.value);
      keep("lang", input.value);
      remember({ lang: input.value });
    });
  }
  for (const input of all('input[name="theme"]')) {
    input.addEventListener("change", () => {
      showTheme(input.value);
      keep("theme", input.value);
      remember({ theme: input.value === "auto" ? "" : input.value });
    });
  }
}
