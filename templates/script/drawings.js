/* Figures as SVG and PNG, as they are seen. */
import { all, byId, element, otherLanguage, shownText } from "./dom.js";
import { fileName, save } from "./save.js";

const SVG = "http://www.w3.org/2000/svg";
const PNG_SCALE = 2;

/** The drawing *id* as a file of its own: with its title, its reading and its colours, in the language shown. */
function standalone(id) {
  const svg = byId(`${id}-svg`).cloneNode(true);
  const style = document.createElementNS(SVG, "style");
  const font = `.fig-svg{font-family:${getComputedStyle(document.body).fontFamily}}`;
  style.textContent = byId("figure-style").textContent + font;
  svg.prepend(style, labelOf("desc", byId(`${id}-reading`)), labelOf("title", byId(`${id}-title`)));
  for (const hidden of all(otherLanguage(), svg)) hidden.remove();
  svg.removeAttribute("aria-labelledby");
  svg.removeAttribute("aria-describedby");
  return new XMLSerializer().serializeToString(svg);
}

function labelOf(tag, node) {
  const made = document.createElementNS(SVG, tag);
  made.textContent = node ? shownText(node) : "";
  return made;
}

function saveAsPng(id) {
  const { width, height } = byId(`${id}-svg`).viewBox.baseVal;
  const image = new Image();
  const url = URL.createObjectURL(new Blob([standalone(id)], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = element("canvas", { width: PNG_SCALE * width, height: PNG_SCALE * height });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(fileName(byId(`${id}-title`), ".png"), "image/png", blob));
  };
  image.src = url;
}

export function offerDrawings() {
  for (const button of all("[data-svg]")) {
    button.addEventListener("click", () => {
      const id = button.dataset.svg;
      const text = `<?xml version="1.0" encoding="UTF-8"?>\n${standalone(id)}`;
      save(fileName(byId(`${id}-title`), ".svg"), "image/svg+xml", text);
    });
  }
  for (const button of all("[data-png]")) button.addEventListener("click", () => saveAsPng(button.dataset.png));
}
