/* report.js - the page itself, from top to bottom. */

const METER_NODES_MAX = 24; /* up to here every node has its own row of bars */
const summary = data.summary;
let podTable;

/* ---- The table of pods, and the ways into it ---- */

function dictionaryTest(texts, indexes, accept) {
  const hits = texts.map((text) => accept(folded(text)));
  return (i) => indexes[i] >= 0 && hits[indexes[i]];
}

/* Made when the first search needs them. */
let foldedNames;

function podMatcher({ field, text }) {
  const accept = field ? (candidate) => candidate === text : (candidate) => candidate.includes(text);
  foldedNames = foldedNames || pods.name.map(folded);
  const onNode = dictionaryTest(nodes.name, pods.node, accept);
  const zones = nodes.zones.map((zone) => accept(folded(zone)));
  const tests = {
    name: (i) => accept(foldedNames[i]),
    namespace: dictionaryTest(pods.namespaces, pods.namespace, accept),
    owner: dictionaryTest(pods.owners, pods.owner, accept),
    node: onNode,
    zone: (i) => pods.node[i] >= 0 && zones[nodes.zone[pods.node[i]]],
    message: dictionaryTest(pods.messages, pods.message, accept),
    state: (i) => accept(STATES[podState[i]].key),
    reason: dictionaryTest(pods.messages, pods.message, (message) => reasonsOf(message).some((r) => r.text === text)),
  };
  if (field) return tests[field];
  const all = [tests.name, tests.namespace, tests.owner, tests.node, tests.zone, tests.message];
  return (i) => all.some((test) => test(i));
}

function stateCell(i) {
  const state = STATES[podState[i]];
  return el('span', { class: `state ${state.key}` }, state.label);
}

/* The reasons; the scheduler's whole message one click away. */
function messageCell(i) {
  const message = podMessage(i);
  if (podState[i] !== 0) return message;
  const short = reasonsOf(message)
    .map((r) => (r.nodes ? `${r.nodes} ${r.text}` : r.text))
    .join(', ');
  return short === message ? message : el('details', null, el('summary', null, short), message);
}

function makePodTable() {
  const filters = [
    { label: 'All', n: pods.name.length },
    ...STATES.map((s, number) => ({ label: s.label, n: pods.counts[s.key], test: (i) => podState[i] === number })),
  ];
  return new DataTable({
    id: 'pods',
    label: 'pods',
    n: pods.name.length,
    filters,
    matcher: podMatcher,
    sort: 'state',
    fields: ['name', 'namespace', 'owner', 'node', 'zone', 'state', 'reason'],
    placeholder: 'words, "a phrase", node:name, zone:name, owner:"Kind ns/name"',
    columns: [
      { key: 'state', label: 'State', value: (i) => podState[i], cell: stateCell },
      { key: 'namespace', label: 'Namespace', value: (i) => pods.namespaces[pods.namespace[i]], kind: 'id' },
      { key: 'name', label: 'Name', value: (i) => pods.name[i], kind: 'id' },
      { key: 'owner', label: 'Owner', value: podOwner, cell: podOwnerShort, kind: 'id' },
      { key: 'node', label: 'Node', value: podNode, kind: 'id' },
      { key: 'zone', label: 'Zone', value: podZone, kind: 'id' },
      { key: 'cpu', label: 'CPU', value: (i) => pods.cpuMilli[i], cell: (i) => cores(pods.cpuMilli[i]), numeric: true },
      {
        key: 'memory',
        label: 'Memory',
        value: (i) => pods.memoryBytes[i],
        cell: (i) => bytes(pods.memoryBytes[i]),
        numeric: true,
      },
      { key: 'message', label: 'Message', value: podMessage, cell: messageCell, kind: 'message' },
    ],
  });
}

/* Lists the pods that a query and a state choose, and goes there. */
function showPods(query, state) {
  podTable.choose(state ? 1 + STATES.findIndex((s) => s.key === state) : 0);
  podTable.search(query);
  document.getElementById('pods').scrollIntoView();
  podTable.input.focus({ preventScroll: true });
}

const showNode = (i) => showPods(`node:${quoteTerm(nodes.name[i])}`);

