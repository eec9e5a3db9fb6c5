/* The contents say where the reader is; they are folded where the window is narrow. */
import { all, one } from "./dom.js";

const NARROW = "(max-width:64rem)"; // as in style/narrow.css

export function followReading() {
  if (matchMedia(NARROW).matches) one(".contents details").open = false;
  if (!("IntersectionObserver" in window)) return;
  const links = new Map(all(".contents a").map((link) => [link.getAttribute("href").slice(1), link]));
  const visible = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) visible.add(target.id);
        else visible.delete(target.id);
      }
      const read = all("main section[id]").filter((section) => visible.has(section.id) && links.has(section.id));
      mark(links, read.at(-1)?.id);
    },
    { rootMargin: "-10% 0px -70% 0px" }, // the upper part of the window, where one reads
  );
  for (const section of all("main > section")) observer.observe(section);
}

function mark(links, current) {
  for (const [id, link] of links) {
    if (id === current) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
    link.parentNode.classList.toggle("open", id === current);
  }
}
