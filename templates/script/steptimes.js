/* The time of each step of a run as a small drawing, the measured window shaded. */
import { element, word } from "./dom.js";
import { numbersOf } from "./recount.js";

const SPARK_WIDTH = 480;
const SPARK_HEIGHT = 72;
const EDGE_OF_LINE = 4;
const DRAWING = "http://www.w3.org/2000/svg";

/** @param {any} proof the receipt's element with the times */
export function stepTimes(proof) {
  const { before, after, passed, steps } = proof.dataset;
  const ends = numbersOf(passed);
  if (ends.length < 2) return [];
  const each = Number(steps) / ends.length;
  const inside = ends.map((end, place) => (end - (place ? ends[place - 1] : 0)) / each);
  const times = [...numbersOf(before), ...inside, ...numbersOf(after)];
  const least = Math.min(...inside);
  const most = Math.max(...inside);
  const x = (place) => (place / times.length) * SPARK_WIDTH;
  const top = Math.max(...times);
  const y = (time) => SPARK_HEIGHT - EDGE_OF_LINE - (time / top) * (SPARK_HEIGHT - 2 * EDGE_OF_LINE);
  const first = numbersOf(before).length;
  const svg = drawn("svg", { viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, class: "spark", "aria-hidden": "true" });
  svg.append(
    drawn("rect", { class: "spark-window", x: x(first), y: 0, width: x(inside.length), height: SPARK_HEIGHT }),
    drawn("polyline", { points: times.map((time, place) => `${x(place + 0.5)},${y(time)}`).join(" ") }),
  );
  const range = ` · ${milliseconds(least)}–${milliseconds(most)} ms`;
  const caption = element("figcaption", {}, [word("drawer.steptime"), range]);
  return [element("figure", { class: "spark-box" }, [svg, caption])];
}

const milliseconds = (seconds) => Number((seconds * 1000).toPrecision(3));

function drawn(tag, attributes) {
  const made = document.createElementNS(DRAWING, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}