/* ---- The top ---- */

/* Of a trace the page tells first; the pods of the cluster itself are a part of it. */
const trace = isObject(data.trace) && isObject(data.trace.pods) ? data.trace : null;

function traceHeadline() {
  const { arrived, waiting } = trace.pods;
  if (!waiting) return `All ${count(arrived, 'pod')} that arrived found a node.`;
  return `${count(arrived, 'pod')} arrived. ${waiting === 1 ? 'One still waits' : `${integer.format(waiting)} still wait`} at the end.`;
}

const whatIf = isObject(data.whatIf) ? data.whatIf : {};
const difference = isObject(whatIf.difference) && isObject(whatIf.difference.cluster) ? whatIf.difference : null;
const blocked = isObject(whatIf.drain) && Array.isArray(whatIf.drain.blocked) ? whatIf.drain.blocked.length : 0;

function pendingText() {
  if (!summary.pending) return '';
  return summary.pending === 1 ? ' One stays pending.' : ` ${integer.format(summary.pending)} stay pending.`;
}

function headline() {
  if (trace) return traceHeadline();
  if (blocked) return `The drain is blocked: ${count(blocked, 'pod')} cannot leave.${pendingText()}`;
  const wanted = summary.placed + summary.pending;
  if (!wanted) return 'No pod was waiting for a node.';
  if (!summary.pending)
    return wanted === 1 ? 'The one pod found a node.' : `All ${integer.format(wanted)} pods found a node.`;
  if (!summary.placed) return `No pod found a node.${pendingText()}`;
  return `${integer.format(summary.placed)} of ${integer.format(wanted)} pods found a node.${pendingText()}`;
}

/* The exit code is the command's own; the words say what it stands for here. */
function exitText() {
  const why = [];
  if (trace && trace.pods.waiting) why.push('some pods wait');
  if (!trace && summary.pending) why.push('some pods are pending');
  if (blocked) why.push('the drain is blocked');
  if (!why.length) why.push(trace ? 'every pod had a node' : 'every pod has a node');
  return `Exit code ${summary.exitCode}: ${why.join(' and ')}.`;
}

/* "goes from 35% to 43%", out of the numbers that the first panel below shows. */
function moveText(key) {
  const use = difference ? difference.cluster : data.cluster;
  const nothing = { cpuMilli: 0, memoryBytes: 0, pods: 0 };
  const was = percentOf((use.before || nothing)[key], (use.allocatableBefore || use.allocatable || nothing)[key]);
  const is = percentOf((use.after || nothing)[key], (use.allocatable || nothing)[key]);
  return was === is ? `stays at ${is}` : `goes from ${was} to ${is}`;
}

function lead() {
  if (trace) return `${count(summary.nodes, 'node')}, ${duration(trace.endSeconds)} of virtual time. ${exitText()}`;
  const zones = data.zones.filter((z) => z.name).length;
  return (
    `${count(summary.nodes, 'node')}${zones ? ` in ${count(zones, 'zone')}` : ''}. ` +
    `${difference ? 'Against the run without the change, requested' : 'Requested'} CPU ${moveText('cpuMilli')}, ` +
    `memory ${moveText('memoryBytes')}. ${exitText()}`
  );
}

function traceTiles() {
  const rows = [
    ['placed', 'arrived', 'Arrived', 'in the trace, or pending before'],
    ['placed', 'finished', 'Finished', 'ran for their whole duration'],
    ['pending', 'waiting', 'Waiting', 'at the end'],
    ['running', 'running', 'Running', 'at the end'],
  ];
  return rows.map(([look, key, label, note]) =>
    el(
      'div',
      { class: `tile ${look}${trace.pods[key] ? '' : ' zero'}` },
      el('b', null, integer.format(trace.pods[key])),
      el('span', null, label),
      el('small', null, note),
    ),
  );
}

function tiles() {
  if (trace) return traceTiles();
  const notes = {
    pending: 'without a node',
    preempted: 'gave way to others',
    placed: 'by this run',
    running: 'before the run',
  };
  return ['placed', 'pending', 'preempted', 'running'].map((key) =>
    el(
      'button',
      { type: 'button', class: `tile ${key}${summary[key] ? '' : ' zero'}`, onclick: () => showPods('', key) },
      el('b', null, integer.format(summary[key])),
      el('span', null, STATES.find((s) => s.key === key).label),
      el('small', null, notes[key]),
    ),
  );
}

