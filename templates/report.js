(function () {
"use strict";
/* Adds to a page that is complete without it: filters, sorting, cards at marks, links, downloads.
   All words come from the page's own <template>; all data is put in as text, never as markup. */
var root = document.documentElement;
var data = JSON.parse(document.getElementById("data").textContent);
var cases = {};
(function () {
  var columns = unpackedColumns(data.cases.values);
  data.cases.ids.forEach(function (id, row) {
    cases[id] = {};
    Object.keys(columns).forEach(function (key) { cases[id][key] = columns[key][row]; });
  });
})();
var state = {};

function all(selector, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(selector)); }
function one(selector, inside) { return (inside || document).querySelector(selector); }
function element(tag, attributes, children) {
  var made = document.createElement(tag);
  Object.keys(attributes || {}).forEach(function (name) { made.setAttribute(name, attributes[name]); });
  (children || []).forEach(function (child) { made.append(child); });
  return made;
}
var words = document.getElementById("words").content;
function word(key) {
  var found = one('[data-word="' + key + '"]', words), made = document.createDocumentFragment();
  if (found) Array.prototype.forEach.call(found.childNodes, function (node) { made.append(node.cloneNode(true)); });
  return made;
}
function shownText(node) {
  var copy = node.cloneNode(true), other = root.dataset.lang === "zh" ? "en" : "zh-CN";
  all('[lang="' + other + '"]:not(.both), small, .sign, .permalink, button[data-csv]', copy).forEach(function (hidden) { hidden.remove(); });
  return copy.textContent.replace(/\s+/g, " ").trim();
}

/* the address: #lang=en&framework=A,B&at=sec — state and place in one fragment */
function readAddress() {
  var found = {}, text = location.hash.slice(1);
  if (text && text.indexOf("=") < 0) return { at: decodeURIComponent(text) };
  text.split("&").forEach(function (pair) {
    var cut = pair.indexOf("=");
    if (cut > 0) { try { found[pair.slice(0, cut)] = decodeURIComponent(pair.slice(cut + 1)); } catch (error) { /* not ours */ } }
  });
  return found;
}
function address(changes) {
  var found = Object.assign({}, state, changes);
  var text = Object.keys(found).filter(function (key) { return found[key]; }).map(function (key) {
    return key + "=" + encodeURIComponent(found[key]).replace(/%2C/g, ",");
  }).join("&");
  return text ? "#" + text : "#";
}
function remember(changes) {
  Object.assign(state, changes);
  Object.keys(state).forEach(function (key) { if (!state[key]) delete state[key]; });
  history.replaceState(null, "", address({}));
}
function keep(key, value) { try { localStorage.setItem("evalsuite." + key, value); } catch (error) { /* private mode */ } }

/* language and theme */
function setLanguage(language) {
  var place = anchorInView();
  root.dataset.lang = language;
  root.lang = language === "zh" ? "zh-CN" : "en";
  var title = one("title");
  if (title.dataset[language]) document.title = title.dataset[language];
  if (place) scrollBy(0, place.node.getBoundingClientRect().top - place.top);
}
function anchorInView() {
  var nodes = all("main h2, main h3, main table, main figure");
  for (var i = 0; i < nodes.length; i++) {
    var top = nodes[i].getBoundingClientRect().top;
    if (top > 0) return { node: nodes[i], top: top };
  }
  return null;
}
all('input[name="lang"]').forEach(function (input) {
  input.addEventListener("change", function () { setLanguage(input.value); keep("lang", input.value); remember({ lang: input.value }); });
});
all('input[name="theme"]').forEach(function (input) {
  input.addEventListener("change", function () {
    if (input.value === "auto") delete root.dataset.theme; else root.dataset.theme = input.value;
    keep("theme", input.value);
    remember({ theme: input.value === "auto" ? "" : input.value });
  });
});

/* going to a place: open what hides it, keep the state */
function goTo(id, at_once) {
  var node = document.getElementById(id);
  if (!node) return false;
  for (var up = node; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  var inner = node.tagName === "TBODY" ? one("details", node) : null;
  if (inner) inner.open = true;
  if (reveal(node)) state.view = turned();
  node.scrollIntoView({ behavior: at_once ? "instant" : "auto" });
  if (root.classList.contains("large")) hold(node, 5);
  all(".is-target").forEach(function (old) { old.classList.remove("is-target"); });
  node.classList.add("is-target");
  if (!node.hasAttribute("tabindex")) node.setAttribute("tabindex", "-1");
  node.focus({ preventScroll: true });
  return true;
}
/* A large page lays a section out when it comes into view: what stands above the place then takes its true height. */
function hold(node, frames) {
  if (frames) requestAnimationFrame(function () { node.scrollIntoView({ behavior: "instant" }); hold(node, frames - 1); });
}
document.addEventListener("click", function (event) {
  var link = event.target.closest && event.target.closest('a[href^="#"]');
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  var id = decodeURIComponent(link.getAttribute("href").slice(1));
  if (!goTo(id)) return;
  event.preventDefault();
  state.at = id;
  history.pushState(null, "", address({}));
});
addEventListener("popstate", function () { load(false); });
addEventListener("hashchange", function () { load(false); });

/* contents: where am I, collapsed where it is narrow */
var contents = one(".contents details");
if (matchMedia("(max-width:64rem)").matches) contents.open = false;
if ("IntersectionObserver" in window) {
  var links = {};
  all(".contents a").forEach(function (link) { links[link.getAttribute("href").slice(1)] = link; });
  var visible = {};
  var observer = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) { visible[entry.target.id] = entry.isIntersecting; });
    var current = all("main section[id]").filter(function (section) { return visible[section.id] && links[section.id]; }).pop();
    Object.keys(links).forEach(function (id) {
      var here = current && id === current.id;
      if (here) links[id].setAttribute("aria-current", "location"); else links[id].removeAttribute("aria-current");
      links[id].parentNode.classList.toggle("open", Boolean(here));
    });
  }, { rootMargin: "-10% 0px -70% 0px" });
  all("main > section").forEach(function (section) { observer.observe(section); });
}

