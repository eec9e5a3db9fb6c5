/* Tables as CSV, made from what is in the page. */
import { all, byId, element, one, shownText, word } from "./dom.js";
import { csv, fileName, save } from "./save.js";

const CSV = "text/csv;charset=utf-8";

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
    ...[...row.cells].flatMap((cell, place) => [shownValue(cell), ...(measured[place] ? beside(cell, table) : [])]),
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

function beside(cell, table) {
  if (cell.dataset.v === undefined) return BESIDE.map(() => "");
  const text = (name) => one(name, cell)?.textContent ?? "";
  const signs = [...all(".sign", cell)];
  const marks = [...(table.dataset.marks ?? "").split(" "), ...signs.map(markOf)];
  const n = text(".runs-n") || table.dataset.n || "";
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
