/* Going to a place of the page: what hides it is opened, and the state stays in the address. */
import { showOnBoard } from "./board.js";
import { all, byId, one } from "./dom.js";
import { root } from "./preferences.js";
import { goneTo } from "./state.js";

const FRAMES_TO_HOLD = 5;

/** Whether there is such a place. @param {string} id @param {boolean} [atOnce] without scrolling smoothly */
export function goTo(id, atOnce = false) {
  const node = byId(id);
  if (!node) return false;
  for (let up = node; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  showOnBoard(node);
  const own = node.tagName === "TBODY" ? one("details", node) : one(":scope > .annex", node);
  if (own) own.open = true;
  node.scrollIntoView({ behavior: atOnce ? "instant" : "auto" });
  if (root.classList.contains("large")) hold(node, FRAMES_TO_HOLD);
  for (const old of all(".is-target")) old.classList.remove("is-target");
  node.classList.add("is-target");
  if (!node.hasAttribute("tabindex")) node.setAttribute("tabindex", "-1");
  node.focus({ preventScroll: true });
  return true;
}

/* A large page lays a section out when it comes into view: what stands above the place then takes its true height. */
function hold(node, frames) {
  if (!frames) return;
  requestAnimationFrame(() => {
    node.scrollIntoView({ behavior: "instant" });
    hold(node, frames - 1);
  });
}

export function followLinks() {
  document.addEventListener("click", (event) => {
    const link = /** @type {any} */ (event.target).closest?.('a[href^="#"]');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const id = decodeURIComponent(link.getAttribute("href").slice(1));
    if (!goTo(id)) return;
    event.preventDefault();
    goneTo(id);
  });
}