/* filters */
var form = document.getElementById("filter");
var targets = collectTargets();
function anchorOf(cell) {
  var link = one('a[href^="#c-"]', cell);
  return cell.dataset.c || (link ? link.getAttribute("href").slice(1) : "");
}
function collectTargets() {
  var found = { rows: [], tables: [], marks: [] };
  all("main tr[data-c], main tbody[data-c], .receipts li[id]").forEach(function (row) { found.rows.push([row, row.dataset.c || row.id]); });
  all("table.usage tbody tr").forEach(function (row) { found.rows.push([row, anchorOf(row)]); });
  all("table.values[data-filter=columns]").forEach(function (table) {
    var cells = all("tbody tr", table).map(function (row) {
      return Array.prototype.map.call(row.cells, function (cell, place) { return place < 2 ? "" : anchorOf(cell); });
    });
    found.tables.push({ table: table, rows: all("tr", table), cells: cells });
  });
  all("table.matrix tbody tr").forEach(function (row) {
    found.tables.push({ row: row, cells: [all("td.heat", row).map(anchorOf)] });
  });
  all(".fig-svg .mark[data-ref]").forEach(function (mark) { found.marks.push([mark, mark.dataset.ref]); });
  return found;
}
function wanted() {
  var chosen = {};
  all("fieldset[data-axis]", form).forEach(function (set) {
    var axis = set.dataset.axis, boxes = all('input[type="checkbox"]', set);
    if (!boxes.length) return;
    var on = boxes.filter(function (box) { return box.checked; }).map(function (box) { return box.value; });
    if (on.length < boxes.length) chosen[axis] = on;
  });
  return chosen;
}
function passes(found, chosen, from, to) {
  for (var axis in chosen) {
    var value = axis === "xla" ? (found.xla ? "True" : "False") : String(found[axis]);
    if (chosen[axis].indexOf(value) < 0) return false;
  }
  return found.devices >= from && found.devices <= to;
}
function applyFilter() {
  if (!form) return;
  var chosen = wanted(), from = form.elements.from ? Number(form.elements.from.value) : 0;
  var to = form.elements.to ? Number(form.elements.to.value) : Infinity, passing = {}, count = 0;
  Object.keys(cases).forEach(function (id) { if (passes(cases[id], chosen, from, to)) { passing[id] = true; count++; } });
  var everything = count === Object.keys(cases).length;
  targets.rows.forEach(function (pair) { pair[0].hidden = !everything && !passing[pair[1]] && pair[1] in cases; });
  targets.marks.forEach(function (pair) { pair[0].classList.toggle("dim", !everything && !passing[pair[1]]); });
  targets.tables.forEach(function (one) { filterTable(one, passing, everything); });
  all("section.block").forEach(function (block) {
    var links = block.querySelectorAll("table.values td:not([hidden])");
    block.hidden = !everything && !Array.prototype.some.call(links, function (cell) { return passing[anchorOf(cell)]; });
  });
  document.getElementById("shown").textContent = count;
  var changes = { from: "", to: "" };
  all("fieldset[data-axis]", form).forEach(function (set) { changes[set.dataset.axis] = (chosen[set.dataset.axis] || []).join(","); });
  delete changes.devices;
  if (form.elements.from && form.elements.from.selectedIndex > 0) changes.from = form.elements.from.value;
  if (form.elements.to && form.elements.to.selectedIndex < form.elements.to.length - 1) changes.to = form.elements.to.value;
  remember(changes);
}
function filterTable(found, passing, everything) {
  if (found.row) {
    found.row.hidden = !everything && !found.cells[0].some(function (id) { return passing[id]; });
    return;
  }
  var width = found.cells.length ? found.cells[0].length : 0, column, hide;
  for (column = 2; column < width; column++) {
    hide = !everything && !found.cells.some(function (row) { return passing[row[column]]; });
    for (var i = 0; i < found.rows.length; i++) if (found.rows[i].cells[column]) found.rows[i].cells[column].hidden = hide;
  }
  all("tbody tr", found.table).forEach(function (row) {
    var ids = Array.prototype.slice.call(row.cells, 2).map(anchorOf);
    row.hidden = !everything && !ids.some(function (id) { return passing[id]; });
  });
}
function setFilter(found) {
  if (!form) return;
  all("fieldset[data-axis]", form).forEach(function (set) {
    var on = found[set.dataset.axis] ? found[set.dataset.axis].split(",") : null;
    all('input[type="checkbox"]', set).forEach(function (box) { box.checked = !on || on.indexOf(box.value) >= 0; });
  });
  if (form.elements.from) form.elements.from.value = found.from || form.elements.from.options[0].value;
  if (form.elements.to) form.elements.to.value = found.to || form.elements.to.options[form.elements.to.length - 1].value;
}
if (form) {
  form.addEventListener("change", applyFilter);
  form.addEventListener("reset", function () { setTimeout(applyFilter, 0); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
}

/* sorting: numbers by their raw value, states last */
all("main table:not(.runs):not(.topology)").forEach(function (table) {
  var body = table.tBodies[0];
  if (!body || table.tBodies.length > 1 || body.rows.length < 3 || !table.tHead || one("[colspan]", body)) return;
  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
    var button = element("button", { type: "button" });
    while (head.firstChild) button.append(head.firstChild);
    head.append(button);
    button.addEventListener("click", function () { sort(table, head, column); });
  });
});
function sort(table, head, column) {
  var down = head.getAttribute("aria-sort") === "ascending";
  all("th[aria-sort]", table.tHead).forEach(function (other) { other.removeAttribute("aria-sort"); });
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  var rows = Array.prototype.map.call(table.tBodies[0].rows, function (row, place) { return { row: row, key: sortKey(row.cells[column]), place: place }; });
  rows.sort(function (a, b) {
    if (a.key[0] !== b.key[0]) return a.key[0] - b.key[0];
    var order = typeof a.key[1] === "number" && typeof b.key[1] === "number" ? a.key[1] - b.key[1] : String(a.key[1]).localeCompare(String(b.key[1]));
    return (down ? -order : order) || a.place - b.place;
  });
  rows.forEach(function (entry) { table.tBodies[0].append(entry.row); });
}
function sortKey(cell) {
  if (!cell || cell.classList.contains("state")) return [1, ""];
  if (cell.dataset.v !== undefined) return [0, Number(cell.dataset.v)];
  var text = shownText(cell), number = Number(text.replace(/,/g, ""));
  return text !== "" && !isNaN(number) ? [0, number] : [0, text];
}

