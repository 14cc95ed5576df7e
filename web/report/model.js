'use strict';
/* model.js - the data of the page, and what is computed from it before anything is drawn.
 *
 * The data block is the document of `berth simulate -o json` in columns (src/sim/report_page.c):
 * data.nodes.name[i], data.nodes.after.cpuMilli[i], data.pods.name[i]; namespaces, owners, messages and
 * zones are indexes into lists of texts. Names and messages are hostile: they only ever become text
 * nodes and attribute values (el, svg below), never markup. */

const data = JSON.parse(document.getElementById('data').textContent);
const nodes = data.nodes;
const pods = data.pods;

/* ---- Elements ---- */

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/* ---- Numbers for people ---- */

const integer = new Intl.NumberFormat('en');
const decimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const count = (n, one, many) => `${integer.format(n)} ${n === 1 ? one : many || one + 's'}`;
const share = (part, whole) => (whole > 0 ? part / whole : 0);
const percent = (fraction) => `${integer.format(Math.round(fraction * 100))}%`;
const cores = (milli) => (milli && milli < 1000 ? `${integer.format(milli)}m` : decimal.format(milli / 1000));

function bytes(n) {
  if (!n) return '0';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${decimal.format(n)} ${units[unit]}`;
}

function duration(seconds) {
  if (seconds < 60) return `${decimal.format(seconds)} s`;
  if (seconds < 3600) return `${decimal.format(seconds / 60)} min`;
  if (seconds < 172800) return `${decimal.format(seconds / 3600)} h`;
  return `${decimal.format(seconds / 86400)} days`;
}

/* ---- Resources ---- */

const RESOURCES = [
  {
    key: 'cpuMilli',
    label: 'CPU',
    amount: (milli) => `${cores(milli)}${milli && milli < 1000 ? '' : milli === 1000 ? ' core' : ' cores'}`,
  },
  { key: 'memoryBytes', label: 'Memory', amount: bytes },
  { key: 'pods', label: 'Pods', amount: (n) => integer.format(n) },
];

/* A node in the form that zones have. */
function nodeAmounts(i) {
  const at = (columns) => ({
    cpuMilli: columns.cpuMilli[i],
    memoryBytes: columns.memoryBytes[i],
    pods: columns.pods[i],
  });
  return { allocatable: at(nodes.allocatable), before: at(nodes.before), after: at(nodes.after) };
}

const nodeShare = (i, key, when) => share(nodes[when][key][i], nodes.allocatable[key][i]);
const fullness = (i) => Math.max(nodeShare(i, 'cpuMilli', 'after'), nodeShare(i, 'memoryBytes', 'after'));
const zoneName = (zone) => zone || 'no zone';

/* ---- Pods ---- */

/* Rows stand in this order, data.pods.counts of each. */
const STATES = [
  { key: 'pending', label: 'Pending' },
  { key: 'preempted', label: 'Preempted' },
  { key: 'placed', label: 'Placed' },
  { key: 'running', label: 'Running' },
];

const podState = new Uint8Array(pods.name.length);
{
  let at = 0;
  STATES.forEach((state, number) => {
    podState.fill(number, at, at + pods.counts[state.key]);
    at += pods.counts[state.key];
  });
}

const podNode = (i) => (pods.node[i] < 0 ? '' : nodes.name[pods.node[i]]);
const podZone = (i) => (pods.node[i] < 0 ? '' : nodes.zones[nodes.zone[pods.node[i]]]);
const podOwner = (i) => (pods.owner[i] < 0 ? '' : pods.owners[pods.owner[i]]);
/* "Deployment cart": the namespace of an owner is its pod's. */
const podOwnerShort = (i) => podOwner(i).replace(/^(\S+) [^/]*\//, '$1 ');
const podMessage = (i) => (pods.message[i] < 0 ? '' : pods.messages[pods.message[i]]);

/* ---- Why pods are pending ---- */

/* "0/9 nodes are available: 5 Insufficient cpu, 3 node(s) had untolerated taint {a: b}. preemption:
 * ..." as its reasons, each with the number of nodes; any other message is one reason without a number. */
function reasonsOf(message) {
  const fit = /^0\/\d+ nodes are available: (.*)$/s.exec(message);
  if (!fit) return [{ text: message, nodes: 0 }];
  const text = fit[1].replace(/\.(?: (?:preemption: |no new claims|still not schedulable|[a-z]).*)?$/s, '');
  return text.split(/, (?=\d+ )/).map((part) => {
    const numbered = /^(\d+) (.*)$/s.exec(part);
    return numbered ? { text: numbered[2], nodes: Number(numbered[1]) } : { text: part, nodes: 0 };
  });
}

/* One entry a reason: how many pods name it and how many nodes it rules out at most. A pod may name
 * several. */
function pendingReasons() {
  const byText = new Map();
  const perMessage = new Map();
  for (let i = 0; i < pods.counts.pending; i++)
    perMessage.set(pods.message[i], (perMessage.get(pods.message[i]) || 0) + 1);
  for (const [message, n] of perMessage) {
    for (const reason of reasonsOf(pods.messages[message])) {
      const entry = byText.get(reason.text) || { text: reason.text, pods: 0, nodes: 0 };
      entry.pods += n;
      entry.nodes = Math.max(entry.nodes, reason.nodes);
      byText.set(reason.text, entry);
    }
  }
  return [...byText.values()].sort((a, b) => b.pods - a.pods || b.nodes - a.nodes || (a.text < b.text ? -1 : 1));
}
