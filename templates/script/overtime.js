/* Each run of a case over time: step time, use of its devices and loss, one below the other on one axis. */
import { all, element, one, word } from "./dom.js";

const AXIS_WIDTH = 480;
const LANE_HEIGHT = 26;
const LANE_EDGE = 3;
const LANES = { step: inSeconds, gpu: inPercent, cpu: inPercent, loss: fromTo }; // and how a value of each is written
const SVG_LINES = "http://www.w3.org/2000/svg";

/** @param {any} receipt of a case @returns {any[]} what is shown of its runs; nothing where none was recorded */
export function overTime(receipt) {
  const runs = all("tr[data-of-window]", receipt);
  const last = Math.max(...runs.flatMap(lanesOf).map(({ points }) => points[points.length - 1][0]));
  if (!(last > 0)) return [];
  const title = element("h3", {}, [word("drawer.overtime")]);
  const see = element("p", { class: "note" }, [word("drawer.see")]);
  return [title, see, ...runs.map((run) => lanesFigure(run, last))];
}

const lanesOf = (run) =>
  Object.keys(LANES)
    .map((name) => ({ name, points: pointsOf(run.getAttribute(`data-of-${name}`)) }))
    .filter(({ points }) => points.length > 1);

/** @param {string | null} text "12.5:0.81 13.3:0.79" @returns {number[][]} */
const pointsOf = (text) => (text || "").split(" ").filter(Boolean).map((point) => point.split(":").map(Number));

/** @param {any} run its row @param {number} last the end of the axis, in seconds */
function lanesFigure(run, last) {
  const lanes = lanesOf(run);
  const height = lanes.length * LANE_HEIGHT;
  const x = (at) => (at / last) * AXIS_WIDTH;
  const svg = svgShape("svg", { viewBox: `0 0 ${AXIS_WIDTH} ${height}`, class: "spark", "aria-hidden": "true" });
  const [[begin, end]] = pointsOf(run.getAttribute("data-of-window"));
  svg.append(svgShape("rect", { class: "spark-window", x: x(begin), y: 0, width: x(end - begin), height }));
  const caption = element("figcaption", {}, [one("th", run).textContent]);
  lanes.forEach(({ name, points }, place) => {
    const values = points.map(([, value]) => value);
    const least = Math.min(...values);
    const most = Math.max(...values);
    const top = name === "loss" ? most : Math.max(most, LANES[name] === inPercent ? 100 : 0);
    const floor = name === "loss" ? least : 0;
    const room = (LANE_HEIGHT - 2 * LANE_EDGE) / (top - floor || 1);
    const y = (value) => (place + 1) * LANE_HEIGHT - LANE_EDGE - (value - floor) * room;
    const line = points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ");
    svg.append(svgShape("polyline", { points: line, class: `spark-${name}` }));
    const label = element("span", { class: `spark-name spark-${name}` }, [word(`drawer.${name}`)]);
    caption.append(" · ", label, ` ${LANES[name](least, most)}`);
  });
  caption.append(` · 0–${threeDigits(last)} s`);
  return element("figure", { class: "spark-box" }, [svg, caption]);
}

const threeDigits = (value) => String(Number(value.toPrecision(3)));

function fromTo(least, most) {
  return `${threeDigits(least)}–${threeDigits(most)}`;
}

function inPercent(least, most) {
  return `${fromTo(least, Math.min(most, 100))}%`;
}

function inSeconds(least, most) {
  return most < 1 ? `${fromTo(least * 1000, most * 1000)} ms` : `${fromTo(least, most)} s`;
}

function svgShape(tag, attributes) {
  const made = document.createElementNS(SVG_LINES, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}
