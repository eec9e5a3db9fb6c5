/* Tables as CSV and JSON, made from what is in the page. */
import { tables, unpackedColumns } from "./data.js";
import { all, byId, element, one, shownText, word } from "./dom.js";
import { csv, fileName, save } from "./save.js";

const CSV = "text/csv;charset=utf-8";
// columns of the receipts that the table of runs takes from there
const RECEIPT_COLUMNS = { log: 4, started_at: 7, log_sha256: 9 };
const FEWEST_CELLS_OF_A_RUN = 10; // other rows of a receipt are heads and commands

/** Every table of the page gets a button below it that saves what a reader sees in it. */
export function offerTables() {
  for (const table of all("main table")) {
    const scroll = table.closest(".scroll");
    if (!table.caption || !scroll || table.closest(".card")) continue;
    const button = element("button", { type: "button", "data-csv": "" }, [word("csv")]);
    button.addEventListener("click", () => save(nameOf(table), CSV, csv(rowsOfTable(table))));
    scroll.after(element("p", { class: "table-tools" }, [button]));
  }
}

/** A table that is wider than its place is first seen at its largest scale. */
export function beginAtTheLargest() {
  if (!("IntersectionObserver" in window)) return;
  const observer = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      if (!one(".is-target", target)) target.scrollLeft = target.scrollWidth;
      observer.unobserve(target);
    }
  });
  for (const table of all(".results")) observer.observe(table.closest(".scroll"));
}

/** A short name of a table's file: table-3-2.csv. */
function nameOf(table) {
  const number = /[A-Z]?\d[\d.]*-\d+/.exec(table.caption.textContent);
  return number ? `table-${number[0]}.csv` : fileName(table.caption, ".csv");
}

/* What stands below a value, and what holds for its row or for the whole table, gets columns of its own. */
const BESIDE = ["low", "high", "n", "mark"];

function rowsOfTable(table) {
  const rows = all("tr:not(.group)", table);
  const [head, ...body] = rows;
  const measured = [...head.cells].map((_, place) => body.some(({ cells }) => hasSpread(cells[place], table)));
  const grouped = one(".group", table);
  const { unit, marks } = table.dataset;
  const cited = byId("figure-source").dataset.cited;
  const source = cited && marks?.split(" ").includes("cited") ? [cited] : []; // and its licence
  const heads = [...head.cells].flatMap((cell, place) => {
    const name = shownText(cell);
    return measured[place] ? [name, ...BESIDE.map((what) => `${name} ${what}`)] : [name];
  });
  const lines = body.map((row) => [
    ...(grouped ? [shownText(one(".group", row.parentNode))] : []),
    ...[...row.cells].flatMap((cell, place) => {
      return [shownValue(cell), ...(measured[place] ? beside(cell, row, table) : [])];
    }),
    ...(unit ? [unit] : []),
    ...source,
  ]);
  const ends = [...(unit ? ["unit"] : []), ...source.map(() => "source")];
  return [[...(grouped ? ["group"] : []), ...heads, ...ends], ...lines];
}

const hasSpread = (cell, table) =>
  cell?.dataset.v !== undefined && (one(".spread, .sign", cell) || (table.matches(".results") && one(".num", cell)));

const ungrouped = (number) => number.replaceAll(",", "");

const SIGNIFICANT = 9; // digits: more are traces of binary arithmetic

function shownValue(cell) {
  if (cell.dataset.v === undefined) return shownText(cell).replace(/^\d{1,3}(,\d{3})+(?=\.\d+$|$)/, ungrouped);
  return Number(Number(cell.dataset.v).toPrecision(SIGNIFICANT));
}

function beside(cell, row, table) {
  if (cell.dataset.v === undefined) return BESIDE.map(() => "");
  const text = (name) => one(name, cell)?.textContent ?? "";
  const signs = [...all(".sign", cell), ...all("th .sign", row)];
  const marks = [...(table.dataset.marks ?? "").split(" "), ...signs.map(markOf)];
  const n = text(".runs-n") || row.dataset.n || table.dataset.n || "";
  return [...endsOf(text(".interval")), n && Number(n), marks.filter(Boolean).join(" ")];
}

/** The two ends of an interval as it is printed, in the unit of the raw value: "96.1–98.4%" is 0.961 and 0.984. */
function endsOf(text) {
  if (!text) return ["", ""];
  const of = text.endsWith("%") ? 100 : 1;
  const ends = text.split("–").map((end) => Number(end.replace("−", "-").replace(/[^\d.e-]/g, "")) / of);
  return ends.map((end) => Number(end.toPrecision(SIGNIFICANT)));
}

const markOf = (sign) => sign.getAttribute("aria-labelledby").replace(/^st-/, "");

/** The buttons that save the tidy tables whole. */
export function offerData() {
  for (const button of all("[data-data]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.data;
      if (name === "json") saveAll();
      else save(`${name}.csv`, CSV, csv([tables[name].columns, ...rowsOf(tables[name])]));
    });
  }
}

function saveAll() {
  const records = (table) =>
    rowsOf(table).map((row) => Object.fromEntries(table.columns.map((name, place) => [name, row[place]])));
  const found = Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, records(table)]));
  save("evalsuite-data.json", "application/json", JSON.stringify(found, null, 1));
}

/** The rows of a packed table. */
function rowsOf(table) {
  const columns = complete(unpackedColumns(table.values));
  return Array.from({ length: table.rows }, (_, row) => table.columns.map((name) => columns[name][row]));
}

/* The runs' table leaves out what stands elsewhere in the page: the fields of the case, and the receipts. */
function complete(columns) {
  if (!columns.case_id || !columns.repeat) return columns;
  const caseIds = columns.case_id;
  const runIds = caseIds.map((id, row) => `${id}/r${columns.repeat[row]}`);
  return { ...columnsOfCases(caseIds), ...columns, run_id: runIds, ...columnsOfReceipts(caseIds, runIds) };
}

function columnsOfCases(ids) {
  const about = unpackedColumns(tables.summaries.values);
  const rowOf = new Map(about.case_id.map((id, row) => [id, row]));
  const spread = (column) => ids.map((id) => column[rowOf.get(id)]);
  return Object.fromEntries(Object.entries(about).map(([name, column]) => [name, spread(column)]));
}

function columnsOfReceipts(caseIds, runIds) {
  const receipts = receiptsByRun();
  const text = (name, row) => {
    const cell = receipts.get(runIds[row])?.[RECEIPT_COLUMNS[name]];
    if (!cell || one(".glyph", cell)) return null; // nothing was recorded
    return name === "log" ? (cell.dataset.log ?? `${caseIds[row]}/${cell.textContent}`) : cell.textContent;
  };
  const names = Object.keys(RECEIPT_COLUMNS);
  return Object.fromEntries(names.map((name) => [name, runIds.map((_, row) => text(name, row))]));
}

/** The cells of each run in the receipts. @returns {Map<string, HTMLCollection>} */
function receiptsByRun() {
  const found = new Map();
  for (const body of all(".runs tbody")) {
    const id = one(".case-head code", body).textContent.replace(/\/$/, "");
    for (const { cells } of body.rows) {
      if (cells.length >= FEWEST_CELLS_OF_A_RUN) found.set(`${id}/${cells[0].textContent}`, cells);
    }
  }
  return found;
}
