/* charts.js - inline SVG. Shapes stretch with the page (preserveAspectRatio none), so all texts beside
 * them are HTML and keep their size. Every mark has a title; every chart a label that says in a
 * sentence what it shows. */

const LONG_LIST = 30; /* rows; longer ones scroll in their own box */
const listBox = (kind, n) => (n > LONG_LIST ? { class: `${kind} long`, tabindex: '0' } : { class: kind });
const title = (text) => svg('title', null, text);
const stretched = (width, height, label, ...marks) =>
  svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    title(label),
    marks,
  );
const figure = (name, heading, note, ...content) =>
  el(
    'figure',
    { class: 'chart', 'data-chart': name },
    el('figcaption', null, el('h3', null, heading), note && el('p', null, note)),
    content,
  );

function legend(...entries) {
  return el(
    'ul',
    { class: 'legend' },
    entries.map(([kind, text]) => el('li', null, el('i', { class: `key ${kind}`, 'aria-hidden': 'true' }), text)),
  );
}

/* ---- Meters: rows of bars, one for each resource ---- */

/* What was there, what came or went, of what there is; and was, where that differs. */
function meter(resource, amounts) {
  const all = amounts.allocatable[resource.key];
  const allBefore = (amounts.allocatableBefore || amounts.allocatable)[resource.key];
  const before = share(amounts.before[resource.key], allBefore);
  const after = share(amounts.after[resource.key], all);
  const was = percentOf(amounts.before[resource.key], allBefore);
  const is = percentOf(amounts.after[resource.key], all);
  const at = (fraction) => Math.min(Math.max(fraction, 0), 1) * 1000;
  const stays = Math.min(before, after);
  const label = `${resource.label}: ${was} before, ${is} after, of ${resource.amount(all)}`;
  const change = svg('rect', {
    class: after < before ? 'gone' : 'added',
    x: at(stays),
    width: at(Math.max(before, after)) - at(stays),
    height: 10,
  });
  return el(
    'div',
    { class: `meter${after > 0.9 ? ' full' : ''}` },
    el(
      'span',
      { class: 'figure', 'aria-hidden': 'true' },
      before !== after && el('small', null, `${was} → `),
      el('b', null, is),
      el('small', { class: 'of' }, `of ${resource.amount(all)}`),
    ),
    stretched(
      1000,
      10,
      label,
      svg('rect', { class: 'track', width: 1000, height: 10 }),
      svg('rect', { class: 'before', width: at(stays), height: 10 }),
      change,
    ),
  );
}

/* rows: [{ name, note, amounts, onclick }] */
function meters(rows, resources) {
  const head = el(
    'div',
    { class: 'meter-row head', 'aria-hidden': 'true' },
    el('span'),
    resources.map((r) => el('span', null, r.label)),
  );
  return el(
    'div',
    listBox('meters', rows.length),
    head,
    rows.map((row) =>
      el(
        'div',
        { class: `meter-row${row.strong ? ' strong' : ''}` },
        el(
          'div',
          { class: 'name' },
          row.onclick
            ? el('button', { type: 'button', class: 'link', title: 'List its pods', onclick: row.onclick }, row.name)
            : el('span', null, row.name),
          row.note && el('small', null, row.note),
        ),
        resources.map((r) => meter(r, row.amounts)),
      ),
    ),
  );
}

/* ---- Histogram of nodes ---- */

const BUCKETS = 10;

/* Nodes per tenth of utilisation; the last bucket also takes what is beyond. */
function buckets(key, when) {
  const counts = new Array(BUCKETS).fill(0);
  for (let i = 0; i < nodes.name.length; i++)
    counts[Math.min(BUCKETS - 1, Math.floor(nodeShare(i, key, when) * BUCKETS + 1e-9))]++;
  return counts;
}