/* two views of a figure: the first stands in the page, a button or an address turns it */
function turn(box, on) {
  box.classList.toggle("turned", on);
  all(".views button", box).forEach(function (button, place) { button.setAttribute("aria-pressed", String(Boolean(place) === on)); });
}
function turned() {
  return all(".fig-views.turned > .other").map(function (figure) { return figure.id; }).join(",");
}
function setViews(found) {
  var wanted = (found.view || "").split(",");
  all(".fig-views").forEach(function (box) { turn(box, wanted.indexOf(one(".other", box).id) >= 0); });
}
function reveal(node) {
  var box = node.closest(".fig-views");
  if (box) turn(box, Boolean(node.closest(".other")));
  return Boolean(box);
}
all("[data-view]").forEach(function (button) {
  button.addEventListener("click", function () {
    reveal(document.getElementById(button.dataset.view));
    remember({ view: turned() });
  });
});

/* permalinks and copying */
function copied(button) {
  var before = Array.prototype.slice.call(button.childNodes);
  button.replaceChildren(word("copied"));
  setTimeout(function () { button.replaceChildren.apply(button, before); }, 1500);
}
function copy(text, button) {
  if (navigator.clipboard && navigator.clipboard.writeText) {
    navigator.clipboard.writeText(text).then(function () { copied(button); }, function () { copyOldWay(text, button); });
  } else copyOldWay(text, button);
}
function copyOldWay(text, button) {
  var area = element("textarea", { "aria-hidden": "true", tabindex: "-1", class: "vh" });
  area.value = text;
  document.body.append(area);
  area.select();
  try { if (document.execCommand("copy")) copied(button); } finally { area.remove(); button.focus(); }
}
all(".permalink").forEach(function (button) {
  button.addEventListener("click", function () {
    state.at = button.dataset.link;
    history.replaceState(null, "", address({}));
    copy(location.href.split("#")[0] + address({ lang: root.dataset.lang }), button);
  });
});
all(".code").forEach(function (box) {
  var button = element("button", { type: "button" }, [word("copy")]);
  button.addEventListener("click", function () { copy(one("code", box).textContent, button); });
  box.append(button);
});
all('[data-do="print"]').forEach(function (button) { button.addEventListener("click", function () { print(); }); });

