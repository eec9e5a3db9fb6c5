/* Sorting a table by a column: numbers by their raw value, states last. */
import { all, element, one, shownText } from "./dom.js";

const FEWEST_ROWS = 3; // fewer need no sorting

export function makeTablesSortable() {
  for (const table of all("main table:not(.runs):not(.topology)")) {
    const body = table.tBodies[0];
    if (!body || table.tBodies.length > 1 || body.rows.length < FEWEST_ROWS) continue;
    if (!table.tHead || one("[colspan]", body)) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = element("button", { type: "button" }, [...head.childNodes]);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, column));
    });
  }
}

function sort(table, head, column) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of all("th[aria-sort]", table.tHead)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, ...sortKey(row.cells[column]) }));
  rows.sort((a, b) => {
    if (a.last !== b.last) return Number(a.last) - Number(b.last);
    return down ? -inOrder(a.key, b.key) : inOrder(a.key, b.key);
  });
  table.tBodies[0].append(...rows.map(({ row }) => row));
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
