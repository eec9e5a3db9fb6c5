/* Short words for the document. All words shown come from the page's own <template>. */
import { root } from "./preferences.js";

/** @param {string} selector @param {ParentNode} [inside] @returns {any[]} */
export const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

/** @param {string} selector @param {ParentNode} [inside] @returns {any} */
export const one = (selector, inside = document) => inside.querySelector(selector);

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * A new element. Text among *children* is put in as text, never as markup.
 * @param {string} tag @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} [children]
 * @returns {any}
 */
export function element(tag, attributes = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** The words of *key* in every language of the page. @param {string} key */
export function word(key) {
  const made = document.createDocumentFragment();
  const found = one(`[data-word="${key}"]`, byId("words").content);
  if (found) made.append(...[...found.childNodes].map((node) => node.cloneNode(true)));
  return made;
}

/** Selects what is written in the language that is not shown. */
export const otherLanguage = () => `[lang="${root.dataset.lang === "zh" ? "en" : "zh-CN"}"]`;

/** The text that a reader sees in *node*, without drawings, small print and signs. @param {Node} node */
export function shownText(node) {
  const copy = /** @type {Element} */ (node.cloneNode(true));
  const unseen = `${otherLanguage()}:not(.both), small, svg, .sign, .permalink, button[data-csv]`;
  for (const one of all(unseen, copy)) one.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}