/* downloads, made from what is in the page */
function save(name, type, content) {
  var url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: type }));
  var link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
}
function quoted(value) {
  var text = value === null || value === undefined ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && isNaN(Number(text))) text = "'" + text;
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}
function csv(rows) { return "\ufeff" + rows.map(function (row) { return row.map(quoted).join(","); }).join("\r\n") + "\r\n"; }
function fileName(text, ending) { return (shownText(text) || "evalsuite").replace(/[^\w\u4e00-\u9fff.-]+/g, "_").slice(0, 80) + ending; }
all("main table").forEach(function (table) {
  var caption = table.caption, scroll = table.closest(".scroll");
  if (!caption || !scroll || table.closest(".card")) return;
  var button = element("button", { type: "button", "data-csv": "" }, [word("csv")]);
  button.addEventListener("click", function () {
    var rows = all("tr", table).map(function (row) {
      return Array.prototype.map.call(row.cells, function (cell) { return cell.dataset.v !== undefined ? Number(cell.dataset.v) : shownText(cell); });
    });
    save(fileName(caption, ".csv"), "text/csv;charset=utf-8", csv(rows));
  });
  scroll.after(element("p", { class: "table-tools" }, [button]));
});
function unpackedColumns(packed) {
  var columns = {};
  Object.keys(packed).forEach(function (name) {
    var found = packed[name];
    columns[name] = Array.isArray(found) ? found : found.at.map(function (place) { return found.of[place]; });
  });
  return columns;
}
/* The runs' table leaves out what stands elsewhere in the page: the fields of the case, and the receipts. */
function complete(columns) {
  if (!columns.case_id || !columns.repeat) return columns;
  var about = unpackedColumns(data.tables.summaries.values), place = {}, seen = {};
  about.case_id.forEach(function (id, row) { place[id] = row; });
  Object.keys(about).forEach(function (name) {
    if (!(name in columns)) columns[name] = columns.case_id.map(function (id) { return about[name][place[id]]; });
  });
  all(".runs tbody").forEach(function (body) {
    var id = one(".case-head code", body).textContent.replace(/\/$/, "");
    Array.prototype.forEach.call(body.rows, function (row) {
      if (row.cells.length > 9) seen[id + "/" + row.cells[0].textContent] = row.cells;
    });
  });
  columns.run_id = columns.case_id.map(function (id, row) { return id + "/r" + columns.repeat[row]; });
  [["log", 4], ["started_at", 7], ["log_sha256", 9]].forEach(function (pair) {
    columns[pair[0]] = columns.run_id.map(function (id, row) {
      var cells = seen[id], cell = cells && cells[pair[1]];
      if (!cell || one(".glyph", cell)) return null;
      return (pair[0] === "log" ? columns.case_id[row] + "/" : "") + cell.textContent;
    });
  });
  return columns;
}
function unpacked(table) {
  var columns = complete(unpackedColumns(table.values)), rows = [table.columns];
  for (var row = 0; row < table.rows; row++) rows.push(table.columns.map(function (name) { return columns[name][row]; }));
  return rows;
}
function records(table) {
  var rows = unpacked(table);
  return rows.slice(1).map(function (row) {
    var made = {};
    rows[0].forEach(function (name, place) { made[name] = row[place]; });
    return made;
  });
}
all("[data-data]").forEach(function (button) {
  button.addEventListener("click", function () {
    var name = button.dataset.data;
    if (name !== "json") { save(name + ".csv", "text/csv;charset=utf-8", csv(unpacked(data.tables[name]))); return; }
    var found = {};
    Object.keys(data.tables).forEach(function (key) { found[key] = records(data.tables[key]); });
    save("evalsuite-data.json", "application/json", JSON.stringify(found, null, 1));
  });
});
function standalone(id, theme) {
  var svg = document.getElementById(id + "-svg").cloneNode(true), space = "http://www.w3.org/2000/svg";
  [["title", "-title"], ["desc", "-reading"]].forEach(function (pair) {
    var node = document.getElementById(id + pair[1]), made = document.createElementNS(space, pair[0]);
    made.textContent = node ? shownText(node) : "";
    svg.insertBefore(made, svg.firstChild);
  });
  var style = document.createElementNS(space, "style");
  style.textContent = document.getElementById("figure-style").textContent + ".fig-svg{font-family:" + getComputedStyle(document.body).fontFamily + "}";
  svg.insertBefore(style, svg.firstChild);
  all('[lang="' + (root.dataset.lang === "zh" ? "en" : "zh-CN") + '"]', svg).forEach(function (hidden) { hidden.remove(); });
  svg.removeAttribute("aria-labelledby");
  svg.removeAttribute("aria-describedby");
  if (theme) svg.setAttribute("data-theme", theme);
  return new XMLSerializer().serializeToString(svg);
}
all("[data-svg]").forEach(function (button) {
  button.addEventListener("click", function () {
    var id = button.dataset.svg;
    save(fileName(document.getElementById(id + "-title"), ".svg"), "image/svg+xml", '<?xml version="1.0" encoding="UTF-8"?>\n' + standalone(id));
  });
});
all("[data-png]").forEach(function (button) {
  button.addEventListener("click", function () {
    var id = button.dataset.png, svg = document.getElementById(id + "-svg"), box = svg.viewBox.baseVal;
    var image = new Image(), url = URL.createObjectURL(new Blob([standalone(id)], { type: "image/svg+xml" }));
    image.onload = function () {
      var canvas = element("canvas", { width: 2 * box.width, height: 2 * box.height }), context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(document.body).backgroundColor;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(url);
      canvas.toBlob(function (blob) { save(fileName(document.getElementById(id + "-title"), ".png"), "image/png", blob); });
    };
    image.src = url;
  });
});

