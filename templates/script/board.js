/* The board: a framework that the reader chooses is 100 %. */
import { all, element, one, shownText, word } from "./dom.js";

/** Writes the ratios of *sheet* to the row called *name*; where it is "" or not in a table, what was printed. */
function compare(sheet, name) {
  for (const table of all(".board-table", sheet)) {
    const rows = all("tr[data-raw]", table);
    const base = rows.find((row) => shownText(row.cells[0]) === name);
    for (const row of rows) {
      const cell = one(".ratio", row);
      const printed = (cell.dataset.printed ??= cell.textContent);
      const share = base && (100 * Number(row.dataset.raw)) / Number(base.dataset.raw);
      cell.textContent = share ? `${share.toFixed(1)}%` : printed;
      cell.classList.toggle("nil", cell.textContent === "—");
    }
  }
}

/* An option has one language: that of the page. */
function nameOptions() {
  const fastest = shownText(element("b", {}, [word("board.fastest")]));
  for (const option of all(".baseline option"))
    option.textContent = option.row ? shownText(option.row.cells[0]) : fastest;
}

export function followBoard() {
  nameOptions();
  for (const input of all('input[name="lang"]')) input.addEventListener("change", nameOptions);
  for (const sheet of all(".sheet")) {
    const select = one(".baseline select", sheet);
    const rows = new Map(all("tr[data-raw]", sheet).map((row) => [shownText(row.cells[0]), row]));
    if (rows.size < 2) one(".baseline", sheet).hidden = true;
    select.append(...[...rows].map(([name, row]) => Object.assign(new Option(name), { row })));
    select.addEventListener("change", () => compare(sheet, select.value));
  }
}

/** Brings the table or sheet that holds *node* into sight. @param {any} node */
export function showOnBoard(node) {
  for (let up = node; up; up = up.parentElement) {
    const input = up.matches?.(".at-scale, .sheet") && up.previousElementSibling?.previousElementSibling;
    if (input?.type === "radio") input.checked = true;
  }
}
