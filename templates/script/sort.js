/* Sorting a table by a column: numbers by their raw value, states last.
   What may not be ranked with each other stands in groups of its own, and each group is sorted by itself. */
import { all, element, one, shownText } from "./dom.js";

const FEWEST_ROWS = 2;

export function makeTablesSortable() {
  for (const table of all("main table:not(.runs, .why-bars, .board-table)")) {
    if (!table.tHead || !rowsOfBodies(table).some((rows) => rows.length >= FEWEST_ROWS)) continue;
    if (one("tr:not(.group) > [colspan]", table)) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = element("button", { type: "button" }, [...head.childNodes]);
      head.append(button);
      button.addEventListener("click", () => sort(table, column, nextOrder(table, head)));
    });
  }
}

/** The rows of each group of a table, without the group's own head. */
const rowsOfBodies = (table) => [...table.tBodies].map((body) => all("tr:not(.group)", body));

const isDown = (head) => head.getAttribute("aria-sort") === "descending";

/** Whether a click on *head* lets the column fall: of values the highest is asked for first, the ranking there. */
const nextOrder = (table, head) =>
  head.hasAttribute("aria-sort") ? !isDown(head) : table.matches(".results") && head.matches(".n");

function sort(table, column, down) {
  const head = table.tHead.rows[0].cells[column];
  for (const other of all("th[aria-sort]", table.tHead)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  for (const rows of rowsOfBodies(table)) {
    if (rows.length) rows[0].parentNode.append(...inNewOrder(rows, column, down));
  }
}

function inNewOrder(given, column, down) {
  const rows = given.map((row) => ({ row, ...sortKey(row.cells[column]) }));
  rows.sort((a, b) => {
    if (a.last !== b.last) return Number(a.last) - Number(b.last);
    return down ? -inOrder(a.key, b.key) : inOrder(a.key, b.key);
  });
  return rows.map(({ row }) => row);
}

function inOrder(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function sortKey(cell) {
  if (!cell || cell.classList.contains("state")) return { last: true, key: "" };
  if (cell.dataset.v !== undefined) return { last: false, key: Number(cell.dataset.v) };
  const text = shownText(cell);
  const number = Number(text.replace(/,/g, ""));
  return { last: false, key: text !== "" && !isNaN(number) ? number : text };
}
