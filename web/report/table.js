/* table.js - a table of many rows that can be searched, sorted and turned page by page.
 *
 * Rows are numbers; a column says what a row's cell holds:
 *     { key, label, value(i) -> text or number to sort by, cell(i) -> text or element (default: value), numeric }
 * Only the rows of one page are ever elements. On a phone a row is a card (report.css), which would
 * take the roles of rows and cells away from them, so they are given by name. A query is made of words,
 * "phrases" and field:value, all of which must be met; `matcher` turns one term into a test of a row. */

const PAGE_ROWS = matchMedia('(max-width: 760px)').matches ? 10 : 25;
const SMALL_TABLE = 8; /* up to here there is nothing to search */
const LARGE_TABLE = 20000; /* from here on typing is waited for */

/* Texts are compared in this form: an input line cannot hold other white space than blanks. */
const folded = (text) => text.toLowerCase().replace(/\s+/g, ' ');

/* [{ field, text }]: field is '' for a term without one that the table knows. Texts are folded. */
function parseQuery(query, fields) {
  const terms = [];
  for (const [whole, field, phrase, word] of query.matchAll(/(?:([a-z]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/gi)) {
    const known = field && fields.includes(field.toLowerCase());
    const text = known || !field ? (phrase === undefined ? word : phrase.replace(/\\(.)/g, '$1')) : whole;
    if (text) terms.push({ field: known ? field.toLowerCase() : '', text: folded(text) });
  }
  return terms;
}

/* A text as one term of a query. */
const quoteTerm = (text) => (/[\s"]/.test(text) ? `"${text.replace(/\s+/g, ' ').replace(/["\\]/g, '\\$&')}"` : text);

function compareValues(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

class DataTable {
  /* options: id, label, columns, n, sort (key), descending, fields, matcher(term), placeholder, filters */
  constructor(options) {
    Object.assign(this, { filters: [], fields: [], descending: false }, options);
    this.filter = 0;
    this.page = 0;
    this.order = this.sorted();
    this.build();
    this.update();
  }

  sorted() {
    const column = this.columns.find((c) => c.key === this.sort);
    const rows = Array.from({ length: this.n }, (_, i) => i);
    if (!column) return rows;
    const values = rows.map(column.value);
    const sign = this.descending ? -1 : 1;
    return rows.sort((a, b) => sign * compareValues(values[a], values[b]) || a - b);
  }

  build() {
    this.input = el('input', {
      type: 'search',
      id: `${this.id}-search`,
      placeholder: this.placeholder,
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => this.typed(),
    });
    this.status = el('p', { class: 'status', role: 'status', 'aria-live': 'polite' });
    this.buttons = this.filters.map((f, i) =>
      el(
        'button',
        { type: 'button', 'aria-pressed': String(i === 0), onclick: () => this.choose(i) },
        f.label,
        el('span', { class: 'n' }, integer.format(f.n)),
      ),
    );
    this.head = el(
      'tr',
      { role: 'row' },
      this.columns.map((c) => this.heading(c)),
    );
    this.body = el('tbody', { role: 'rowgroup' });
    this.previous = el('button', { type: 'button', onclick: () => this.turn(-1) }, 'Previous');
    this.next = el('button', { type: 'button', onclick: () => this.turn(1) }, 'Next');
    this.pages = el('span');
    this.pager = el(
      'div',
      { class: 'pager', role: 'group', 'aria-label': `Pages of ${this.label}` },
      this.previous,
      this.pages,
      this.next,
    );
    this.element = el(
      'div',
      { class: 'data', id: `${this.id}-table` },
      el(
        'div',
        { class: 'tools', hidden: this.n <= SMALL_TABLE && !this.filters.length },
        el('div', { class: 'search' }, el('label', { for: this.input.id }, `Search ${this.label}`), this.input),
        this.buttons.length
          ? el('div', { class: 'segments', role: 'group', 'aria-label': 'State' }, this.buttons)
          : null,
      ),
      el(
        'div',
        { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table of ${this.label}` },
        el(
          'table',
          { role: 'table' },
          el('caption', { class: 'hidden' }, this.label),
          el('thead', { role: 'rowgroup' }, this.head),
          this.body,
        ),
      ),
      el('div', { class: 'below' }, this.status, this.pager),
    );
  }

  heading(column) {
    const arrow = el('i', { 'aria-hidden': 'true' });
    return el(
      'th',
      { role: 'columnheader', scope: 'col', 'data-key': column.key, class: column.numeric ? 'number' : null },
      el(
        'button',
        { type: 'button', title: `Sort by ${column.label}`, onclick: () => this.sortBy(column.key) },
        column.numeric ? [arrow, column.label] : [column.label, arrow],
      ),
    );
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(this.input.value), this.n > LARGE_TABLE ? 150 : 0);
  }

  search(query) {
    if (this.input.value !== query) this.input.value = query;
    this.page = 0;
    this.update();
  }

  choose(filter) {
    this.filter = filter;
    this.page = 0;
    this.buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(i === filter)));
    this.update();
  }

  sortBy(key) {
    this.descending = this.sort === key ? !this.descending : false;
    this.sort = key;
    this.page = 0;
    this.order = this.sorted();
    this.update();
  }

  turn(by) {
    this.page += by;
    this.draw();
    this.element.scrollIntoView({ block: 'nearest' });
  }

  /* What is shown: the order, narrowed by filter and query. */
  update() {
    const tests = parseQuery(this.input.value, this.fields).map((term) => this.matcher(term));
    const filter = this.filters[this.filter];
    if (filter && filter.test) tests.unshift(filter.test);
    this.shown = tests.length ? this.order.filter((i) => tests.every((test) => test(i))) : this.order;
    for (const th of this.head.children) {
      const sorted = th.dataset.key === this.sort;
      th.setAttribute('aria-sort', !sorted ? 'none' : this.descending ? 'descending' : 'ascending');
    }
    this.draw();
    this.element.dataset.query = this.input.value; /* what the rows answer */
  }

  row(i) {
    return el(
      'tr',
      { role: 'row' },
      this.columns.map((c) => {
        const content = c.cell ? c.cell(i) : c.value(i);
        const empty = content === '' || content === null;
        return el(
          'td',
          {
            role: 'cell',
            'data-label': c.label,
            class: [c.numeric && 'number', c.kind, empty && 'empty'].filter(Boolean).join(' ') || null,
          },
          empty
            ? el('span', { 'aria-hidden': 'true' }, '–')
            : c.kind === 'id' && typeof content === 'string'
              ? el('span', null, content)
              : content,
        );
      }),
    );
  }

  draw() {
    const last = Math.max(0, Math.ceil(this.shown.length / PAGE_ROWS) - 1);
    this.page = Math.min(Math.max(this.page, 0), last);
    const first = this.page * PAGE_ROWS;
    const rows = this.shown.slice(first, first + PAGE_ROWS);
    this.body.replaceChildren(...rows.map((i) => this.row(i)));
    if (!rows.length)
      this.body.append(
        el(
          'tr',
          { role: 'row' },
          el('td', { role: 'cell', class: 'nothing', colspan: this.columns.length }, 'Nothing matches.'),
        ),
      );
    this.previous.disabled = this.page === 0;
    this.next.disabled = this.page === last;
    this.pages.textContent = `Page ${integer.format(this.page + 1)} of ${integer.format(last + 1)}`;
    this.pager.hidden = last === 0;
    const total = this.shown.length;
    this.status.textContent =
      total === this.n ? count(total, 'row') : `${integer.format(total)} of ${count(this.n, 'row')}`;
  }
}
