/* The receipt of a number in place: a click opens it beside what is being read. Made of what the receipts hold. */
import { offerCopy } from "./copy.js";
import { all, byId, element, one, word } from "./dom.js";
import { median, printed } from "./recount.js";

/** @type {any} */
const drawer = byId("drawer");

/** The receipt of the case *id* as the content of the drawer. @param {string} id @param {any} receipt */
function receiptOf(id, receipt) {
  const { text, more } = receipt.dataset; // as provenance.py writes them
  const proof = one(".case-proof details", receipt);
  const runs = runsOf(receipt);
  const close = element("button", { type: "button", class: "drawer-close" }, [word("drawer.close")]);
  const whole = element("a", { href: `#${id}` }, [word("drawer.whole")]);
  for (const way of [close, whole]) way.addEventListener("click", () => drawer.close());
  return [
    element("div", { class: "drawer-head" }, [element("h2", { id: "drawer-title" }, settingOf(receipt)), close]),
    ...recounted(text, more, runs, proof, [...copiesOf(receipt, ".case-flags, .case-source"), ...citedIn(receipt)]),
    ...(proof ? [titleOf(one("summary", proof)), ...copiesOf(proof, ".log-lines, .note, .where")] : []),
    ...hashOf(runs),
    ...commandOf(receipt),
    element("p", {}, [whole]),
  ];
}

/* The framework, its series and the scale. */
function settingOf(receipt) {
  const [scale] = one(".case-head th", receipt).textContent.trim().split(" ");
  const series = [...one("th", seriesOf(receipt)).childNodes].map((node) => node.cloneNode(true));
  return [one("strong", receipt.closest(".receipt")).textContent, " · ", ...series, ` · ${scale}`];
}

/** The rows above the cases of a series: its name and its command. */
function seriesOf(receipt) {
  let above = receipt;
  while (!above.matches(".series")) above = above.previousElementSibling;
  return above;
}

/* Where a published file prints the value of each run. */
function citedIn(receipt) {
  const lines = all(".log a", receipt).map((link) => {
    const [repeat, , value] = [...link.closest("tr").cells].map((cell) => cell.textContent);
    const place = [link.title || link.textContent, link.hash.slice(1)].filter(Boolean).join(" · ");
    return element("li", {}, [`${repeat}: ${value} · `, element("a", { href: link.href }, [place])]);
  });
  if (!lines.length) return [];
  return [titleOf(word("drawer.cited")), element("ul", { class: "case-source drawer-runs" }, lines)];
}

const titleOf = (from) => element("h3", {}, [...from.childNodes].map((node) => node.cloneNode(true)));

const copiesOf = (from, selector) => all(selector, from).map((node) => node.cloneNode(true));

/* The runs with the quotient of each, from the slowest to the fastest. */
function runsOf(receipt) {
  const runs = all("td[data-sum]", receipt).map((cell) => {
    const [items, seconds] = cell.dataset.sum.split("/").map(Number);
    const [repeat, hash] = [one("th", cell.parentNode), cell.parentNode.lastElementChild].map((one) => one.textContent);
    return { repeat, items, seconds, hash, value: items / seconds };
  });
  return runs.sort((a, b) => a.value - b.value);
}

/* Each run's items ÷ seconds, and their median beside the value that the report prints. */
function recounted(shown, more, runs, proof, notes) {
  if (!shown) return notes;
  const value = element("strong", {}, [shown]);
  const say = element("p", { class: "drawer-value" }, [word("drawer.printed"), " ", value, ` ${more}`]);
  const cited = notes.some((one) => one.classList.contains("case-source"));
  if (!runs.length) {
    return [say, ...notes, ...(cited ? [] : [element("p", { class: "note" }, [word("drawer.nothing")])])];
  }
  const text = printed(median(runs.map((run) => run.value)));
  const same = text === shown;
  const lines = runs.map(({ repeat, items, seconds, value: quick }) =>
    element("li", {}, [`${repeat}: ${items} ÷ ${Number(seconds.toPrecision(9))} = ${printed(quick)}`]),
  );
  const result = [word("drawer.median"), ` ${text} · `, word(same ? "drawer.same" : "drawer.differs")];
  return [
    say,
    ...notes,
    element("h3", {}, [word(proof && "rates" in proof.dataset ? "drawer.rates" : "drawer.recounted")]),
    element("ul", { class: "drawer-runs" }, lines),
    element("p", { class: same ? "drawer-same" : "drawer-differs", id: "drawer-result" }, result),
  ];
}

/** The hash of the median run's log. @param {any[]} runs from the slowest to the fastest */
function hashOf(runs) {
  const hash = runs[(runs.length - 1) >> 1]?.hash;
  if (!/^[0-9a-f]{64}$/.test(hash)) return []; // not recorded
  const code = element("code", { class: "sha" }, [hash]);
  return [element("p", { class: "drawer-hash" }, [word("reproduction.sha"), " ", code])];
}

/* The command that makes its series again on any machine, where evalsuite ran it; else the one of the case. */
function commandOf(receipt) {
  const own = ".case-commands:not(.case-proof, .case-notes) code";
  const shown = one(".code code", seriesOf(receipt)) ?? one(own, receipt);
  if (!shown) return [];
  const code = element("code", { translate: "no" }, [shown.textContent]);
  const box = element("div", { class: "code" }, [element("pre", { tabindex: "0" }, [code])]);
  offerCopy(box);
  return [titleOf(word("words.command")), box, ...copiesOf(receipt, ".case-commands .code ~ .note")];
}

/** Opens the receipt of the case *id*, if it is here; *from* gets the focus. @param {string} id @param {any} from */
export function openReceipt(id, from) {
  const receipt = byId(id);
  if (!receipt?.matches(".runs tbody") || !drawer.showModal) return false;
  drawer.replaceChildren(...receiptOf(id, receipt));
  from.focus({ preventScroll: true }); // the browser gives the focus back to it
  drawer.showModal();
  drawer.scrollTop = 0;
  return true;
}

/** Values of one published file: the first has its address, which the others get with their own line. */
export function addressRuns() {
  let [file, title] = ["", ""];
  for (const cell of all(".runs .log:not(.sha)")) {
    const link = one("a", cell);
    if (link) [file, title] = [link.href.split("#")[0], link.textContent];
    if (cell.textContent !== "″") continue;
    const line = `#L${Number.parseInt(cell.nextElementSibling.textContent)}`;
    cell.replaceChildren(element("a", { href: file + line, title }, ["″"]));
  }
}

/** Numbers open their receipt; everything else that leads there goes there. */
export function followNumbers() {
  document.addEventListener(
    "click",
    (event) => {
      const link = /** @type {any} */ (event.target).closest?.('a.num[href^="#c-"]');
      if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
      if (!openReceipt(decodeURIComponent(link.getAttribute("href").slice(1)), link)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    true, // before the link is followed
  );
  drawer.addEventListener("click", (event) => {
    if (event.target === drawer) drawer.close(); // beside it
  });
}
