/* Tables as CSV, made from what is in the page. */
import { all, element, one, shownText, word } from "./dom.js";
import { csv, fileName, save } from "./save.js";

const CSV = "text/csv;charset=utf-8";

/** Every table of the page gets a button below it that saves what a reader sees in it. */
export function offerTables() {
  for (const table of all("main table")) {
    const scroll = table.closest(".scroll");
    if (!table.caption || !scroll) continue;
    const button = element("button", { type: "button", "data-csv": "" }, [word("words.csv")]);
    button.addEventListener("click", () => save(nameOf(table), CSV, csv(rowsOfTable(table))));
    scroll.after(element("p", { class: "table-tools" }, [button]));
  }
}

/** A short name of a table's file: table-3-2.csv. */
function nameOf(table) {
  const number = /[A-Z]?\d[\d.]*-\d+/.exec(table.caption.textContent);
  return number ? `table-${number[0]}.csv` : fileName(table.caption, ".csv");
}

/* Raw values where the page has them; tables/*.csv of the report has the intervals, marks and all else. */
function rowsOfTable(table) {
  const grouped = one(".group", table);
  const group = (row) => (grouped ? [shownText(one(".group", row.parentNode) ?? element("p"))] : []);
  return all("tr:not(.group)", table).map((row) => [...group(row), ...[...row.cells].map(shownValue)]);
}

const SIGNIFICANT = 9; // digits: more are traces of binary arithmetic

function shownValue(cell) {
  if (cell.dataset.v !== undefined) return Number(Number(cell.dataset.v).toPrecision(SIGNIFICANT));
  return shownText(cell).replace(/^\d{1,3}(,\d{3})+(?=\.\d+$|$)/, (number) => number.replaceAll(",", ""));
}
