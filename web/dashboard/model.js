"use strict";
/* model.js - the cluster as the stream has told it so far, and questions to the scheduler. */

const TOKEN = "berth-token";
const DECISIONS_KEPT = 1000;
const OUTCOMES = [["placed", "good"], ["unschedulable", "warm"], ["preempting", "warm"], ["error", "bad"]];

const model = {
  nodes: new Map(),  // row -> node
  byName: new Map(), // name -> node
  moved: new Set(),  // nodes that changed since the views were drawn
  shape: 0,          // grows when nodes come, go, or change their zone
  queue: null, decisions: [], history: new Map(), counts: null, time: 0, isLive: false,
};

class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { Authorization: "Bearer " + token } : {};
}

/* A Response that is well, or Refused with the server's words. */
async function ask(target, options) {
  const response = await fetch(target, { ...options, headers: { ...headers(), ...(options && options.headers) }, cache: "no-store" });
  if (response.ok) return response;
  let message = response.statusText || String(response.status);
  try { message = (await response.json()).message || message; } catch { /* not JSON: the status says it */ }
  throw new Refused(response.status, message);
}

const questions = {
  explain: (ns, name) => ask("/berth/v1/explain?nodes=50&pod=" + encodeURIComponent(ns + "/" + name)).then(r => r.json()),
  node: name => ask("/berth/v1/node?name=" + encodeURIComponent(name)).then(r => r.json()),
  decisions: query => ask("/berth/v1/decisions?" + query).then(r => r.json()),
  whatIf: body => ask("/berth/v1/what-if", { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }).then(r => r.json()),
};

function readNode([row, name, zone, cpu, cpuUsed, memory, memoryUsed, pods, podsUsed, cordoned, taints]) {
  return { row, name, zone, cpu, cpuUsed, memory, memoryUsed, pods, podsUsed, cordoned, taints };
}

const isBroken = node => node.taints.some(t => /^node\.kubernetes\.io\/(not-ready|unreachable):/.test(t));

function dropNode(row) {
  const node = model.nodes.get(row);
  if (!node) return;
  model.nodes.delete(row);
  if (model.byName.get(node.name) === node) model.byName.delete(node.name);
  model.shape++;
}

function takeNodes(line) {
  if (line.full) { model.nodes.clear(); model.byName.clear(); model.shape++; }
  line.gone.forEach(dropNode);
  for (const cells of line.nodes) {
    const node = readNode(cells), before = model.nodes.get(node.row);
    if (before && (before.name !== node.name || before.zone !== node.zone)) dropNode(node.row);
    if (!model.nodes.has(node.row)) model.shape++;
    model.nodes.set(node.row, node);
    model.byName.set(node.name, node);
    model.moved.add(node.row);
  }
}

function takeDecisions(list) {
  const news = list.map(([sequence, time, ns, name, outcome, node, score, feasible, attempt, message]) =>
    ({ sequence, time, ns, name, outcome, node, score, feasible, attempt, message }));
  model.decisions = news.concat(model.decisions).slice(0, DECISIONS_KEPT);
}

function takeHistory(points) {
  for (const [time, placed, failed, waiting] of points) model.history.set(time, { time, placed, failed, waiting });
  while (model.history.size > 360) model.history.delete(model.history.keys().next().value);
}

function take(line) {
  takeNodes(line);
  takeDecisions(line.decisions);
  takeHistory(line.history);
  model.queue = line.queue;
  model.counts = { placed: line.placed, unschedulable: line.unschedulable, errors: line.errors, binding: line.binding, evicting: line.evicting };
  model.time = line.time;
}

/* Reads until the stream ends. `changed` is called after each line. */
async function follow(changed) {
  const response = await ask("/berth/v1/live");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  model.decisions = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const text of lines) if (text) take(JSON.parse(text));
    if (lines.length) { model.isLive = true; changed(); }
  }
}

function totals() {
  const t = { nodes: 0, cpu: 0, cpuUsed: 0, memory: 0, memoryUsed: 0, pods: 0, podsUsed: 0, cordoned: 0, broken: 0 };
  for (const n of model.nodes.values()) {
    t.nodes++; t.cpu += n.cpu; t.cpuUsed += n.cpuUsed; t.memory += n.memory; t.memoryUsed += n.memoryUsed;
    t.pods += n.pods; t.podsUsed += n.podsUsed; t.cordoned += n.cordoned; t.broken += isBroken(n);
  }
  return t;
}

/* Pods a second over the last full step. */
function rate() {
  const points = [...model.history.values()];
  const last = points[points.length - 2];
  return last ? last.placed / 10 : 0;
}
