/* Runs before the page is painted, so that it comes up in the reader's language and theme. */
import { pairsOf } from "./address.js";
import { root, showLanguage, showTheme, stored } from "./preferences.js";

const THEMES = ["auto", "light", "dark"];

const asked = pairsOf(location.hash);
const languages = root.dataset.languages.split(" ");
const browser = navigator.language?.toLowerCase().startsWith("zh") ? "zh" : "en";

/** What the address asks for, else what the reader chose before, else *usual*; the first one there is. */
function chosen(key, allowed, usual) {
  return [asked[key], stored(key), usual].find((value) => allowed.includes(value)) ?? allowed[0];
}

const language = chosen("lang", languages, browser);
const theme = chosen("theme", THEMES, "auto");

root.classList.add("scripted");
showLanguage(language);
showTheme(theme);
for (const id of [`lang-${language}`, `theme-${theme}`]) {
  const choice = /** @type {HTMLInputElement | null} */ (document.getElementById(id));
  if (choice) choice.checked = true; // a page of one language has no such switch
}
