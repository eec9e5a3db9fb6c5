/* The data in the page: every case under the anchor of its receipt. */
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
 * @property {string | null} unit
 * @property {string | null} text the value as it is printed
 * @property {string | null} interval
 * @property {number | null} n
 * @property {string | null} speedup
 */

/**
 * A column is a list of values, or its different values and the place of each row's among them.
 * @typedef {any[] | {of: any[], at: number[]}} Column
 */

const { ids, values } = JSON.parse(byId("data").textContent);
const columns = Object.entries(values).map(([key, column]) => [
  key,
  Array.isArray(column) ? column : column.at.map((place) => column.of[place]),
]);

/** @type {Record<string, Case>} */
export const cases = Object.fromEntries(
  ids.map((id, row) => [id, Object.fromEntries(columns.map(([key, column]) => [key, column[row]]))]),
);

/** @param {Case} found */
export function caseTitle({ framework, xla, nodes, devices, precision }) {
  return [framework, ...(xla ? ["XLA"] : []), `${nodes}×${devices / nodes}`, precision].join(" · ");
}