function warnings() {
  const list = data.warnings;
  if (!list.length) return [];
  return [
    el(
      'details',
      { class: 'card warnings' },
      el('summary', null, count(list.length, 'warning'), ' about the input'),
      el(
        'ul',
        { class: 'texts' },
        list.slice(0, 200).map((text) => el('li', null, text)),
        list.length > 200 ? el('li', null, `and ${integer.format(list.length - 200)} more, on standard error`) : null,
      ),
    ),
  ];
}

/* ---- Sections ---- */

function section(id, heading, ...content) {
  return el('section', { id, 'aria-labelledby': `${id}-heading` }, el('h2', { id: `${id}-heading` }, heading), content);
}

/* Freed: by pods that were preempted, or that a question took away. */
const isFreed = () =>
  summary.preempted > 0 ||
  ['cpuMilli', 'memoryBytes', 'pods'].some((key) => nodes.after[key].some((after, i) => after < nodes.before[key][i]));
const beforeAfter = () =>
  legend(['before', 'before the run'], ['added', 'added by it'], ...(isFreed() ? [['gone', 'freed by it']] : []));

function utilisationSection() {
  const zones = data.zones.length > 1 || (data.zones.length && data.zones[0].name) ? data.zones : [];
  const rows = [
    { name: 'Cluster', note: count(summary.nodes, 'node'), amounts: data.cluster, strong: true },
    ...zones.map((z) => ({
      name: zoneName(z.name),
      note: count(z.nodes, 'node'),
      amounts: z,
      onclick: z.name ? () => showPods(`zone:${quoteTerm(z.name)}`) : null,
    })),
  ];
  return section(
    'utilisation',
    'Utilisation',
    el(
      'div',
      { class: 'card' },
      figure(
        'zones',
        zones.length ? 'Cluster and zones' : 'Cluster',
        difference
          ? 'Requested, of what the nodes can give, in the run with the change: what ran before the scheduler began, and what it placed'
          : 'Requested, of what the nodes can give',
        meters(rows, RESOURCES),
        beforeAfter(),
      ),
    ),
  );
}

/* Pods that were there and stay, that came, that had to go. */
function zonePods() {
  const gone = nodes.zones.map(() => 0);
  for (let i = pods.counts.pending; i < pods.counts.pending + pods.counts.preempted; i++)
    if (pods.node[i] >= 0) gone[nodes.zone[pods.node[i]]]++;
  return data.zones.map((z) => {
    const left = gone[nodes.zones.indexOf(z.name)];
    return {
      name: zoneName(z.name),
      onclick: z.name ? () => showPods(`zone:${quoteTerm(z.name)}`) : null,
      parts: [
        ['before', z.before.pods - left, 'before'],
        ['added', z.after.pods - z.before.pods + left, 'placed'],
        ['gone', left, 'preempted'],
      ],
    };
  });
}

function spreadSection() {
  const reasons = pendingReasons();
  const zones = el(
    'div',
    { class: 'card' },
    figure(
      'pods-per-zone',
      'Pods per zone',
      'Choose a zone to list its pods',
      countBars(zonePods(), 'Pods per zone'),
      beforeAfter(),
    ),
  );
  if (!reasons.length) return [section('zones', 'Where pods are', zones)];
  const why = el(
    'div',
    { class: 'card' },
    figure(
      'reasons',
      'Why pods are pending',
      'Pods that name a reason; one pod may name several',
      countBars(
        reasons.map((r) => ({
          name: r.text,
          note: r.nodes ? `on up to ${count(r.nodes, 'node')}` : '',
          parts: [['pending', r.pods, 'pods']],
          onclick: () => showPods(`reason:${quoteTerm(r.text)}`, 'pending'),
        })),
        'Reasons',
      ),
    ),
  );
  return [section('zones', 'Where pods are, and why some are not', el('div', { class: 'pair uneven' }, zones, why))];
}

