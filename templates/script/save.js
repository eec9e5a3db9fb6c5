/* Files made in the page. */
import { element, shownText } from "./dom.js";

const FETCHED_MS = 10_000; // by then the browser has read what it saves
const LONGEST_NAME = 80;

/** @param {string} name @param {string} type @param {string | Blob} content */
export function save(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), FETCHED_MS);
}

/** A file's name made of what a reader sees in *node*. @param {Node} node @param {string} ending */
export function fileName(node, ending) {
  const text = shownText(node) || "evalsuite";
  return text.replace(/[^\w\u4e00-\u9fff.-]+/g, "_").slice(0, LONGEST_NAME) + ending;
}

/** CSV as spreadsheets read it: UTF-8 with its mark, lines with CR LF. @param {any[][]} rows */
export const csv = (rows) => "\ufeff" + rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";

/* Text that a spreadsheet would take for a formula gets an apostrophe: owasp.org/www-community/attacks/CSV_Injection */
function quoted(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