function histogram(resource) {
  const before = buckets(resource.key, 'before');
  const after = buckets(resource.key, 'after');
  const top = Math.max(1, ...before, ...after);
  const height = (n) => (n / top) * 96;
  const marks = after.map((n, b) =>
    svg(
      'g',
      { class: 'bucket' },
      title(
        `${b * 10} to ${(b + 1) * 10}% of ${resource.label}: ${count(before[b], 'node')} before, ${integer.format(n)} after`,
      ),
      svg('rect', { class: 'hit', x: b * 100, width: 100, height: 100 }),
      svg('rect', {
        class: 'before',
        x: b * 100 + 10,
        y: 100 - height(before[b]),
        width: 38,
        height: height(before[b]),
      }),
      svg('rect', { class: 'added', x: b * 100 + 52, y: 100 - height(n), width: 38, height: height(n) }),
    ),
  );
  const label = `Nodes by ${resource.label} requested, before and after`;
  return figure(
    `histogram-${resource.key}`,
    `Nodes by ${resource.label}`,
    `Most in one tenth: ${count(top, 'node')}`,
    el('div', { class: 'plot tall' }, stretched(BUCKETS * 100, 100, label, marks)),
    el(
      'div',
      { class: 'axis', 'aria-hidden': 'true' },
      ['0%', '20%', '40%', '60%', '80%', '100%'].map((t) => el('span', null, t)),
    ),
  );
}

/* ---- Heat map of nodes ---- */

const CELLS_MAX = 5000; /* of one zone; with more nodes a cell is several */
const HEAT_STEPS = 10;
const heat = (fraction) => `h${Math.min(HEAT_STEPS, Math.max(0, Math.ceil(fraction * HEAT_STEPS - 1e-9)))}`;

function heatCell(group, resource, x, y, choose) {
  const mean = group.reduce((sum, i) => sum + nodeShare(i, resource.key, 'after'), 0) / group.length;
  const name = group.length === 1 ? nodes.name[group[0]] : count(group.length, 'node');
  return svg(
    'rect',
    {
      class: `cell ${heat(mean)}`,
      x: x * 10,
      y: y * 10,
      width: 9,
      height: 9,
      onclick: group.length === 1 ? () => choose(group[0]) : null,
    },
    title(`${name}: ${group.length === 1 ? nodePercent(group[0], resource.key, 'after') : percent(mean)} of ${resource.label}`),
  );
}

function heatZone(zone, members, resource, choose) {
  const sorted = [...members].sort((a, b) => nodeShare(b, resource.key, 'after') - nodeShare(a, resource.key, 'after'));
  const per = Math.ceil(sorted.length / CELLS_MAX);
  const n = Math.ceil(sorted.length / per);
  const columns = Math.min(100, Math.max(20, Math.ceil(Math.sqrt(n * 6))));
  const cells = Array.from({ length: n }, (_, c) =>
    heatCell(sorted.slice(c * per, (c + 1) * per), resource, c % columns, Math.floor(c / columns), choose),
  );
  const label = `${zoneName(zone)}: ${count(members.length, 'node')}, fullest first, shaded by ${resource.label} requested`;
  const map = svg(
    'svg',
    { viewBox: `0 0 ${columns * 10} ${Math.ceil(n / columns) * 10}`, role: 'img', 'aria-label': label },
    title(label),
    cells,
  );
  map.style.maxWidth = `${columns * 16}px`;
  return el(
    'div',
    { class: 'heat-zone' },
    el('h4', null, zoneName(zone), el('small', null, count(members.length, 'node'))),
    map,
  );
}

function heatMap(choose) {
  const members = nodes.zones.map(() => []);
  for (let i = 0; i < nodes.name.length; i++) members[nodes.zone[i]].push(i);
  const order = nodes.zones.map((_, z) => z).sort((a, b) => compareValues(nodes.zones[a], nodes.zones[b]));
  const body = el('div', { class: 'heat' });
  const draw = (resource) =>
    body.replaceChildren(...order.map((z) => heatZone(nodes.zones[z], members[z], resource, choose)));
  const buttons = RESOURCES.slice(0, 2).map((r, i) =>
    el(
      'button',
      {
        type: 'button',
        'aria-pressed': String(i === 0),
        onclick: () => {
          buttons.forEach((b, k) => b.setAttribute('aria-pressed', String(k === i)));
          draw(r);
        },
      },
      r.label,
    ),
  );
  draw(RESOURCES[0]);
  return figure(
    'heat',
    'Every node',
    'Each cell is a node, shaded by what is requested of it after the run. Choose one to list its pods.',
    el(
      'div',
      { class: 'tools' },
      el('div', { class: 'segments', role: 'group', 'aria-label': 'Shade by' }, buttons),
      el(
        'div',
        { class: 'scale', 'aria-hidden': 'true' },
        '0%',
        svg(
          'svg',
          { viewBox: '0 0 110 8' },
          Array.from({ length: HEAT_STEPS + 1 }, (_, h) =>
            svg('rect', { class: `h${h}`, x: h * 10, width: 10, height: 8 }),
          ),
        ),
        '100%',
      ),
    ),
    body,
  );
}

