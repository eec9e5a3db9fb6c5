
(() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = text => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.getClientRects().length || e.closest('svg, .vh, .permalink')) continue;
    // The hourglass is drawn by its own background, in the colour of the text, on the ground behind it.
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e.matches('.hourglass') ? e.parentElement : e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.add(`${ratio.toFixed(2)} ${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 30)}`);
  }
  return [...poor];
})()
