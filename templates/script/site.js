/* The switches of language and theme on the published site. */
import { keep, showLanguage, showTheme } from "./preferences.js";

document.addEventListener("change", ({ target }) => {
  const { name, value } = /** @type {HTMLInputElement} */ (target);
  if (name === "lang") showLanguage(value);
  else if (name === "theme") showTheme(value);
  else return;
  keep(name, value);
});
