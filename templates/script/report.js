/* Adds to a page that is complete without it: a baseline of choice, receipts beside numbers, links, tables as CSV.
   All words come from the page's own <template>; all data is put in as text, never as markup.
   Its modules are joined into one script when a page is built (evalsuite/report/page/assets.py). */
import { pairsOf } from "./address.js";
import { followBoard } from "./board.js";
import { followReading } from "./contents.js";
import { followCopyButtons } from "./copy.js";
import { byId } from "./dom.js";
import { addressRuns, followNumbers } from "./drawer.js";
import { followLinks, goTo } from "./places.js";
import { root } from "./preferences.js";
import { followArrows } from "./roving.js";
import { current, setState } from "./state.js";
import { changeLanguage, followSwitches } from "./switches.js";
import { offerTables } from "./tables.js";

/** Shows what the address says. @param {boolean} first whether the page has just come up */
function load(first) {
  const pairs = pairsOf(location.hash);
  const { lang, theme } = current();
  setState(first ? pairs : { lang, theme, ...pairs });
  const choice = pairs.lang && byId(`lang-${pairs.lang}`);
  if (choice && pairs.lang !== root.dataset.lang) {
    choice.checked = true;
    changeLanguage(pairs.lang);
  }
  if (pairs.at) goTo(pairs.at, first);
}

followSwitches();
addressRuns();
followNumbers(); // before the links, which it takes some from
followLinks();
followReading();
followBoard();
followCopyButtons();
offerTables();
followArrows(); // when all buttons are there
for (const event of ["popstate", "hashchange"]) addEventListener(event, () => load(false));
load(true);
root.classList.add("ready");
