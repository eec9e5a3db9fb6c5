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

/** @param {Record<string, Column>} packed @returns {Record<string, any[]>} */
export function unpackedColumns(packed) {
  const list = (column) => (Array.isArray(column) ? column : column.at.map((place) => column.of[place]));
  return Object.fromEntries(Object.entries(packed).map(([name, column]) => [name, list(column)]));
}

function casesById() {
  const rows = rowsOfColumns(data.cases.values);
  return Object.fromEntries(data.cases.ids.map((id, row) => [id, rows[row]]));
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
