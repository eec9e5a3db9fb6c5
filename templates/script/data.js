/* The data in the page: every case under the anchor of its receipt, and the tables of the downloads. */
import { byId } from "./dom.js";

/**
 * A case as `evalsuite/report/page/embedded.py` writes it; what was not measured is null.
 * @typedef {object} Case
 * @property {string} framework
 * @property {string} model
 * @property {string} precision
 * @property {number} batch items per device
 * @property {boolean} xla
 * @property {number} nodes
 * @property {number} devices on all nodes
 * @property {number} row its place among all cases
 * @property {string} origin
 * @property {boolean | null} partial
 * @property {string | null} unit
 * @property {number | null} value
 * @property {string | null} text the value as it is printed
 * @property {string | null} interval
 * @property {number | null} n
 * @property {string | null} speedup
 * @property {string | null} efficiency
 * @property {number | null} base devices of the case that the speed-up is counted from
 */

/**
 * A column is a list of values, or its different values and the place of each row's among them.
 * @typedef {any[] | {of: any[], at: number[]}} Column
 */

const data = JSON.parse(byId("data").textContent);

export const tables = data.tables;

/** @type {Record<string, Case>} */
export const cases = casesById();

/**
 * What is known of two cases, decided by evalsuite/results/compare/decisions.py.
 * @typedef {object} Decision
 * @property {number} first the row of the case with the higher median
 * @property {number} second
 * @property {string} evidence
 * @property {string} lead as it is printed
 * @property {string | null} needed what would decide
 * @property {number | null} runs
 * @property {string | null} chance
 * @property {string[]} why what keeps them apart
 */

/**
 * The decision of two cases; undefined where no question of the report compares them.
 * @param {Case} a @param {Case} b
 */
export function decisionOf(a, b) {
  decisions ??= new Map(rowsOfColumns(data.decisions).map((one) => [pairKey(one.first, one.second), one]));
  return decisions.get(pairKey(a.row, b.row));
}

/** @type {Map<string, Decision> | undefined} */
let decisions;

const pairKey = (a, b) => `${Math.min(a, b)} ${Math.max(a, b)}`;

/** @param {Record<string, Column>} packed @returns {Record<string, any[]>} */
export function unpackedColumns(packed) {
  const list = (column) => (Array.isArray(column) ? column : column.at.map((place) => column.of[place]));
  return Object.fromEntries(Object.entries(packed).map(([name, column]) => [name, list(column)]));
}

function casesById() {
  const rows = rowsOfColumns(data.cases.values);
  return Object.fromEntries(data.cases.ids.map((id, row) => [id, { row, ...rows[row] }]));
}

/** @param {Record<string, Column>} packed @returns {any[]} */
function rowsOfColumns(packed) {
  const columns = Object.entries(unpackedColumns(packed));
  return columns[0][1].map((_, row) => Object.fromEntries(columns.map(([key, column]) => [key, column[row]])));
}

/** @param {Case} found */
export function caseTitle({ framework, xla, nodes, devices, precision }) {
  return [framework, ...(xla ? ["XLA"] : []), `${nodes}×${devices / nodes}`, precision].join(" · ");
}
