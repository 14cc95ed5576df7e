"use strict";
/* tools.js - making elements, and saying amounts. What comes from a cluster only ever becomes text, never markup. */

/* el("p.lead#x", {title: ..., onclick: f}, child, "text", ...); null children are left out. */
function el(what, attributes, ...children) {
  const [, tag, rest] = /^([a-z0-9]+)(.*)$/.exec(what);
  const node = document.createElement(tag);
  for (const part of rest.match(/[.#][^.#]+/g) || []) {
    if (part[0] === "#") node.id = part.slice(1);
    else node.classList.add(part.slice(1));
  }
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(c => c !== null && c !== undefined).map(c => c instanceof Node ? c : String(c)));
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const number = new Intl.NumberFormat("en");
const say = {
  count: n => number.format(n),
  cpu: milli => milli % 1000 ? (milli / 1000).toFixed(milli < 10000 ? 2 : 1) : number.format(milli / 1000),
  bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let i = 0;
    while (Math.abs(n) >= 1024 && i < units.length - 1) { n /= 1024; i++; }
    return (n >= 100 || Number.isInteger(n) ? Math.round(n) : n.toFixed(1)) + " " + units[i];
  },
  share: (part, whole) => whole > 0 ? Math.round(100 * part / whole) + " %" : "–",
  age(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 120) return s + " s";
    if (s < 7200) return Math.floor(s / 60) + " min";
    if (s < 172800) return Math.floor(s / 3600) + " h";
    return Math.floor(s / 86400) + " d";
  },
  clock: ms => new Date(ms).toTimeString().slice(0, 8),
};

const path = {
  node: name => "#/node/" + encodeURIComponent(name),
  pod: (ns, name) => "#/pod/" + encodeURIComponent(ns) + "/" + encodeURIComponent(name),
};
const link = {
  node: name => el("a.id", { href: path.node(name) }, name),
  pod: (ns, name) => el("a.id", { href: path.pod(ns, name) }, ns + "/" + name),
};

/* Columns: [title, "n" for numbers]. Rows: lists of texts and elements, or of a class and those. */
function table(caption, columns, rows, rowClass) {
  return el("div.scroll", { tabindex: 0, role: "region", "aria-label": caption },
    el("table", null, el("caption.hidden", null, caption),
      el("thead", null, el("tr", null, columns.map(([title, kind]) => el(kind ? "th." + kind : "th", { scope: "col" }, title)))),
      el("tbody", null, rows.map((cells, i) => el("tr" + (rowClass && rowClass(i) ? "." + rowClass(i) : ""), null,
        cells.map((cell, k) => el(columns[k][1] ? "td." + columns[k][1] : "td", null, cell)))))));
}

function bar(kind, part, whole) {
  const fill = el("i");
  fill.style.width = Math.min(100, whole > 0 ? 100 * part / whole : 0) + "%";
  return el("div.bar" + (kind ? "." + kind : ""), null, fill);
}
