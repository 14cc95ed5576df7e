"use strict";
/* dashboard.js - which view is shown, the stream, the keyboard, and who is logged in. */

const main = document.getElementById("main"), state = document.getElementById("state");
const login = document.getElementById("login");
const RETRY_MS = 2000, REDRAW_MS = 250;
let update = null, redraw = 0;

const ROUTES = [
  [/^#?\/?$/, clusterView], [/^#\/queue$/, queueView], [/^#\/decisions$/, decisionsView], [/^#\/node\/([^/]+)$/, nodeView],
  [/^#\/pod\/([^/]+)\/([^/]+)$/, podView], [/^#\/what-if(?:\/([a-z0-9]+)\/([^/]+)(?:\/([^/]+))?)?$/, whatIfView],
];

function part(text) {
  try { return text === undefined ? undefined : decodeURIComponent(text); } catch { return text; }
}

function go() {
  const found = ROUTES.find(([pattern]) => pattern.test(location.hash)) || ROUTES[0];
  const parts = (found[0].exec(location.hash) || []).slice(1).map(part);
  main.replaceChildren();
  update = null;
  if (model.isLive) {
    update = found[1](main, ...parts);
    draw();
  } else {
    main.append(el("p.card.muted", null, "Waiting for the scheduler…"));
  }
  for (const a of document.querySelectorAll("#nav a"))
    if (a.getAttribute("href") === "#/" + (location.hash.split("/")[1] || "")) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  const heading = main.querySelector("h1");
  document.title = (heading ? heading.textContent + " · " : "") + "berth";
}

function draw() {
  redraw = 0;
  if (update) update();
  model.moved.clear();
  const waits = model.queue ? model.queue.active + model.queue.backoff + model.queue.unschedulable : 0;
  document.getElementById("nav-queue").textContent = waits ? say.count(waits) : "";
}

function changed() {
  if (!state.classList.contains("live")) { state.classList.add("live"); state.textContent = "live"; }
  if (!update) go();
  else if (!redraw) redraw = setTimeout(draw, REDRAW_MS);
}

function lost(text) {
  state.classList.remove("live");
  state.textContent = text;
}

function askWho(message) {
  document.getElementById("login-error").textContent = sessionStorage.getItem(TOKEN) ? message : "";
  if (!login.open) login.showModal();
}

async function run() {
  for (;;) {
    try {
      await follow(changed);
      lost("connecting again");
    } catch (e) {
      lost(e.status ? e.message : "connecting again");
      if (e.status === 401 || e.status === 403) { askWho(e.message); return; }
    }
    await new Promise(done => setTimeout(done, RETRY_MS));
  }
}

document.getElementById("login-form").addEventListener("submit", () => {
  sessionStorage.setItem(TOKEN, document.getElementById("login-token").value.trim());
  document.getElementById("login-token").value = "";
  run();
});

const search = document.getElementById("search-text");
search.addEventListener("input", () => {
  const found = [...model.byName.keys()].filter(name => name.includes(search.value)).slice(0, 20);
  document.getElementById("search-names").replaceChildren(...found.map(value => el("option", { value })));
});
document.getElementById("search").addEventListener("submit", e => {
  e.preventDefault();
  const text = search.value.trim(), slash = text.indexOf("/");
  if (model.byName.has(text) || slash < 0) location.hash = path.node(text);
  else location.hash = path.pod(text.slice(0, slash), text.slice(slash + 1));
});

const KEYS = { c: "#/", q: "#/queue", d: "#/decisions", w: "#/what-if" };
document.addEventListener("keydown", e => {
  if (e.target.matches("input, select, textarea") || e.ctrlKey || e.metaKey || e.altKey || login.open) return;
  if (e.key === "/") { e.preventDefault(); search.focus(); }
  else if (KEYS[e.key]) location.hash = KEYS[e.key];
});

window.addEventListener("hashchange", () => { go(); main.focus({ preventScroll: true }); window.scrollTo(0, 0); });
go();
run();
