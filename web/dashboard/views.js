"use strict";
/* views.js - what the page shows. A view is made once when it is gone to, and gets update() whenever the stream told something. */

const tag = outcome => el("span.tag." + OUTCOMES[outcome][1], null, OUTCOMES[outcome][0]);
const fact = (title, value, more) => el("div.fact", null, el("dt", null, title), el("dd", null, value, more ? el("small", null, more) : null));

/* ---- The cluster ---- */

const MEASURES = {
  cpu: ["CPU requested", n => n.cpu > 0 ? n.cpuUsed / n.cpu : 0],
  memory: ["memory requested", n => n.memory > 0 ? n.memoryUsed / n.memory : 0],
  pods: ["pods", n => n.pods > 0 ? n.podsUsed / n.pods : 0],
};
const MANY = 400; // nodes, from which on tiles are small

function nodeText(n) {
  const words = [n.name, "CPU " + say.share(n.cpuUsed, n.cpu), "memory " + say.share(n.memoryUsed, n.memory), n.podsUsed + " pods"];
  if (n.cordoned) words.push("cordoned");
  if (isBroken(n)) words.push("not ready");
  return words.join(", ");
}

class Tiles {
  constructor() {
    this.measure = "cpu"; this.filter = ""; this.shape = -1; this.tiles = new Map();
    this.box = el("div", { role: "group", "aria-label": "Nodes by zone. Arrow keys move from one to the next." });
    this.box.addEventListener("keydown", e => this.move(e));
    this.box.addEventListener("focusin", e => { if (e.target.matches(".tile")) this.rove(e.target); });
  }
  paint(node, tile) {
    const use = Math.max(0, Math.min(10, Math.floor(MEASURES[this.measure][1](node) * 10)));
    tile.className = "tile u" + use + (node.cordoned ? " cordoned" : "") + (isBroken(node) ? " broken" : "");
    tile.setAttribute("aria-label", nodeText(node));
    tile.title = nodeText(node);
  }
  isShown(n) {
    const f = this.filter;
    return !f || n.name.includes(f) || n.zone.includes(f) || (f === "cordoned" && n.cordoned) || n.taints.some(t => t.includes(f));
  }
  build() {
    const zones = new Map();
    for (const n of model.nodes.values()) {
      if (!this.isShown(n)) continue;
      if (!zones.has(n.zone)) zones.set(n.zone, []);
      zones.get(n.zone).push(n);
    }
    this.tiles.clear();
    const many = model.nodes.size > MANY ? ".many" : "";
    this.box.replaceChildren(...[...zones].sort(([a], [b]) => a < b ? -1 : 1).map(([zone, nodes]) => {
      nodes.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
      return el("section.zone", null, el("h3", null, zone || "no zone", " · ", say.count(nodes.length)),
        el("div.tiles" + many, null, nodes.map(n => {
          const tile = el("a.tile", { href: path.node(n.name), tabindex: -1 });
          this.tiles.set(n.row, tile);
          this.paint(n, tile);
          return tile;
        })));
    }));
    if (!this.tiles.size) this.box.append(el("p.muted", null, model.nodes.size ? "No node is called that." : "There are no nodes."));
    const first = this.box.querySelector(".tile");
    if (first) first.tabIndex = 0;
    this.shape = model.shape;
  }
  rove(tile) {
    for (const other of this.box.querySelectorAll('.tile[tabindex="0"]')) other.tabIndex = -1;
    tile.tabIndex = 0;
  }
  move(e) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[e.key];
    if (!step || !e.target.matches(".tile")) return;
    const all = [...this.box.querySelectorAll(".tile")], to = all[all.indexOf(e.target) + step];
    e.preventDefault();
    if (to) to.focus();
  }
  update() {
    if (this.shape !== model.shape) this.build();
    else for (const row of model.moved) if (this.tiles.has(row)) this.paint(model.nodes.get(row), this.tiles.get(row));
  }
}