/* ---- Bars of counts ---- */

/* rows: [{ name, note, parts: [[kind, n, words]], onclick }]; bars share one scale. */
function countBars(rows, label) {
  const sum = (row) => row.parts.reduce((total, [, n]) => total + n, 0);
  const top = Math.max(1, ...rows.map(sum));
  return el(
    'div',
    { ...listBox('bars', rows.length), role: 'list', 'aria-label': label },
    rows.map((row) => {
      let x = 0;
      const words = `${row.name}: ${
        row.parts
          .filter(([, n]) => n)
          .map(([, n, text]) => `${integer.format(n)} ${text}`)
          .join(', ') || 'none'
      }`;
      const marks = row.parts.map(([kind, n]) => {
        const mark = svg('rect', { class: kind, x: (x / top) * 1000, width: (n / top) * 1000, height: 10 });
        x += n;
        return mark;
      });
      return el(
        'div',
        { class: 'bar-row', role: 'listitem' },
        el(
          'div',
          { class: 'name' },
          row.onclick
            ? el('button', { type: 'button', class: 'link', onclick: row.onclick }, row.name)
            : el('span', null, row.name),
          row.note && el('small', null, row.note),
        ),
        stretched(1000, 10, words, svg('rect', { class: 'track', width: 1000, height: 10 }), marks),
        el('b', { class: 'total' }, integer.format(sum(row))),
      );
    }),
  );
}

/* ---- Lines over time ---- */

const POINTS_MAX = 1500;

/* series: [{ kind, label, values }], all over `times`; top is the upper end of the scale. */
function lines(name, heading, note, times, series, top, format) {
  const step = Math.ceil(times.length / POINTS_MAX);
  const first = times[0];
  const span = times[times.length - 1] - first || 1;
  const path = (values) => {
    let d = '';
    for (let i = 0; i < times.length; i += step) {
      /* the largest of the step, so that no peak is lost */
      const value = Math.max(...values.slice(i, i + step));
      d += `${i ? 'L' : 'M'}${(((times[i] - first) / span) * 1000).toFixed(1)} ${(200 - (Math.min(value, top) / top) * 196).toFixed(1)}`;
    }
    return d;
  };
  const label = `${heading}: ${series.map((s) => `${s.label} at most ${format(Math.max(...chunkMax(s.values)))}`).join(', ')}`;
  const grid = [50, 100, 150].map((y) => svg('line', { class: 'grid', x1: 0, x2: 1000, y1: y, y2: y }));
  return figure(
    name,
    heading,
    note,
    el(
      'div',
      { class: 'timeline' },
      el(
        'div',
        { class: 'y-axis', 'aria-hidden': 'true' },
        [top, top / 2, 0].map((v) => el('span', null, format(v))),
      ),
      stretched(
        1000,
        200,
        label,
        grid,
        series.map((s) => svg('path', { class: `line ${s.kind}`, d: path(s.values) }, title(s.label))),
      ),
    ),
    el(
      'div',
      { class: 'axis time', 'aria-hidden': 'true' },
      [0, 0.25, 0.5, 0.75, 1].map((f) => el('span', null, duration(first + span * f))),
    ),
    legend(...series.map((s) => [s.kind, s.label])),
  );
}

/* The next 1, 2, 4, 6, 8 or 10 times a power of ten: a scale that halves well. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.max(2, [1, 2, 4, 6, 8, 10].find((step) => step * power >= value) * power);
}

/* Maxima of pieces that can be spread into a call. */
function chunkMax(values) {
  const maxima = [0];
  for (let i = 0; i < values.length; i += 10000) maxima.push(Math.max(...values.slice(i, i + 10000)));
  return maxima;
}
