/* sections.js - sections that are there only when the document has their key. Each renderer takes the
 * value of the key and returns an element, or null when there is nothing to show; what a value lacks is
 * left out.
 *
 *   whatIf   lists of things that changed against the plain run: moved [{ namespace, name, from, to }], newlyPending,
 *            noLongerPending [{ namespace, name, ... }], and any other list or value under a name of its own
 *   trace    { samples: [{ timeSeconds, cpuMilli, memoryBytes, running, waiting }], capacity: { cpuMilli, memoryBytes },
 *            waitSeconds: { p50, p99, max }, throughputPerHour }
 *
 * A new one is a function here and a line in EXTRA_SECTIONS. */

const numberOf = (value) => (Number.isFinite(value) ? value : 0);

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
  if ('name' in value && Object.keys(value).every((k) => k === 'name' || k === 'namespace'))
    return value.namespace ? `${value.namespace}/${value.name}` : String(value.name);
  return Object.entries(value)
    .map(([k, v]) => `${words(k)} ${valueText(v)}`)
    .join(', ');
}

const NAME_KEYS = ['namespace', 'name', 'owner', 'node', 'from', 'to'];
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

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

function whatIfSection(whatIf) {
  if (!isObject(whatIf)) return null;
  const entries = Object.entries(whatIf).filter(([, value]) => value !== null && value !== undefined);
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const plain = entries.filter(([, value]) => !Array.isArray(value));
  return el(
    'section',
    { id: 'what-if', 'aria-labelledby': 'what-if-heading' },
    el('h2', { id: 'what-if-heading' }, 'What would change'),
    el(
      'div',
      { class: 'card', 'data-chart': 'what-if' },
      figures([
        ...lists.map(([key, list]) => [words(key), integer.format(list.length)]),
        ...plain.map(([key, value]) => [words(key), valueText(value)]),
      ]),
    ),
    lists
      .filter(([, list]) => list.length)
      .map(([key, list], number) =>
        el(
          'details',
          { class: 'card', open: number === 0 },
          el('summary', null, words(key), el('span', { class: 'n' }, integer.format(list.length))),
          listOf(`what-if-${number}`, words(key), list),
        ),
      ),
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

function traceSection(trace) {
  if (!isObject(trace)) return null;
  const samples = (Array.isArray(trace.samples) ? trace.samples : []).filter(isObject);
  const times = samples.map((s) => numberOf('timeSeconds' in s ? s.timeSeconds : s.t));
  const wait = isObject(trace.waitSeconds) ? trace.waitSeconds : {};
  const numbers = Object.entries(wait).map(([key, value]) => [`Wait ${key}`, duration(numberOf(value))]);
  if (Number.isFinite(trace.throughputPerHour)) numbers.push(['Pods an hour', decimal.format(trace.throughputPerHour)]);
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
  );
}

const EXTRA_SECTIONS = [
  { key: 'whatIf', label: 'What if', id: 'what-if', render: whatIfSection },
  { key: 'trace', label: 'Time', id: 'trace', render: traceSection },
];
