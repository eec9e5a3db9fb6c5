/* One stop for the Tab key in each table and each row of buttons; the arrow keys go on inside.
   Links of a table stay links: a reader of the page by speech finds them as before. */
import { all, one } from "./dom.js";

const STOPS = "a[href], button, summary, pre[tabindex], [data-stop]";
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

const isSeen = (node) => node.checkVisibility();
const stopsIn = (place) => all(STOPS, place).filter(isSeen);

/** Leaves one stop in *box*. @param {any} box @param {any} kept */
function leaveOne(box, kept) {
  for (const stop of all(STOPS, box)) stop.setAttribute("tabindex", stop === kept ? "0" : "-1");
}

/** Makes the arrow keys work in every table and row of buttons. */
export function followArrows() {
  for (const table of all("main table")) {
    const first = one(STOPS, table.tBodies[0] ?? table) ?? one(STOPS, table);
    if (!first) continue;
    leaveOne(table, first);
    table.closest(".scroll")?.removeAttribute("tabindex"); // its links scroll it
    follow(table, (from, key) => inTable(table, from, key));
  }
  for (const bar of all("main .table-tools")) {
    leaveOne(bar, one(STOPS, bar));
    follow(bar, (from, key) => inLine(stopsIn(bar), from, key));
  }
  for (const link of all("main .permalink")) {
    if (one(`.contents a[href="#${CSS.escape(link.dataset.link)}"]`)) link.tabIndex = -1;
  }
}

function follow(box, next) {
  box.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !event.target.matches(STOPS)) return;
    const found = next(event.target, event.key);
    if (!found) return;
    event.preventDefault();
    found.focus();
  });
  box.addEventListener("focusin", (event) => {
    const stop = event.target.closest(STOPS);
    if (stop) leaveOne(box, stop);
  });
}

function inLine(stops, from, key) {
  const step = key === "Home" ? -stops.length : key === "End" ? stops.length : ARROWS[key] && sum(ARROWS[key]);
  if (!step) return null;
  return stops[Math.min(Math.max(0, stops.indexOf(from) + step), stops.length - 1)];
}

const sum = ([down, right]) => down + right;

/** Sideways to the next cell with a stop, up and down in the same column; several in one cell come one by one. */
function inTable(table, from, key) {
  const cell = from.closest("td, th");
  const own = stopsIn(cell);
  if (key === "Home" || key === "End") return inLine(stopsIn(cell.parentNode), from, key);
  if (!ARROWS[key]) return null;
  const [down, right] = ARROWS[key];
  const within = own[own.indexOf(from) + down + right];
  if (within) return within;
  if (right) return inLine(stopsIn(cell.parentNode), from, key);
  const rows = [...table.rows].filter(isSeen);
  for (let place = rows.indexOf(cell.parentNode) + down; rows[place]; place += down) {
    const found = rows[place].cells[cell.cellIndex] && stopsIn(rows[place].cells[cell.cellIndex]);
    if (found?.length) return down > 0 ? found[0] : found.at(-1);
  }
  return null;
}
