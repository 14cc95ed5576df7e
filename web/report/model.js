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

/* What nobody sees and what changes the order of what is around it, as escapes. */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
const visible = (text) => text.replace(HIDDEN, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, '0')}`);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : visible(String(value)));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false)
      element.append(typeof child === 'string' ? visible(child) : child);
  }
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/* ---- Numbers for people: as src/sim/amount_text.c tells them, in the same arithmetic ---- */

const integer = new Intl.NumberFormat('en');
const decimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const count = (n, one, many) => `${integer.format(n)} ${n === 1 ? one : many || one + 's'}`;
const share = (part, whole) => (whole > 0 ? part / whole : 0);
const whole = (n) => BigInt(Math.round(Number.isFinite(n) ? n : 0));

/* Whole numbers: the percents of a quotient are exact, halves go up. */
function percentOf(part, all) {
  if (!(all > 0) || !(part > 0)) return '0%';
  return `${integer.format((whole(part) * 200n + whole(all)) / (whole(all) * 2n))}%`;
}

/* A share that is no quotient of whole numbers, by its five decimals. */
const percent = (fraction) => `${integer.format(Math.floor((Math.floor(Math.max(fraction, 0) * 100000 + 0.5) + 500) / 1000))}%`;

/* "250m" below one core, else cores with all their decimals. */
function cores(milli) {
  const n = whole(milli);
  if (n < 1000n) return n ? `${n}m` : '0';
  const rest = String(n % 1000n).padStart(3, '0').replace(/0+$/, '');
  return integer.format(n / 1000n) + (rest && `.${rest}`);
}

/* One decimal in the largest unit that leaves at least 1, by the rounded number: 1023.96Mi is 1Gi. */
function bytes(amount) {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
  let unit = 0;
  const tenths = () => (whole(amount) * 10n + 1024n ** BigInt(unit) / 2n) / 1024n ** BigInt(unit);
  while (tenths() >= 10240n && unit < units.length - 1) unit++;
  const rest = tenths() % 10n;
  return `${integer.format(tenths() / 10n)}${rest ? `.${rest}` : ''}${units[unit]}`;
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

const nodePercent = (i, key, when) => percentOf(nodes[when][key][i], nodes.allocatable[key][i]);
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
