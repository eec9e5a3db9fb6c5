/* Links to places, commands and the like, copied by a button. */
import { all, element, one, word } from "./dom.js";
import { root } from "./preferences.js";
import { addressWith, remember } from "./state.js";

const SAID_MS = 1500; // how long a button says that it has copied

function say(button) {
  const before = [...button.childNodes];
  button.replaceChildren(word("page.copied"));
  setTimeout(() => button.replaceChildren(...before), SAID_MS);
}

function copy(text, button) {
  if (!navigator.clipboard?.writeText) return copyOldWay(text, button);
  navigator.clipboard.writeText(text).then(
    () => say(button),
    () => copyOldWay(text, button),
  );
}

/* A page that was opened as a file, or by http, may have no clipboard. */
function copyOldWay(text, button) {
  const area = element("textarea", { "aria-hidden": "true", tabindex: "-1", class: "vh" });
  area.value = text;
  button.parentNode.append(area); // not the body: behind an open drawer nothing can be selected
  area.select();
  try {
    if (document.execCommand("copy")) say(button);
  } finally {
    area.remove();
    button.focus();
  }
}

export function followCopyButtons() {
  for (const button of all(".permalink")) {
    button.addEventListener("click", () => {
      remember({ at: button.dataset.link });
      copy(location.href.split("#")[0] + addressWith({ lang: root.dataset.lang }), button);
    });
  }
  for (const box of all(".code")) offerCopy(box);
}

/** Puts a button beside the code in *box* that copies it. @param {any} box */
export function offerCopy(box) {
  const button = element("button", { type: "button" }, [word("words.copy")]);
  button.addEventListener("click", () => copy(one("code", box).textContent, button));
  box.append(button);
}
