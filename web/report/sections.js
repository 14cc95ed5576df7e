/* sections.js - sections that are there only when the document has their key. Each renderer takes the
 * value of the key and returns an element, or null when there is nothing to show; what a value lacks is
 * left out, and what it has beyond the fields known here is shown under its own name. docs/simulate.md
 * and docs/traces.md describe the fields.
 *
 *   whatIf   answers to questions: changes [text], difference { summary, pods, nodes, zones, cluster },
 *            lists such as lost and moved, objects such as drain, capacity and compare
 *   trace    { samples: [{ timeSeconds, cpuMilli, memoryBytes, running, waiting }],
 *            capacity: { cpuMilli, memoryBytes }, waitSeconds: { p50, p99, max }, throughputPerHour, ... }
 *
 * A new one is a function here and a line in EXTRA_SECTIONS. */

const numberOf = (value) => (Number.isFinite(value) ? value : 0);

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isAmounts = (value) => isObject(value) && 'cpuMilli' in value && 'memoryBytes' in value;

/* "newlyPending" as "Newly pending". */
function words(key) {
  const text = key.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function valueText(value) {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (typeof value === 'number') return decimal.format(value);
  if (typeof value !== 'object') return String(value);
  if (isAmounts(value))
    return RESOURCES.map((r) => `${r.amount(numberOf(value[r.key]))}${r.key === 'pods' ? ' pods' : ''}`).join(', ');
  if ('name' in value && Object.keys(value).every((k) => k === 'name' || k === 'namespace'))
    return value.namespace ? `${value.namespace}/${value.name}` : String(value.name);
  return Object.entries(value)
    .map(([k, v]) => `${words(k)} ${valueText(v)}`)
    .join(', ');
}

const NAME_KEYS = ['namespace', 'name', 'owner', 'node', 'from', 'to'];
function figures(entries) {
  return el(
    'dl',
    { class: 'figures' },
    entries.map(([name, value]) => el('div', null, el('dt', null, name), el('dd', null, value))),
  );
}

/* ---- Lists of anything ---- */

function objectTable(id, label, list) {
  const keys = [...new Set(list.flatMap((entry) => Object.keys(entry)))];
  const cells = (i, key) => valueText(list[i][key]);
  return new DataTable({
    id,
    label,
    n: list.length,
    placeholder: 'words or "a phrase"',
    columns: keys.map((key) => ({
      key,
      label: words(key),
      value: (i) => (typeof list[i][key] === 'number' ? list[i][key] : cells(i, key)),
      cell: (i) => cells(i, key),
      numeric: list.every((entry) => typeof entry[key] === 'number'),
      kind: NAME_KEYS.includes(key) ? 'id' : null,
    })),
    matcher: (term) => (i) => keys.some((key) => folded(cells(i, key)).includes(term.text)),
  }).element;
}

function listOf(id, label, list) {
  if (list.every(isObject)) return objectTable(id, label.toLowerCase(), list);
  return el(
    'ul',
    { class: 'texts' },
    list.map((entry) => el('li', null, valueText(entry))),
  );
}

/* ---- What if ---- */

/* A list under its name, folded away unless it is the first. */
function foldedList(id, key, list, open) {
  return el(
    'details',
    { class: 'card', open },
    el('summary', null, words(key), el('span', { class: 'n' }, integer.format(list.length))),
    listOf(id, words(key), list),
  );
}

/* Cluster and zones of a difference: without what was asked, and with it. */
function differenceMeters(difference) {
  const uses = [difference.cluster, ...(Array.isArray(difference.zones) ? difference.zones : [])].filter(isObject);
  const nothing = { cpuMilli: 0, memoryBytes: 0, pods: 0 };
  const rows = uses.map((use, i) => ({
    name: i ? zoneName(use.name) : 'Cluster',
    strong: !i,
    amounts: {
      allocatable: use.allocatable || nothing,
      allocatableBefore: use.allocatableBefore || nothing,
      before: use.before || nothing,
      after: use.after || nothing,
    },
  }));
  if (!rows.length) return null;
  return el(
    'div',
    { class: 'card' },
    figure('difference', 'Cluster and zones', 'Requested, without the change and with it', meters(rows, RESOURCES)),
    legend(['before', 'without'], ['added', 'more with it'], ['gone', 'less with it']),
  );
}

/* What an object holds: plain values as figures, lists as tables, objects in cards of their own. */
function objectParts(id, object) {
  const entries = Object.entries(object).filter(([, value]) => value !== null && value !== undefined);
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const plain = entries.filter(([, value]) => !Array.isArray(value) && (!isObject(value) || isAmounts(value)));
  const objects = entries.filter(([, value]) => isObject(value) && !isAmounts(value));
  const numbers = [
    ...plain.map(([key, value]) => [words(key), valueText(value)]),
    ...lists.map(([key, list]) => [words(key), integer.format(list.length)]),
  ];
  return [
    numbers.length ? el('div', { class: 'card', 'data-chart': id }, figures(numbers)) : null,
    lists.filter(([, list]) => list.length).map(([key, list], i) => foldedList(`${id}-${key}`, key, list, i === 0)),
    objects.map(([key, value]) =>
      key === 'difference'
        ? differenceParts(`${id}-difference`, value)
        : [el('h3', { class: 'part' }, words(key)), objectParts(`${id}-${key}`, value)],
    ),
  ];
}

function differenceParts(id, difference) {
  const summaryOf = isObject(difference.summary) ? difference.summary : {};
  const list = (key) => (Array.isArray(difference[key]) ? difference[key] : []);
  return [
    Object.keys(summaryOf).length
      ? el(
          'div',
          { class: 'card', 'data-chart': id },
          figures(Object.entries(summaryOf).map(([key, n]) => [words(key), valueText(n)])),
        )
      : null,
    list('pods').length ? foldedList(`${id}-pods`, 'podsThatDiffer', list('pods'), true) : null,
    differenceMeters(difference),
    list('nodes').length ? foldedList(`${id}-nodes`, 'nodesThatDiffer', list('nodes'), false) : null,
  ];
}

function whatIfSection(whatIf) {
  if (!isObject(whatIf)) return null;
  const { changes, difference, drain, ...rest } = whatIf;
  const isBlocked = isObject(drain) && Array.isArray(drain.blocked) && drain.blocked.length > 0;
  return el(
    'section',
    { id: 'what-if', 'aria-labelledby': 'what-if-heading' },
    el('h2', { id: 'what-if-heading' }, 'What would change'),
    Array.isArray(changes) && changes.length
      ? el(
          'ul',
          { class: 'card changes' },
          changes.map((text) => el('li', null, valueText(text))),
        )
      : null,
    isBlocked ? objectParts('what-if', { drain: { blocked: drain.blocked, ...drain } }) : null, /* what stands in the way, first */
    isObject(difference) ? differenceParts('difference', difference) : null,
    objectParts('what-if', isBlocked ? rest : { ...rest, drain }),
  );
}

/* ---- Over time ---- */

function utilisationLines(samples, times, capacity) {
  const of = (key) => {
    const whole = numberOf(capacity[key]) || Math.max(1, ...chunkMax(samples.map((s) => numberOf(s[key]))));
    return samples.map((s) => numberOf(s[key]) / whole);
  };
  const series = [
    { kind: 'cpu', label: 'CPU', values: of('cpuMilli') },
    { kind: 'memory', label: 'Memory', values: of('memoryBytes') },
  ];
  return lines(
    'trace-utilisation',
    'Requested over time',
    capacity.cpuMilli ? 'Of what all nodes have together' : 'Of the highest value',
    times,
    series,
    1,
    percent,
  );
}

function podLines(samples, times) {
  const series = [
    { kind: 'running', label: 'Running', values: samples.map((s) => numberOf(s.running)) },
    { kind: 'waiting', label: 'Waiting', values: samples.map((s) => numberOf('waiting' in s ? s.waiting : s.pending)) },
  ];
  const top = niceTop(Math.max(1, ...series.flatMap((s) => chunkMax(s.values))));
  return lines('trace-pods', 'Pods over time', 'Running, and waiting for a node', times, series, top, (n) =>
    integer.format(Math.round(n)),
  );
}

/* The numbers of a trace that are worth a place at the top. */
function traceFigures(trace) {
  const wait = isObject(trace.waitSeconds) ? trace.waitSeconds : {};
  const numbers = ['p50', 'p90', 'p99', 'max']
    .filter((key) => Number.isFinite(wait[key]))
    .map((key) => [key === 'max' ? 'Longest wait' : `Wait ${key}`, duration(wait[key])]);
  const add = (label, value, format) => {
    if (Number.isFinite(value)) numbers.push([label, format(value)]);
  };
  const at = (key, field) => (isObject(trace[key]) ? trace[key][field] : undefined);
  const use = isObject(trace.utilization) ? trace.utilization : {};
  add('Started an hour', trace.throughputPerHour, (n) => decimal.format(n));
  add('From first to last', trace.makespanSeconds, duration);
  add('Waiting at most', at('queue', 'max'), (n) => integer.format(n));
  add('Mean CPU', isObject(use.cpu) ? use.cpu.mean : undefined, percent);
  add('Mean memory', isObject(use.memory) ? use.memory.mean : undefined, percent);
  add('Preemptions', trace.preemptions, (n) => integer.format(n));
  return numbers;
}

function traceSection(trace) {
  if (!isObject(trace)) return null;
  const samples = (Array.isArray(trace.samples) ? trace.samples : []).filter(isObject);
  const times = samples.map((s) => numberOf('timeSeconds' in s ? s.timeSeconds : s.t));
  const numbers = traceFigures(trace);
  const lists = ['stillWaiting', 'waitSecondsByPriority'].filter(
    (key) => Array.isArray(trace[key]) && trace[key].length,
  );
  return el(
    'section',
    { id: 'trace', 'aria-labelledby': 'trace-heading' },
    el('h2', { id: 'trace-heading' }, 'Over time'),
    numbers.length ? el('div', { class: 'card', 'data-chart': 'trace-figures' }, figures(numbers)) : null,
    samples.length > 1
      ? el(
          'div',
          { class: 'pair' },
          el(
            'div',
            { class: 'card' },
            utilisationLines(samples, times, isObject(trace.capacity) ? trace.capacity : {}),
          ),
          el('div', { class: 'card' }, podLines(samples, times)),
        )
      : null,
    lists.map((key) => foldedList(`trace-${key}`, key, trace[key], false)),
  );
}

/* ---- Other resources ---- */

function otherResourcesSection(list) {
  if (!Array.isArray(list) || !list.length) return null;
  const inBytes = (name) => name === 'ephemeral-storage' || name.startsWith('hugepages-');
  const amounts = (use) => ({
    allocatable: { amount: numberOf(use.allocatable) },
    before: { amount: numberOf(use.before) },
    after: { amount: numberOf(use.after) },
  });
  const cards = list.filter(isObject).map((resource) => {
    const format = inBytes(resource.name) ? bytes : (n) => integer.format(n);
    const holders = Array.isArray(resource.nodes) ? resource.nodes : [];
    const rows = [
      { name: 'Cluster', note: count(holders.length, 'node'), amounts: amounts(resource), strong: true },
      ...holders.slice(0, RESOURCE_NODES_MAX).map((n) => ({ name: n.name, amounts: amounts(n) })),
    ];
    const chart = meters(rows, [{ key: 'amount', label: 'Requested', amount: format }]);
    return el('div', { class: 'card' }, figure('other-resource', resource.name, 'Requested, of what the nodes can give', chart));
  });
  return el(
    'section',
    { id: 'other-resources', 'aria-labelledby': 'other-resources-heading' },
    el('h2', { id: 'other-resources-heading' }, 'Other resources'),
    el('div', { class: 'pair' }, cards),
  );
}

const RESOURCE_NODES_MAX = 24; /* of one resource; the document has all */

const EXTRA_SECTIONS = [
  { key: 'whatIf', label: 'What if', id: 'what-if', render: whatIfSection },
  { key: 'trace', label: 'Time', id: 'trace', render: traceSection },
  { key: 'otherResources', label: 'Other resources', id: 'other-resources', render: otherResourcesSection, late: true },
];
