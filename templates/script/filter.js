/* The filter: which cases are shown in rows, columns, blocks and figures. */
import { cases } from "./data.js";
import { all, byId, one } from "./dom.js";
import { refreshStops } from "./roving.js";
import { remember } from "./state.js";

/** @type {any} null where there is nothing to choose from */
const form = byId("filter");
const axes = form ? all("fieldset[data-axis]", form) : [];

/** What shows cases: rows and marks by their case, rows and columns of a table by the cases of their cells. */
const targets = { rows: [], tables: [], matrixRows: [], marks: [] };

/** The case that a cell is about, "" for none. @param {any} cell */
function anchorOf(cell) {
  const link = one('a[href^="#c-"]', cell);
  return cell.dataset.c || (link ? link.getAttribute("href").slice(1) : "");
}

function collectTargets() {
  for (const row of all("main tr[data-c], .runs tbody, .receipts li[id]")) {
    targets.rows.push([row, row.dataset.c || row.id]);
  }
  for (const row of all("table.usage tbody tr")) targets.rows.push([row, anchorOf(row)]);
  for (const table of all("table.values[data-filter=columns]")) {
    const labels = Number(table.dataset.labels); // the first columns name the series, the others are a scale each
    const anchors = (row) => [...row.cells].map((cell, place) => (place < labels ? "" : anchorOf(cell)));
    const body = all("tbody tr:not(.group)", table).map((row) => [row, anchors(row)]);
    targets.tables.push({ labels, body, rows: all("tr:not(.group)", table), bodies: [...table.tBodies] });
  }
  for (const row of all("table.matrix tbody tr")) {
    targets.matrixRows.push([row, all("td.heat", row).map(anchorOf)]);
  }
  for (const mark of all(".fig-svg .mark[data-ref]")) targets.marks.push([mark, mark.dataset.ref]);
}

const boxesOf = (axis) => all('input[type="checkbox"]', axis);

/** The values that are ticked, of the axes where not all are. @returns {Record<string, string[]>} */
function chosenValues() {
  const chosen = {};
  for (const axis of axes) {
    const boxes = boxesOf(axis);
    const ticked = boxes.filter((box) => box.checked).map((box) => box.value);
    if (ticked.length < boxes.length) chosen[axis.dataset.axis] = ticked;
  }
  return chosen;
}

function passes(found, chosen, from, to) {
  for (const [axis, values] of Object.entries(chosen)) {
    if (!values.includes(String(found[axis]))) return false;
  }
  return found.devices >= from && found.devices <= to;
}

/** Shows the cases that the form asks for, and takes the choice into the address. */
export function applyFilter() {
  if (!form) return;
  const { from, to } = form.elements;
  const chosen = chosenValues();
  const least = from ? Number(from.value) : 0;
  const most = to ? Number(to.value) : Infinity;
  const passing = new Set(Object.keys(cases).filter((id) => passes(cases[id], chosen, least, most)));
  show(passing, passing.size === Object.keys(cases).length);
  byId("shown").textContent = passing.size;
  byId("shown-none").hidden = passing.size > 0;
  refreshStops();
  remember(choice(chosen, from, to));
}

function show(passing, everything) {
  const isHidden = (id) => !everything && !passing.has(id);
  const areHidden = (ids) => !everything && !ids.some((id) => passing.has(id));
  for (const [row, id] of targets.rows) row.hidden = id in cases && isHidden(id);
  for (const [mark, id] of targets.marks) mark.classList.toggle("dim", isHidden(id));
  for (const [row, ids] of targets.matrixRows) row.hidden = areHidden(ids);
  for (const table of targets.tables) showInTable(table, areHidden);
  for (const card of all(".why .why-card")) card.hidden = !everything && !one("tbody tr:not([hidden])", card);
  for (const why of all(".why")) why.hidden = !one(".why-card:not([hidden])", why);
  for (const block of all("section.block")) {
    const shows = (cell) => passing.has(anchorOf(cell));
    block.hidden = !everything && !all("table.values td:not([hidden])", block).some(shows);
  }
}

/** Hides the columns and the rows of a table in which no case passes, and groups of which no row is left. */
function showInTable({ labels, rows, body, bodies }, areHidden) {
  const width = body.length ? body[0][1].length : 0;
  for (let column = labels; column < width; column++) {
    const hidden = areHidden(body.map(([, ids]) => ids[column]));
    for (const { cells } of rows) if (cells[column]) cells[column].hidden = hidden;
  }
  for (const [row, ids] of body) row.hidden = areHidden(ids);
  for (const part of bodies) part.hidden = ![...part.rows].some((row) => !row.hidden && !row.matches(".group"));
}

/** What the address says of the filter; "" where all is shown. */
function choice(chosen, from, to) {
  const changes = { from: "", to: "" };
  for (const { dataset } of axes) {
    if (dataset.axis !== "devices") changes[dataset.axis] = (chosen[dataset.axis] || []).join(",");
  }
  if (from && from.selectedIndex > 0) changes.from = from.value;
  if (to && to.selectedIndex < to.length - 1) changes.to = to.value;
  return changes;
}

/** Sets the form as an address says, and ticks all that it does not name. @param {Record<string, string>} pairs */
export function setFilter(pairs) {
  if (!form) return;
  for (const axis of axes) {
    const ticked = pairs[axis.dataset.axis]?.split(",");
    for (const box of boxesOf(axis)) box.checked = !ticked || ticked.includes(box.value);
  }
  const { from, to } = form.elements;
  if (from) from.value = pairs.from || from.options[0].value;
  if (to) to.value = pairs.to || to.options[to.options.length - 1].value;
}

/** Whether an address says something of the filter. @param {Record<string, string>} pairs */
export function isFiltered(pairs) {
  const ours = ["from", "to", ...axes.map((axis) => axis.dataset.axis)];
  return Boolean(form) && ours.some((key) => key in pairs);
}

export function followFilter() {
  collectTargets();
  if (!form) return;
  form.addEventListener("change", applyFilter);
  form.addEventListener("reset", () => setTimeout(applyFilter, 0)); // once the boxes are ticked again
  form.addEventListener("submit", (event) => event.preventDefault());
}