/* cards at marks, by pointer and by keyboard */
var card = document.getElementById("card");
function line(list, key, value) {
  if (value === null || value === undefined || value === "") return;
  list.append(element("dt", {}, [typeof key === "string" ? word(key) : key]), element("dd", {}, [typeof value === "string" || typeof value === "number" ? String(value) : value]));
}
function caseTitle(found) {
  return found.framework + (found.xla ? " · XLA" : "") + " · " + found.nodes + "×" + found.devices / found.nodes + " · " + found.precision;
}
function describe(id) {
  var found = cases[id], list = element("dl");
  if (!found) return null;
  var head = element("p", {}, [caseTitle(found)]), value = element("p", {}, [element("strong", {}, [(found.text || "–") + " " + (found.unit || "")])]);
  line(list, "interval", found.interval);
  line(list, document.createTextNode("n"), found.n);
  line(list, "speedup", found.speedup);
  line(list, "efficiency", found.efficiency && found.base > 1 ? found.efficiency + " (÷ " + found.base + ")" : found.efficiency);
  line(list, "batch", found.batch);
  line(list, "origin", word("origin." + found.origin));
  var made = element("div", {}, [head, value, list]);
  if (found.partial) made.append(element("p", { class: "hint" }, ["◐ ", word("partial")]));
  made.append(element("p", { class: "hint" }, [word("hint")]));
  return made;
}
function showCard(mark) {
  var made = describe(mark.dataset.ref);
  if (!made) return;
  card.replaceChildren(made);
  card.hidden = false;
  var box = mark.getBoundingClientRect(), width = card.offsetWidth, height = card.offsetHeight;
  var left = Math.min(Math.max(8, box.right + 12), innerWidth - width - 8);
  if (left < box.right && box.left - width - 12 > 8) left = box.left - width - 12;
  card.style.left = left + "px";
  card.style.top = Math.min(Math.max(8, box.top - height / 2), innerHeight - height - 8) + "px";
}
function hideCard() { card.hidden = true; }
all(".fig-svg").forEach(function (svg) {
  var marks = all(".mark[data-ref]", svg).filter(function (mark) { return mark.dataset.ref in cases; });
  if (!marks.length) return;
  svg.setAttribute("role", "group");
  marks.forEach(function (mark, place) {
    var found = cases[mark.dataset.ref];
    mark.setAttribute("tabindex", place ? "-1" : "0");
    mark.setAttribute("role", "button");
    mark.setAttribute("aria-label", caseTitle(found) + " " + (found.text || "") + " " + (found.unit || ""));
    mark.addEventListener("pointerenter", function () { showCard(mark); });
    mark.addEventListener("pointerleave", hideCard);
    mark.addEventListener("focus", function () { showCard(mark); });
    mark.addEventListener("blur", hideCard);
    mark.addEventListener("click", function () { pin(mark.dataset.ref); });
    mark.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) { move(marks, place, step); event.preventDefault(); }
      else if (event.key === "Enter" || event.key === " ") { pin(mark.dataset.ref); event.preventDefault(); }
      else if (event.key === "Escape") hideCard();
    });
  });
});
function move(marks, place, step) {
  var next = marks[(place + step + marks.length) % marks.length];
  marks[place].setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
addEventListener("scroll", function () {
  var focused = document.activeElement;
  if (focused && focused.matches(".mark")) showCard(focused); else hideCard();
}, { passive: true });
all(".fig-legend li[data-series]").forEach(function (entry) {
  var figure = document.getElementById(entry.parentNode.dataset.legend), svg = figure && one(".fig-svg", figure);
  if (!svg) return;
  function pick(on) {
    svg.classList.toggle("is-picking", on);
    all("[data-series]", svg).forEach(function (part) { part.classList.toggle("is-picked", on && part.dataset.series === entry.dataset.series); });
  }
  entry.addEventListener("pointerenter", function () { pick(true); });
  entry.addEventListener("pointerleave", function () { pick(false); });
});

/* two pinned marks: their ratio, and whether it is more than noise (REPORT.md §4) */
var pins = [], panel = null;
function pin(id) {
  if (!(id in cases)) return;
  pins = pins.indexOf(id) >= 0 ? pins.filter(function (other) { return other !== id; }) : pins.concat(id).slice(-2);
  all(".mark.is-pinned").forEach(function (mark) { mark.classList.remove("is-pinned"); });
  pins.forEach(function (pinned) { all('.mark[data-ref="' + pinned + '"]').forEach(function (mark) { mark.classList.add("is-pinned"); }); });
  showPins();
  remember({ pins: pins.join(",") });
}
function showPins() {
  if (panel) panel.remove();
  panel = null;
  if (!pins.length) return;
  var list = element("ol");
  pins.forEach(function (id) {
    var found = cases[id];
    list.append(element("li", {}, [caseTitle(found) + ": " + found.text + " " + found.unit + " ", element("a", { href: "#" + id }, [word("receipt")])]));
  });
  var clear = element("button", { type: "button" }, [word("unpin")]);
  clear.addEventListener("click", function () { pins.slice().forEach(pin); });
  panel = element("aside", { class: "pins", role: "status" }, [element("p", {}, [element("strong", {}, [word("pins")])]), list]);
  if (pins.length === 2) compare(panel, cases[pins[0]], cases[pins[1]]);
  else panel.append(element("p", { class: "soft" }, [word("hint")]));
  panel.append(clear);
  document.body.append(panel);
}
function compare(panel, a, b) {
  if (a.unit !== b.unit) { panel.append(element("p", {}, [word("unlike")])); return; }
  panel.append(element("p", { class: "ratio" }, [word("ratio"), " " + (a.value / b.value).toFixed(2) + "x"]));
  var key = a.fair !== b.fair ? "unlike" : differ(a, b);
  panel.append(element("p", {}, [word(key)]));
}
function differ(a, b) {
  if (a.partial || b.partial || Math.min(a.values.length, b.values.length) < 5) return "too_few";
  var apart = Math.max.apply(null, a.values) < Math.min.apply(null, b.values) || Math.max.apply(null, b.values) < Math.min.apply(null, a.values);
  return apart || permutation(a.values, b.values) < 0.05 ? "significant" : "not_significant";
}
function permutation(a, b) {
  var pooled = a.concat(b), total = pooled.reduce(function (sum, value) { return sum + value; }, 0), splits = 0, far = 0;
  var seen = Math.abs(mean(a) - mean(b)), slack = 1e-12 * Math.max.apply(null, pooled.map(Math.abs));
  if (pooled.length > 16) return 1;
  (function choose(start, left, sum) {
    if (!left) { splits++; if (Math.abs(sum / a.length - (total - sum) / b.length) >= seen - slack) far++; return; }
    for (var i = start; i <= pooled.length - left; i++) choose(i + 1, left - 1, sum + pooled[i]);
  })(0, a.length, 0);
  return far / splits;
}
function mean(values) { return values.reduce(function (sum, value) { return sum + value; }, 0) / values.length; }

/* printing: nothing stays folded */
var folded = [];
addEventListener("beforeprint", function () {
  folded = all("details:not([open])");
  folded.forEach(function (details) { details.open = true; });
});
addEventListener("afterprint", function () { folded.forEach(function (details) { details.open = false; }); });

/* the address when the page comes up, and when it changes */
function load(first) {
  var found = readAddress();
  state = Object.assign(first ? {} : { lang: state.lang, theme: state.theme }, found);
  if (found.lang && found.lang !== root.dataset.lang && document.getElementById("lang-" + found.lang)) {
    document.getElementById("lang-" + found.lang).checked = true;
    setLanguage(found.lang);
  }
  setFilter(found);
  setViews(found);
  if (form && Object.keys(found).some(function (key) { return one('fieldset[data-axis="' + key + '"]', form) || key === "from" || key === "to"; }) || !first) applyFilter();
  pins = [];
  (found.pins || "").split(",").forEach(function (id) { if (id in cases && pins.indexOf(id) < 0) pin(id); });
  if (found.at) goTo(found.at, first);
}
document.title = one("title").dataset[root.dataset.lang] || document.title;
load(true);
root.classList.add("ready");
})();