function nodeTable() {
  const amount = (resource) => [
    {
      key: resource.key,
      label: resource.label,
      value: (i) => nodes.allocatable[resource.key][i],
      cell: (i) => resource.amount(nodes.allocatable[resource.key][i]),
      numeric: true,
    },
    {
      key: `${resource.key}-after`,
      label: `${resource.label} requested`,
      value: (i) => nodeShare(i, resource.key, 'after'),
      cell: (i) => `${nodePercent(i, resource.key, 'before')} → ${nodePercent(i, resource.key, 'after')}`,
      numeric: true,
    },
  ];
  const [cpu, memory] = RESOURCES;
  return new DataTable({
    id: 'nodes',
    label: 'nodes',
    n: nodes.name.length,
    sort: 'cpuMilli-after',
    descending: true,
    placeholder: 'part of a name or zone, zone:name',
    fields: ['name', 'zone'],
    matcher: ({ field, text }) => {
      const accept = field ? (t) => folded(t) === text : (t) => folded(t).includes(text);
      const zones = nodes.zones.map(accept);
      return (i) => (field !== 'zone' && accept(nodes.name[i])) || (field !== 'name' && zones[nodes.zone[i]]);
    },
    columns: [
      {
        key: 'name',
        label: 'Node',
        value: (i) => nodes.name[i],
        kind: 'id',
        cell: (i) =>
          el(
            'button',
            { type: 'button', class: 'link', title: 'List its pods', onclick: () => showNode(i) },
            nodes.name[i],
          ),
      },
      { key: 'zone', label: 'Zone', value: (i) => nodes.zones[nodes.zone[i]], kind: 'id' },
      ...amount(cpu),
      ...amount(memory),
      {
        key: 'pods',
        label: 'Pods',
        value: (i) => nodes.after.pods[i],
        cell: (i) => `${integer.format(nodes.after.pods[i])} of ${integer.format(nodes.allocatable.pods[i])}`,
        numeric: true,
      },
    ],
  });
}

function nodesSection() {
  const n = nodes.name.length;
  if (!n) return section('nodes', 'Nodes', el('p', { class: 'card' }, 'There are no nodes.'));
  const charts =
    n <= METER_NODES_MAX
      ? [
          el(
            'div',
            { class: 'card' },
            figure(
              'nodes',
              'Every node',
              'Fullest first; choose one to list its pods',
              meters(
                nodes.name
                  .map((_, i) => i)
                  .sort((a, b) => fullness(b) - fullness(a) || a - b)
                  .map((i) => ({
                    name: nodes.name[i],
                    note: nodes.zones[nodes.zone[i]],
                    amounts: nodeAmounts(i),
                    onclick: () => showNode(i),
                  })),
                RESOURCES,
              ),
              beforeAfter(),
            ),
          ),
        ]
      : [
          el(
            'div',
            { class: 'pair' },
            RESOURCES.slice(0, 2).map((r) =>
              el('div', { class: 'card' }, histogram(r), legend(['before', 'before the run'], ['added', 'after it'])),
            ),
          ),
          el('div', { class: 'card' }, heatMap(showNode)),
        ];
  const table = nodeTable().element;
  return section(
    'nodes',
    'Nodes',
    charts,
    n <= METER_NODES_MAX
      ? el('details', { class: 'card' }, el('summary', null, 'As a table'), table)
      : el('div', { class: 'card' }, table),
  );
}

/* ---- Workloads: pods by owner and zone ---- */

const ZONE_COLUMNS_MAX = 8;

/* n[owner * zones + zone], pending[owner], total[owner]; the last owner stands for pods that have none. */
function countWorkloads() {
  const owners = pods.owners.length + 1;
  const zones = nodes.zones.length;
  const tally = { n: new Int32Array(owners * zones), pending: new Int32Array(owners), total: new Int32Array(owners) };
  for (let i = 0; i < pods.name.length; i++) {
    const owner = pods.owner[i] < 0 ? owners - 1 : pods.owner[i];
    if (podState[i] === 1) continue; /* preempted: it is gone */
    tally.total[owner]++;
    if (pods.node[i] < 0) tally.pending[owner]++;
    else tally.n[owner * zones + nodes.zone[pods.node[i]]]++;
  }
  return tally;
}