function chart() {
  const points = [...model.history.values()], w = 720, h = 120, top = Math.max(1, ...points.map(p => p.placed + p.failed));
  const width = w / 360, begin = model.time / 1000 - 3600;
  const bars = points.flatMap(p => {
    const x = Math.max(0, (p.time - begin) / 3600 * w), placed = p.placed / top * (h - 20), failed = p.failed / top * (h - 20);
    return [svg("rect", { class: "placed", x, y: h - placed, width: width * .85, height: placed }),
            svg("rect", { class: "failed", x, y: h - placed - failed, width: width * .85, height: failed })];
  });
  const title = svg("title", {});
  title.textContent = "Attempts in the last hour, one bar for ten seconds; at most " + top;
  const drawn = svg("svg", { class: "chart", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": title.textContent, preserveAspectRatio: "none" }, title, ...bars);
  return el("div", null, drawn, el("p.axis.muted", null, el("span", null, "an hour ago"), el("span", null, "at most " + say.count(top / 10) + " a second"), el("span", null, "now")));
}

function clusterView(main) {
  const facts = el("dl.facts"), tiles = new Tiles(), graph = el("div"), latest = el("div");
  const filter = el("input", { type: "search", placeholder: "name, zone, taint", "aria-label": "Show nodes with", oninput: e => { tiles.filter = e.target.value.trim(); tiles.build(); } });
  const measure = el("select", { "aria-label": "Colour by", onchange: e => { tiles.measure = e.target.value; tiles.build(); } },
    Object.entries(MEASURES).map(([key, [text]]) => el("option", { value: key }, text)));
  main.append(el("h1.hidden", null, "Cluster"), facts,
    el("section.card", null, el("div.row", null, el("h2", null, "Nodes"), el("div.filters", null, measure, filter),
      el("span.legend", null, "0 %", [...Array(11).keys()].map(i => el("i.u" + i)), "100 %")), tiles.box),
    el("div.columns", null,
      el("section.card", null, el("div.row", null, el("h2", null, "Latest decisions"), el("a", { href: "#/decisions" }, "all")), latest),
      el("section.card", null, el("div.row", null, el("h2", null, "Throughput"), el("span.legend", null, el("i.u7"), "placed ", el("i.u10"), "failed")), graph)));
  return () => {
    const t = totals(), q = model.queue;
    facts.replaceChildren(
      fact("Nodes", say.count(t.nodes), [t.broken && t.broken + " not ready", t.cordoned && t.cordoned + " cordoned"].filter(Boolean).join(", ") || "all in service"),
      fact("Pods on nodes", say.count(t.podsUsed), "room for " + say.count(t.pods)),
      fact("CPU requested", say.share(t.cpuUsed, t.cpu), say.cpu(t.cpuUsed) + " of " + say.cpu(t.cpu)),
      fact("Memory requested", say.share(t.memoryUsed, t.memory), say.bytes(t.memoryUsed) + " of " + say.bytes(t.memory)),
      fact("Waiting", say.count(q.active + q.backoff + q.unschedulable + q.gated), q.unschedulable + " fit nowhere, " + q.gated + " gated"),
      fact("Placed", say.count(model.counts.placed), rate().toFixed(rate() < 10 ? 1 : 0) + " a second"));
    tiles.update();
    graph.replaceChildren(chart());
    latest.replaceChildren(decisionTable(model.decisions.slice(0, 8), true));
  };
}

/* ---- Queue and decisions ---- */

function queueView(main) {
  const facts = el("dl.facts"), box = el("section.card");
  main.append(el("h1", null, "Queue"), facts, box);
  return () => {
    const q = model.queue, pods = q.longest.slice().sort((a, b) => b[3] - a[3]);
    facts.replaceChildren(fact("Active", say.count(q.active), "tried next"), fact("Backoff", say.count(q.backoff), "tried again soon"),
      fact("Unschedulable", say.count(q.unschedulable), "wait for a change"), fact("Gated", say.count(q.gated), "not to be tried yet"), fact("In flight", say.count(q.inFlight), "being placed"));
    const total = q.active + q.backoff + q.unschedulable + q.gated;
    box.replaceChildren(el("div.row", null, el("h2", null, "Waiting longest"), el("span.muted", null, say.count(pods.length) + " of " + say.count(total))),
      pods.length ? table("Pods that wait", [["Pod"], ["State"], ["Age", "n"], ["Attempts", "n"], ["Priority", "n"], ["CPU", "n"], ["Memory", "n"]],
        pods.map(([ns, name, place, age, attempts, priority, cpu, memory]) => [link.pod(ns, name),
          el("span.tag" + (place === "active" ? ".good" : ".warm"), null, place), say.age(age), attempts, priority, say.cpu(cpu), say.bytes(memory)]))
        : el("p.muted", null, "Nobody waits."));
  };
}

function decisionTable(list, short) {
  if (!list.length) return el("p.muted", null, "Nothing was decided yet.");
  const columns = [["Time"], ["Pod"], ["Outcome"], ["Node"], ["Score", "n"]].concat(short ? [] : [["Fit", "n"], ["Attempt", "n"], ["Message"]]);
  return table("Decisions", columns, list.map(d => [say.clock(d.time), link.pod(d.ns, d.name), tag(d.outcome), d.node ? link.node(d.node) : "–", d.score === null ? "–" : d.score]
    .concat(short ? [] : [d.feasible, d.attempt, d.message || ""])));
}

function decisionsView(main) {
  const box = el("section.card");
  let paused = false, outcome = "";
  const pause = el("button", { "aria-pressed": "false", onclick: () => { paused = !paused; pause.setAttribute("aria-pressed", paused); pause.textContent = paused ? "Go on" : "Pause"; update(); } }, "Pause");
  const which = el("select", { "aria-label": "Outcome", onchange: e => { outcome = e.target.value; update(true); } },
    el("option", { value: "" }, "all outcomes"), OUTCOMES.map(([text], i) => el("option", { value: i }, text)));
  main.append(el("div.row", null, el("h1", null, "Decisions"), el("div.filters", null, which, pause)), box);
  let newest = -1;
  function update(force) {
    const first = model.decisions.length ? model.decisions[0].sequence : 0;
    if (!force && (paused || first === newest)) return;
    newest = first;
    box.replaceChildren(decisionTable(model.decisions.filter(d => outcome === "" || d.outcome === Number(outcome)).slice(0, 200), false));
  }
  return update;
}

/* ---- A node ---- */

function meter(title, kind, used, all, text) {
  return el("div", null, el("p", null, el("span", null, title), el("span.muted", null, text(used) + " of " + text(all))), bar(kind, used, all));
}

/* Waiting pods whose requests are not more than what is free: the other reasons are in their explanations. */
function waitingThatFit(n) {
  return model.queue.longest.filter(([, , , , , , cpu, memory]) => cpu <= n.cpu - n.cpuUsed && memory <= n.memory - n.memoryUsed && n.podsUsed < n.pods);
}

function nodeView(main, name) {
  const head = el("div"), meters = el("section.card.meters"), pods = el("section.card"), fits = el("section.card"), labels = el("section.card");
  main.append(el("h1", null, name), head, el("div.columns", null, el("div.stack", null, pods), el("div.stack", null, meters, fits, labels)));
  let shown = "", busy = false;
  async function load(n) {
    busy = true;
    try {
      const view = await questions.node(name);
      const list = view.pods.sort((a, b) => b[2] - a[2]);
      pods.replaceChildren(el("div.row", null, el("h2", null, "Pods here"), el("span.muted", null, say.count(n.podsUsed))),
        list.length ? table("Pods on " + name, [["Pod"], ["From"], ["CPU", "n"], ["Memory", "n"], ["Priority", "n"]],
          list.map(([ns, pod, cpu, memory, priority, owner]) => [link.pod(ns, pod), owner || "–", say.cpu(cpu), say.bytes(memory), priority])) : el("p.muted", null, "None."));
      labels.replaceChildren(el("h2", null, "Labels"), el("ul.plain", null, Object.entries(view.labels).map(([k, v]) => el("li", null, el("code", null, k + "=" + v)))));
    } catch (e) { pods.replaceChildren(el("p.bad", null, e.message)); }
    busy = false;
  }
  return () => {
    const n = model.byName.get(name);
    if (!n) { head.replaceChildren(el("p.lead", null, "There is no node of that name now.")); return; }
    const state = [n.zone || "no zone", n.cordoned ? "cordoned" : "takes pods", ...n.taints.map(t => "taint " + t)].join(" · ");
    if (head.textContent !== state + "What if it were drained?")
      head.replaceChildren(el("p.lead", null, state), el("a", { href: "#/what-if/drain/" + encodeURIComponent(name) }, "What if it were drained?"));
    meters.replaceChildren(meter("CPU requested", "", n.cpuUsed, n.cpu, say.cpu), meter("Memory requested", "memory", n.memoryUsed, n.memory, say.bytes), meter("Pods", "", n.podsUsed, n.pods, say.count));
    const possible = waitingThatFit(n);
    fits.replaceChildren(el("h2", null, "Waiting pods with room here, by their requests"),
      possible.length ? el("p", null, possible.slice(0, 20).flatMap(([ns, pod]) => [link.pod(ns, pod), " "])) : el("p.muted", null, "None."));
    const now = [n.podsUsed, n.cpuUsed, n.memoryUsed, n.cordoned].join();
    if (now !== shown && !busy) { shown = now; load(n); }
  };
}

/* ---- A pod ---- */

function verdict(x) {
  if (x.node) return ["runs on ", link.node(x.node)];
  if (x.notTried) return ["is not tried: " + x.notTried.reason];
  if (x.chosen) return ["would go to ", link.node(x.chosen)];
  return ["fits on no node"];
}

function comparedTable(x) {
  const plugins = x.plugins.filter(p => !p.skipped);
  return table("Nodes that fit, best first", [["Node"], ["Total", "n"], ...plugins.map(p => [p.name, "n"])],
    x.compared.slice(0, 50).map(c => [link.node(c.name), c.total === null ? "–" : c.total, ...plugins.map(p => c.scores[p.name] ?? 0)]),
    i => x.compared[i].name === (x.node || x.chosen) ? "best" : "");
}

function explanation(x) {
  const parts = [];
  if (x.remedies && x.remedies.length)
    parts.push(el("section.card", null, el("h2", null, "What would place it"), el("ul.remedies", null, x.remedies.map(r => el("li", null, r.text)))));
  if (x.message) parts.push(el("section.card", null, el("h2", null, "What the scheduler says"), el("p", null, x.message)));
  if (x.compared.length) parts.push(el("section.card", null, el("div.row", null, el("h2", null, "Nodes that fit"), el("span.muted", null, say.count(x.summary.compared) + " compared")), comparedTable(x)));
  if (x.reasons.length)
    parts.push(el("section.card", null, el("div.row", null, el("h2", null, "Why the others do not"), el("span.muted", null, say.count(x.summary.refused) + " of " + say.count(x.summary.nodes) + " nodes")),
      table("Reasons", [["Nodes", "n"], ["Reason"], ["Plugin"]], x.reasons.map(r => [say.count(r.count), r.reason, r.plugin || "–"]))));
  return parts;
}

function podView(main, ns, name) {
  const box = el("div.stack#explanation"), lead = el("p.lead");
  const again = el("button", { onclick: () => load() }, "Ask again");
  main.append(el("div.row", null, el("h1", null, ns + "/" + name), el("div.filters", null, again, el("a", { href: "#/what-if/pod/" + encodeURIComponent(ns) + "/" + encodeURIComponent(name) }, "What if…"))), lead, box);
  async function load() {
    try {
      const x = await questions.explain(ns, name);
      lead.replaceChildren(...verdict(x).map(v => v instanceof Node ? v : document.createTextNode(v)), x.pod.owner ? " · " + x.pod.owner : "", " · priority " + x.pod.priority);
      box.replaceChildren(...explanation(x));
    } catch (e) { lead.textContent = e.message; box.replaceChildren(); }
  }
  load();
  return () => {};
}

/* ---- What if ---- */

const CHANGES = {
  drain: ["drain a node", node => ({ drain: node })],
  cordon: ["cordon a node", node => ({ node: { name: node, cordoned: true } })],
  uncordon: ["uncordon a node", node => ({ node: { name: node, cordoned: false } })],
  remove: ["remove a node", node => ({ removeNode: node })],
  add: ["one more node like", node => ({ addNodes: { like: node, count: 1 } })],
  add10: ["ten more nodes like", node => ({ addNodes: { like: node, count: 10 } })],
};

function side(title, s) {
  return el("div", null, el("h3", null, title), s.places ? el("p.good", null, "goes to ", link.node(s.node)) : el("p.bad", null, "fits nowhere"),
    el("p.muted", null, say.count(s.feasible) + " of " + say.count(s.nodes) + " nodes fit"), s.message ? el("p", null, s.message) : null,
    s.wouldPreemptOn ? el("p.warm", null, "would evict " + s.victims + " on " + s.wouldPreemptOn) : null);
}

function answerText(d) {
  if (d.places === "gained") return "Then it finds a node.";
  if (d.places === "lost") return "Then it finds none any more.";
  return d.sameNode ? "Nothing changes for this pod." : "It goes to another node.";
}

function whatIfView(main, kind, a, b) {
  const pod = el("input", { required: true, placeholder: "namespace/name", spellcheck: "false", value: kind === "pod" ? a + "/" + b : null });
  const change = el("select", null, Object.entries(CHANGES).map(([key, [text]]) => el("option", { value: key, selected: kind === key }, text)));
  const node = el("input", { placeholder: "node", spellcheck: "false", list: "search-names", value: kind && kind !== "pod" ? a : null });
  const cpu = el("input", { placeholder: "as it is", spellcheck: "false" }), memory = el("input", { placeholder: "as it is", spellcheck: "false" });
  const answer = el("section.card", { "aria-live": "polite" }, el("p.muted", null, "Nothing is changed by a question: the scheduler answers on its own state and goes on as if nobody had asked."));
  async function submit(e) {
    e.preventDefault();
    const changes = [], requests = {};
    if (node.value.trim()) changes.push(CHANGES[change.value][1](node.value.trim()));
    if (cpu.value.trim()) requests.cpu = cpu.value.trim();
    if (memory.value.trim()) requests.memory = memory.value.trim();
    if (Object.keys(requests).length) changes.push({ pod: { requests } });
    try {
      const x = await questions.whatIf({ pod: pod.value.trim(), changes });
      const d = x.difference;
      answer.replaceChildren(el("h2", null, answerText(d)), el("div.versus", null, side("Now", x.now), side("Then", x.then)),
        el("p.muted", null, `${say.count(d.fitsCount)} more nodes fit, ${say.count(d.fitsNoMoreCount)} fit no more; ${say.count(x.podsLifted)} pods leave their nodes.`));
    } catch (e) { answer.replaceChildren(el("p.bad", null, e.message)); }
  }
  main.append(el("h1", null, "What if"), el("section.card", null, el("form.form", { onsubmit: submit }, el("label", null, "Pod", pod), el("label", null, "Change", change), el("label", null, "Node", node),
    el("label", null, "CPU of the pod", cpu), el("label", null, "Memory of the pod", memory), el("button.main", { type: "submit" }, "Ask"))), answer);
  return () => {};
}
