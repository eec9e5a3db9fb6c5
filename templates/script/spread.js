/* The second line of a table's cells, interval and number of runs: a button hides it, and the address keeps that. */
import { all, element, word } from "./dom.js";
import { root } from "./preferences.js";
import { remember } from "./state.js";

const HIDDEN = "off";

/** Shows the second lines, or hides them. @param {string} [asked] as the address has it */
export function setSpread(asked = "") {
  const hidden = asked === HIDDEN;
  root.classList.toggle("no-spread", hidden);
  for (const button of all("[data-spread]")) button.setAttribute("aria-pressed", String(hidden));
}

/** The button for the tools of one table. */
export function spreadButton() {
  const button = element("button", { type: "button", "data-spread": "", "aria-pressed": "false" }, [word("spread")]);
  button.addEventListener("click", () => {
    const asked = root.classList.contains("no-spread") ? "" : HIDDEN;
    setSpread(asked);
    remember({ spread: asked });
  });
  return button;
}
