/* Figures as SVG and PNG, as they are seen: with title, axes, legend and source, for slides and papers. */
import { all, byId, element, one, otherLanguage, shownText } from "./dom.js";
import { fileName, save } from "./save.js";

const SVG = "http://www.w3.org/2000/svg";
const PNG_SCALE = 2;
const PAPER_EDGE = 16; // pixels around everything
const SAMPLE_ROOM = 34; // of an entry of the legend: its sample and a gap
const SIZES = { title: 17, legend: 13, axes: 12, source: 11 };

/** The figure *id* as a file of its own, in the language and the colours shown. */
function standalone(id) {
  const drawing = byId(`${id}-svg`).cloneNode(true);
  for (const hidden of all(otherLanguage(), drawing)) hidden.remove();
  const { width, height } = drawing.viewBox.baseVal;
  const sheet = node("svg", { class: "fig-svg", xmlns: SVG });
  const style = node("style");
  style.textContent = `${seenStyle()}.fig-svg{font-family:${getComputedStyle(document.body).fontFamily}}`;
  sheet.append(labelOf("title", `${id}-title`), labelOf("desc", `${id}-reading`), style);
  const paper = sheet.appendChild(node("rect", { width: "100%", height: "100%", class: "fill-surface" }));
  let top = lines(sheet, "title", shownText(byId(`${id}-title`)), PAPER_EDGE, width) + 6;
  top = legend(sheet, id, top, width) + 10;
  for (const name of ["id", "role", "aria-labelledby", "aria-describedby"]) drawing.removeAttribute(name);
  const place = { x: PAPER_EDGE, y: top, width, height };
  for (const [name, value] of Object.entries(place)) drawing.setAttribute(name, value);
  sheet.append(drawing);
  const axes = all(".fig-axes > span", byId(id)).map(shownText).join(" · ");
  top = lines(sheet, "axes", axes, top + height + 6, width);
  top = lines(sheet, "source", about(id), top + 4, width);
  top = lines(sheet, "source", source(), top, width) + PAPER_EDGE;
  const size = { width: width + 2 * PAPER_EDGE, height: top, viewBox: `0 0 ${width + 2 * PAPER_EDGE} ${top}` };
  for (const [name, value] of Object.entries(size)) sheet.setAttribute(name, value);
  paper.setAttribute("height", top);
  return { text: new XMLSerializer().serializeToString(sheet), width: size.width, height: top };
}

function node(tag, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

const labelOf = (tag, id) => node(tag, {}, byId(id) ? shownText(byId(id)) : "");

/** Model, setting and machine of the figure *id*, as far as its title does not say them. */
function about(id) {
  const chapter = byId(id).closest(".chapter:has(.participants, section.block)");
  const heads = [chapter && one("h2", chapter), one("h3", byId(id).closest("section.block") ?? element("p"))];
  const title = shownText(byId(`${id}-title`));
  const said = heads.filter(Boolean).map((head) => shownText(head).replace(/^[\d.A-Z]+ /, ""));
  return [...said.filter((text) => !title.includes(text)), shownText(byId("machine"))].join(" · ");
}

/** What the numbers are of: the report, its data and their licence, their days. */
const source = () => `${shownText(one("h1"))} · ${shownText(byId("figure-source"))}`;

/** Writes *text* below *top* in lines no wider than *width*. @returns {number} where the next thing may stand */
function lines(sheet, kind, text, top, width) {
  const size = SIZES[kind];
  const room = measured(size, kind === "title" ? 600 : 400);
  const look = { class: kind === "title" ? "fill-ink strong" : "fill-muted", "font-size": size, x: PAPER_EDGE };
  let line = "";
  const write = () => {
    top += size * 1.35;
    sheet.append(node("text", { ...look, y: top - size * 0.3 }, line.trim()));
    line = "";
  };
  for (const piece of text.match(/[\u3000-\uffef]|[^\s\u3000-\uffef]+|\s+/g) || []) {
    if (line && room(line + piece) > width) write();
    line += piece;
  }
  if (line.trim()) write();
  return top;
}

function measured(size, weight) {
  const context = element("canvas").getContext("2d");
  context.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return (text) => context.measureText(text).width;
}

/** The legend in rows below *top*: the samples and their words. */
function legend(sheet, id, top, width) {
  const room = measured(SIZES.legend, 400);
  let x = PAPER_EDGE;
  const entries = all(`[data-legend="${id}"] li`);
  if (entries.length) top += 20;
  for (const entry of entries) {
    const sample = one("svg", entry);
    const text = shownText(entry);
    const wide = (sample ? Math.max(SAMPLE_ROOM, sample.viewBox.baseVal.width + 6) : 0) + room(text) + 18;
    if (x > PAPER_EDGE && x + wide > width + PAPER_EDGE) [x, top] = [PAPER_EDGE, top + 20];
    let indent = 0;
    if (sample) {
      const copy = sample.cloneNode(true);
      copy.setAttribute("x", String(x));
      copy.setAttribute("y", String(top - 12));
      sheet.append(copy);
      indent = sample.viewBox.baseVal.width + 6;
    }
    sheet.append(node("text", { class: "fill-ink", "font-size": SIZES.legend, x: x + indent, y: top }, text));
    x += wide;
  }
  return top;
}

/* The styles of drawings with each colour as it is seen: other programs know neither variables nor themes. */
function seenStyle() {
  const probe = element("span");
  document.body.append(probe);
  const seen = (_, name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const text = byId("figure-style").textContent.replace(/^(@media|:root).*$/gm, "");
  const inked = text.replace(/var\((--fig-[\w-]+)\)/g, seen);
  probe.remove();
  return inked;
}

function saveAsPng(id) {
  const { text, width, height } = standalone(id);
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = element("canvas", { width: Math.ceil(PNG_SCALE * width) });
    canvas.height = Math.ceil(PNG_SCALE * height);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(fileName(byId(`${id}-title`), ".png"), "image/png", blob));
  };
  image.src = url;
}

export function offerDrawings() {
  for (const button of all("[data-svg]")) {
    button.addEventListener("click", () => {
      const id = button.dataset.svg;
      const text = `<?xml version="1.0" encoding="UTF-8"?>\n${standalone(id).text}`;
      save(fileName(byId(`${id}-title`), ".svg"), "image/svg+xml", text);
    });
  }
  for (const button of all("[data-png]")) button.addEventListener("click", () => saveAsPng(button.dataset.png));
}