function workloadsSection() {
  const tally = countWorkloads();
  const zones = nodes.zones.length;
  const owners = [...pods.owners.keys(), pods.owners.length].filter((o) => tally.total[o]);
  const name = (o) => (o < pods.owners.length ? pods.owners[o] : 'no owner');
  const order = nodes.zones
    .map((_, z) => z)
    .sort((a, b) => compareValues(nodes.zones[a], nodes.zones[b]))
    .slice(0, ZONE_COLUMNS_MAX);
  const number = (n) => (n ? integer.format(n) : '');
  const link = (o) =>
    o < pods.owners.length
      ? el(
          'button',
          {
            type: 'button',
            class: 'link',
            title: 'List its pods',
            onclick: () => showPods(`owner:${quoteTerm(name(o))}`),
          },
          name(o),
        )
      : name(o);
  const table = new DataTable({
    id: 'workloads',
    label: 'workloads',
    n: owners.length,
    sort: 'total',
    descending: true,
    placeholder: 'kind, namespace or name',
    matcher:
      ({ text }) =>
      (i) =>
        folded(name(owners[i])).includes(text),
    columns: [
      { key: 'owner', label: 'Owner', value: (i) => name(owners[i]), cell: (i) => link(owners[i]), kind: 'id' },
      {
        key: 'total',
        label: 'Pods',
        value: (i) => tally.total[owners[i]],
        cell: (i) => number(tally.total[owners[i]]),
        numeric: true,
      },
      {
        key: 'pending',
        label: 'Pending',
        value: (i) => tally.pending[owners[i]],
        cell: (i) => number(tally.pending[owners[i]]),
        numeric: true,
        kind: 'waits',
      },
      ...order.map((z) => ({
        key: `zone-${z}`,
        label: zoneName(nodes.zones[z]),
        numeric: true,
        value: (i) => tally.n[owners[i] * zones + z],
        cell: (i) => number(tally.n[owners[i] * zones + z]),
      })),
    ],
  });
  return section('workloads', 'Workloads', el('div', { class: 'card' }, table.element));
}

function podsSection() {
  podTable = makePodTable();
  const note = pods.leftOut
    ? el(
        'p',
        { class: 'note' },
        `Only the first ${integer.format(pods.name.length)} pods are listed; ${integer.format(pods.leftOut)} more are left out, running ones first. -o wide has all.`,
      )
    : null;
  return section('pods', 'Pods', el('div', { class: 'card' }, note, podTable.element));
}

/* ---- All of it ---- */

function draw() {
  document.getElementById('headline').textContent = headline();
  document.getElementById('lead').textContent = lead();
  document.getElementById('tiles').append(...tiles());
  document.getElementById('warnings').append(...warnings());
  const extra = EXTRA_SECTIONS.filter((s) => data[s.key] !== undefined)
    .map((s) => ({ id: s.id, label: s.label, late: s.late, element: s.render(data[s.key]) }))
    .filter((s) => s.element);
  const cluster = [
    { id: 'utilisation', label: 'Utilisation', element: utilisationSection() },
    ...spreadSection().map((element) => ({ id: 'zones', label: 'Zones and reasons', element })),
    { id: 'nodes', label: 'Nodes', element: nodesSection() },
    { id: 'workloads', label: 'Workloads', element: workloadsSection() },
    { id: 'pods', label: 'Pods', element: podsSection() },
  ];
  const first = extra.filter((s) => !s.late);
  cluster.splice(1, 0, ...extra.filter((s) => s.late));
  const parts = trace && !pods.name.length ? first : [...first, ...cluster];
  document.getElementById('main').append(...parts.map((p) => p.element));
  document.getElementById('nav').append(...parts.map((p) => el('a', { href: `#${p.id}` }, p.label)));
  document
    .getElementById('footer')
    .append(
      el(
        'p',
        null,
        'Made by ',
        el('code', null, 'berth simulate'),
        '. This page holds all of its data and asks no network for anything. Decisions ',
        el('code', null, summary.decisionHash),
        '.',
      ),
    );
  document.documentElement.dataset.ready = 'true';
}

draw();
