'use strict';

// Draws the page from /page.json every few seconds. All texts of the server are put in as text and
// never as HTML.

const POLL_MS = 5000;
const SVG = 'http://www.w3.org/2000/svg';
const COLOURS = 8;
const $ = id => document.getElementById(id);

// Elements ---------------------------------------------------------------------------------------

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter(child => child !== null));
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Numbers ----------------------------------------------------------------------------------------

function number(value, digits) {
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

function short(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return number(value / 1e9, 1) + ' G';
  if (size >= 1e6) return number(value / 1e6, 1) + ' M';
  if (size >= 1e4) return number(value / 1e3, 1) + ' k';
  return number(value, size < 1 ? 2 : size < 10 ? 1 : 0);
}

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return number(value, value < 10 && unit > 0 ? 1 : 0) + ' ' + units[unit];
}

function millis(ms) {
  if (ms < 1) return number(ms, 2) + ' ms';
  if (ms < 1000) return number(ms, ms < 10 ? 1 : 0) + ' ms';
  if (ms < 120e3) return number(ms / 1000, 1) + ' s';
  return duration(ms / 1000);
}

function duration(s) {
  if (s < 60) return number(s, 0) + ' s';
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min']];
  const first = parts.findIndex(([length]) => s >= length);
  const whole = Math.floor(s / parts[first][0]);
  const next = parts[first + 1];
  const rest = next ? Math.floor((s % parts[first][0]) / next[0]) : 0;
  return whole + ' ' + parts[first][1] + (rest ? ' ' + rest + ' ' + next[1] : '');
}

function clock(ms, withSeconds) {
  const options = { hour: '2-digit', minute: '2-digit', hour12: false };
  if (withSeconds) options.second = '2-digit';
  return new Date(ms).toLocaleTimeString('en-GB', options);
}

// Returns steps of an axis from 0 to the largest value: round numbers, in units of `base`.
function steps(largest, base) {
  const wanted = Math.max(largest, Number.MIN_VALUE) / 4;
  const power = Math.pow(base, Math.floor(Math.log(wanted) / Math.log(base)));
  const factors = base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 2.5, 5, 10];
  const step = factors.map(factor => factor * power).find(step => step >= wanted * 0.999) || wanted;
  const all = [];
  for (let at = 0; all.length < 2 || all[all.length - 1] < largest; at += 1) all.push(at * step);
  return all;
}

// Charts -----------------------------------------------------------------------------------------

// Each chart: its title, its unit, its series, and how a value is written. `stacked` puts the series
// on top of each other.
function chart(figure, spec) {
  const width = figure.clientWidth - 32;
  const height = figure.classList.contains('wide') ? 230 : 190;
  const caption = make('figcaption', '', make('span', '', spec.title + ' ', make('span', 'unit', spec.unit)));
  caption.append(legend(spec.series, spec.limit));
  const times = spec.times;
  if (spec.none || times.length === 0 || width < 80) {
    const why = spec.none || 'The first samples come within seconds.';
    figure.replaceChildren(caption, make('div', 'none', why));
    return;
  }
  const tops = spec.stacked ? stack(spec.series, times.length) : null;
  const values = spec.series.flatMap(series => series.values).filter(value => value !== null);
  const largest = tops ? Math.max(0, ...tops[tops.length - 1] || [0]) : Math.max(0, ...values);
  const ticks = steps(Math.max(largest, spec.least || 0, spec.limit ? largest * 1.05 : 0), spec.base || 10);
  const box = { left: 62, right: width - 8, top: 8, bottom: height - 22 };
  const [first, last] = [times[0], times[times.length - 1]];
  const start = Math.min(first, last - 60000);
  const x = at => box.left + (at - start) / (last - start) * (box.right - box.left);
  const y = value => box.bottom - value / ticks[ticks.length - 1] * (box.bottom - box.top);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': spec.title });
  axes(svg, box, ticks, start, last, x, y, spec.write);
  if (tops) areas(svg, spec.series, tops, times, x, y);
  else lines(svg, spec.series, times, x, y);
  if (spec.limit && spec.limit <= ticks[ticks.length - 1]) {
    svg.append(draw('line', { class: 'limit', x1: box.left, x2: box.right, y1: y(spec.limit), y2: y(spec.limit) }));
  }
  figure.replaceChildren(caption, svg);
  follow(figure, svg, spec, box, x);
}

function legend(series, limit) {
  const entry = one => make('span', '', make('i', one.fill), one.name);
  return make('span', 'legend', ...(series.length > 1 ? series.map(entry) : []));
}

function axes(svg, box, ticks, start, last, x, y, write) {
  for (const tick of ticks) {
    const at = Math.round(y(tick));
    svg.append(draw('line', { class: tick ? 'grid' : 'axis', x1: box.left, x2: box.right, y1: at, y2: at }));
    svg.append(draw('text', { x: box.left - 7, y: at + 4, 'text-anchor': 'end' }, write(tick)));
  }
  const lengths = [15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400].map(s => s * 1000);
  const most = Math.max(2, Math.floor((box.right - box.left) / 85));
  const step = lengths.find(length => (last - start) / length <= most) || 21600e3;
  const zone = new Date(last).getTimezoneOffset() * 60000;
  for (let at = Math.ceil((start - zone) / step) * step + zone; at <= last; at += step) {
    const text = draw('text', { x: x(at), y: box.bottom + 16, 'text-anchor': 'middle' }, clock(at, step < 60000));
    svg.append(draw('line', { class: 'axis', x1: x(at), x2: x(at), y1: box.bottom, y2: box.bottom + 4 }));
    if (x(at) > box.left + 8 && x(at) < box.right - 14) svg.append(text);
  }
}

function lines(svg, series, times, x, y) {
  for (const one of series) {
    let path = '', under = '', from = null;
    one.values.forEach((value, at) => {
      if (value === null) return;
      const isFirst = at === 0 || one.values[at - 1] === null;
      const point = `${x(times[at]).toFixed(1)},${y(value).toFixed(1)}`;
      path += (isFirst ? 'M' : 'L') + point;
      if (isFirst) from = x(times[at]).toFixed(1);
      under += (isFirst ? `M${from},${y(0)}L` : 'L') + point;
      const isLast = at === one.values.length - 1 || one.values[at + 1] === null;
      if (isLast) under += `L${x(times[at]).toFixed(1)},${y(0)}Z`;
      if (isFirst && isLast) svg.append(draw('circle', { class: one.fill, cx: x(times[at]), cy: y(value), r: 2 }));
    });
    svg.append(draw('path', { class: 'under ' + one.fill, d: under }));
    svg.append(draw('path', { class: 'series ' + one.stroke, d: path }));
  }
}

// Returns for each series the heights of its upper edge.
function stack(series, length) {
  const edge = new Array(length).fill(0);
  return series.map(one => one.values.map((value, at) => (edge[at] += value || 0)));
}

function areas(svg, series, tops, times, x, y) {
  series.forEach((one, number) => {
    const below = number ? tops[number - 1] : times.map(() => 0);
    const edge = (heights, at) => `${x(times[at]).toFixed(1)},${y(heights[at]).toFixed(1)}`;
    const there = times.map((_, at) => edge(tops[number], at));
    const back = times.map((_, at) => edge(below, at)).reverse();
    svg.append(draw('path', { class: one.fill, d: 'M' + there.concat(back).join('L') + 'Z' }));
  });
}

// Shows the values under the pointer.
function follow(figure, svg, spec, box, x) {
  let line = null, tip = null;
  const leave = () => {
    if (line) line.remove();
    if (tip) tip.remove();
    line = tip = null;
  };
  svg.addEventListener('pointerleave', leave);
  svg.addEventListener('pointermove', event => {
    leave();
    const place = event.clientX - svg.getBoundingClientRect().left;
    let best = 0;
    spec.times.forEach((time, at) => {
      if (Math.abs(x(time) - place) < Math.abs(x(spec.times[best]) - place)) best = at;
    });
    const at = x(spec.times[best]);
    line = draw('line', { class: 'cursor', x1: at, x2: at, y1: box.top, y2: box.bottom });
    svg.append(line);
    tip = make('div', 'tip', make('b', '', clock(spec.times[best], true)));
    for (const one of spec.stacked ? [...spec.series].reverse() : spec.series) {
      const value = one.values[best];
      const text = value === null ? 'unknown' : spec.write(value) + (spec.each || '');
      tip.append(make('div', '', make('i', one.fill), `${one.name}: ${text}`));
    }
    figure.append(tip);
    const side = at > (box.left + box.right) / 2 ? at - tip.offsetWidth - 4 : at + 28;
    tip.style.left = Math.max(4, side) + 'px';
  });
}

function line(name, values, colour) {
  return { name, values, stroke: 's' + colour, fill: 'f' + colour };
}

// A state keeps its colour as long as the page is open.
const colourOf = new Map();
function colour(state) {
  if (!colourOf.has(state)) colourOf.set(state, colourOf.size < COLOURS ? colourOf.size : COLOURS);
  return colourOf.get(state);
}

const total = values => values.reduce((sum, value) => sum + value, 0);

// Returns the series of the states: those that took most time by name, the other ones together.
function states(data, withResting) {
  const shown = Object.entries(data.history.states)
    .filter(([state]) => withResting || !data.resting.includes(state))
    .sort((a, b) => total(b[1]) - total(a[1]));
  const named = shown.slice(0, COLOURS);
  named.filter(([state]) => !data.resting.includes(state)).forEach(([state]) => colour(state));
  const series = named.map(([state, values]) => {
    const isResting = data.resting.includes(state);
    const number = isResting ? 'rest' : colour(state);
    return { name: state, values, stroke: 's' + number, fill: 'f' + number };
  });
  const rest = shown.slice(COLOURS);
  if (rest.length) {
    series.push(line('other', rest[0][1].map((_, at) => total(rest.map(([, values]) => values[at]))), COLOURS));
  }
  return series;
}

function charts(data) {
  const history = data.history;
  const times = history.before_s.map(s => data.at_ms - s * 1000);
  const of = (id, spec) => chart($('chart-' + id), { times, ...spec });
  of('lag', {
    title: 'Lag', unit: 'largest of the channels', write: millis, least: 1,
    series: [line('lag', history.lag_ms, 0)],
    none: data.now.is_replica ? '' : 'This server follows no source.',
  });
  of('rates', {
    title: 'Rates', unit: 'per second', write: short, each: '/s', least: 1,
    series: [line('statements', history.statements, 2), line('commits', history.commits, 1), line('applied', history.applied, 0)],
  });
  of('states', {
    title: 'Time by state', unit: 'threads, on average', write: short, stacked: true, least: 0.01,
    series: states(data, $('resting').checked),
  });
  of('age', {
    title: 'Age of the checkpoint', unit: 'log that recovery would read', write: bytes, base: 1024, least: 1024,
    series: [line('age', history.checkpoint_age, 4)], limit: data.now.log_capacity_bytes,
  });
  of('writes', {
    title: 'Writes', unit: 'bytes per second', write: bytes, each: '/s', base: 1024, least: 1024,
    series: [line('redo log', history.log_bytes, 4), line('pages', history.page_bytes, 2)],
  });
  of('dirty', {
    title: 'Dirty pages', unit: `of ${bytes(data.now.pool_bytes)} of buffer pool`, write: bytes, base: 1024, least: 1024,
    series: [line('dirty', history.dirty, 2)],
  });
  of('connections', {
    title: 'Connections', unit: 'largest number seen', write: short, least: 4,
    series: [line('connected', history.connections, 0), line('running', history.running, 3)],
  });
}

// Cards ------------------------------------------------------------------------------------------

function card(id, name, value, unit, more, mood) {
  const element = make('div', 'card ' + (mood || ''), make('div', 'name', name));
  element.id = id;
  element.append(make('div', 'value', value, unit ? make('small', '', unit) : ''), make('div', 'more', more));
  return element;
}

function cards(data) {
  const now = data.now;
  const rate = value => value === null ? '–' : short(value);
  const part = (value, whole) => whole ? number(100 * value / whole, 1) + '%' : '–';
  const [lag, unit] = now.lag_ms === null ? ['–', ''] : millis(now.lag_ms).split(/ (.*)/);
  const mood = now.lag_ms === null ? (now.is_replica ? 'bad' : '') : now.lag_ms < 1000 ? 'good' : now.lag_ms < 30000 ? 'warn' : 'bad';
  $('cards').replaceChildren(
    card('card-lag', 'Lag now', lag, unit, now.is_replica ? (now.lag_ms === null ? 'not known' : 'behind the sources') : 'no channel', mood),
    card('card-applied', 'Applied', rate(now.applied_per_s), '/s', 'of the sources'),
    card('card-commits', 'Commits', rate(now.commits_per_s), '/s', 'with applied ones'),
    card('card-statements', 'Statements', rate(now.statements_per_s), '/s', 'of clients'),
    card('card-connections', 'Connections', short(now.connections), '', `${short(now.running)} running, limit ${short(now.max_connections)}`),
    card('card-age', 'Checkpoint age', part(now.checkpoint_age_bytes, now.log_capacity_bytes), '', `${bytes(now.checkpoint_age_bytes)} of ${bytes(now.log_capacity_bytes)}`),
    card('card-dirty', 'Dirty pages', part(now.dirty_bytes, now.pool_bytes), '', `${bytes(now.dirty_bytes)} of ${bytes(now.pool_bytes)}`));
}

// Replication ------------------------------------------------------------------------------------

function node(name, more, isSelf) {
  return make('div', 'node' + (isSelf ? ' self' : ''), make('b', '', name), make('span', '', more));
}

const isWell = channel => channel.receiver === 'Yes' && channel.applier === 'Yes';

function topology(data) {
  const server = data.server;
  const parts = [];
  if (data.channels.length) {
    const sources = data.channels.map(channel =>
      node(`${channel.host}:${channel.port}`, (channel.name ? `channel ${channel.name}` : 'source') + (channel.source_server_id ? `, id ${channel.source_server_id}` : '')));
    parts.push(make('div', 'rank', ...sources));
    const well = data.channels.every(isWell);
    parts.push(make('div', 'arrow' + (well ? '' : ' bad'), well ? 'runs' : 'stopped'));
  }
  parts.push(node(`${server.host}:${server.port}`, `this server, id ${server.server_id}`, true));
  const replicas = data.replicas || [];
  if (replicas.length) {
    parts.push(make('div', 'arrow', `${replicas.length} connected`));
    parts.push(make('div', 'rank', ...replicas.map(replica =>
      node(replica.host ? `${replica.host}:${replica.port}` : `server ${replica.server_id}`, `replica, id ${replica.server_id}`))));
  }
  $('topology').replaceChildren(...parts);
}

function facts(pairs) {
  const list = make('dl', '');
  for (const [name, value, className] of pairs) {
    if (value === '' || value === null) continue;
    const shown = make('dd', (className || '').replace('all', '').trim(), String(value));
    list.append(make('div', (className || '').includes('all') ? 'all' : '', make('dt', '', name), shown));
  }
  return list;
}

function channels(data) {
  const list = data.channels.map(channel => {
    const badge = (name, state) => make('span', 'badge ' + ({ Yes: 'good', No: 'bad' }[state] || 'warn'), `${name} ${({ Yes: 'runs', No: 'stopped' })[state] || 'connects'}`);
    const error = error => error ? `${error.number}: ${error.message}` : '';
    const title = make('h3', '', channel.name ? `Channel ${channel.name}` : 'Default channel', badge('receiver', channel.receiver), badge('applier', channel.applier));
    return make('div', 'channel', title, facts([
      ['Follows', `${channel.user}@${channel.host}:${channel.port}`],
      ['Lag', channel.lag_ms === null ? 'not known' : millis(channel.lag_ms)],
      ['Held back by', channel.held_back_by],
      ['Applied since the start', `${number(channel.applied, 0)} transactions` + (channel.retries ? `, ${channel.retries} retries` : '')],
      ['Received up to', channel.received],
      ['Applied up to', channel.executed],
      ['Relay log', bytes(channel.relay_bytes)],
      ['Workers', channel.workers > 1 ? channel.workers : 'none: one thread applies'],
      ['Error of the receiver', error(channel.receiver_error), 'all error'],
      ['Error of the applier', error(channel.applier_error), 'all error'],
      ['GTIDs received', channel.retrieved_gtids, 'all gtids'],
      ["MariaDB's position", channel.mariadb_gtids, 'all gtids'],
    ]));
  });
  const own = make('div', 'channel', make('h3', '', 'This server'), facts([
    ['Server UUID', data.server.server_uuid],
    ['GTID mode', data.server.gtid_mode],
    ['Binary log', data.server.binary_log ? 'on' : 'off'],
    ['Replicas', data.replicas === null ? 'shown to accounts with REPLICATION SLAVE' : data.replicas.length],
    ['GTIDs executed', data.server.gtid_executed || 'none', 'all gtids'],
  ]));
  $('channels').replaceChildren(...list, own);
}

// Threads ----------------------------------------------------------------------------------------

let threadsBefore = null;

function threads(data) {
  // Two answers that came at once tell nothing of what lies between them.
  if (threadsBefore && data.at_ms - threadsBefore.at_ms < 1000) return;
  const before = new Map((threadsBefore ? threadsBefore.threads : []).map(thread => [thread.name, thread.states]));
  const spanUs = threadsBefore ? (data.at_ms - threadsBefore.at_ms) * 1000 : data.server.uptime_s * 1e6;
  $('threads-span').textContent = threadsBefore ? `the last ${duration(spanUs / 1e6)}, wall time` : 'since the start, wall time';
  threadsBefore = { at_ms: data.at_ms, threads: data.threads };
  const there = data.threads.filter(thread => thread.running > 0 || before.size > 0);
  const rows = there.map(thread => {
    const old = before.get(thread.name) || {};
    const parts = Object.entries(thread.states).map(([state, [wall, cpu]]) => {
      const [oldWall, oldCpu] = old[state] || [0, 0];
      return { state, wall: Math.max(0, wall - oldWall), cpu: Math.max(0, cpu - oldCpu), rests: data.resting.includes(state) };
    }).filter(part => part.wall > 0);
    const wall = total(parts.map(part => part.wall));
    return { thread, parts, wall, cpu: total(parts.map(part => part.cpu)), busy: total(parts.filter(part => !part.rests).map(part => part.wall)) };
  }).filter(row => row.wall > 0).sort((a, b) => b.busy - a.busy || b.cpu - a.cpu);
  const shown = new Map();
  const cells = rows.flatMap(row => {
    const bar = make('div', 'bar');
    const order = [...row.parts].sort((a, b) => a.rests - b.rests || b.wall - a.wall);
    for (const part of order) {
      const fill = part.rests ? 'frest' : 'f' + colour(part.state);
      const piece = make('i', fill);
      piece.style.width = 100 * part.wall / row.wall + '%';
      piece.title = `${part.state}: ${number(100 * part.wall / row.wall, 1)}%`;
      bar.append(piece);
      const name = part.rests ? 'waits for work' : fill === 'f' + COLOURS ? 'other' : part.state;
      if (part.wall / row.wall > 0.005) shown.set(name, fill);
    }
    const count = row.thread.running > 1 ? ` ×${row.thread.running}` : '';
    return [make('div', 'name', row.thread.name, make('span', '', count)), bar,
      make('div', 'cpu', `${number(100 * row.cpu / spanUs, 1)}% CPU`)];
  });
  $('threads').replaceChildren(...cells);
  $('threads-legend').replaceChildren(...[...shown].map(([name, fill]) => make('span', '', make('i', fill), name)));
}

// Statements -------------------------------------------------------------------------------------

const opened = new Set();

function statements(data) {
  if (!data.sees_statements) {
    $('statements').replaceChildren('They are shown to accounts with SELECT on performance_schema.events_statements_summary_by_digest.');
    return;
  }
  if (!data.measures_statements) {
    $('statements').replaceChildren('They are not measured, because performance_schema is OFF.');
    return;
  }
  const heads = ['Statement', 'Total', 'Calls', 'Average', '95%', 'Rows sent', 'Rows read', 'Rows changed', 'Errors'];
  const most = Math.max(1e-9, ...data.statements.map(row => row.total_ms));
  const rows = data.statements.map(row => {
    const key = `${row.schema} ${row.text}`;
    const code = make('code', opened.has(key) ? 'open' : '', row.text || '(all other statements)');
    code.title = row.text || '';
    code.addEventListener('click', () => {
      code.classList.toggle('open');
      if (!opened.delete(key)) opened.add(key);
    });
    const part = make('span', 'part');
    part.style.width = 100 * row.total_ms / most + '%';
    const cells = [millis(row.total_ms), number(row.count, 0), millis(row.average_ms), millis(row.p95_ms), number(row.rows_sent, 0),
      number(row.rows_examined, 0), number(row.rows_affected, 0), number(row.errors, 0)];
    const text = make('td', 'text', code, make('small', '', row.schema || ''), part);
    return make('tr', '', text, ...cells.map(cell => make('td', '', cell)));
  });
  const head = make('thead', '', make('tr', '', ...heads.map(name => make('th', '', name))));
  $('statements').replaceChildren(make('table', '', head, make('tbody', '', ...rows)));
}

// The page ---------------------------------------------------------------------------------------

let latest = null;

function about(data) {
  const server = data.server;
  $('where').textContent = `${server.host}:${server.port}`;
  document.title = `${server.host}:${server.port} · Slipstream`;
  const stopped = data.channels.filter(channel => !isWell(channel));
  $('dot').className = 'dot ' + (stopped.length ? 'bad' : 'good');
  const roles = [data.now.is_replica ? 'replica' : 'source', server.read_only ? 'read only' : 'takes changes'];
  $('role').textContent = roles.join(', ');
  $('updated').textContent = `at ${clock(data.at_ms, true)}, up for ${duration(server.uptime_s)}`;
  $('about').textContent = `${server.comment} ${server.version}. A sample is taken every ${data.sample_s} s and kept in memory for a day; a chart shows the largest value of what it puts together into one point, and the average of rates.`;
}

function show(data) {
  latest = data;
  about(data);
  cards(data);
  topology(data);
  channels(data);
  charts(data);
  threads(data);
  statements(data);
}

function trouble(text) {
  $('trouble').textContent = text;
  $('trouble').hidden = text === '';
  if (text) $('dot').className = 'dot bad';
}

let asked = 0;

// Asks for the figures and shows them. An answer that a later one has overtaken is not shown.
async function ask() {
  const number = asked += 1;
  try {
    const place = new URL('page.json', location.origin + location.pathname);
    place.searchParams.set('span_s', $('span').value);
    const answer = await fetch(place, { cache: 'no-store' });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    const data = await answer.json();
    if (number !== asked) return;
    trouble('');
    show(data);
  } catch (error) {
    if (number === asked) trouble(`The server does not give its figures: ${error.message}`);
  }
}

let timer = 0;

async function poll() {
  clearTimeout(timer);
  if (!document.hidden || !latest) await ask();
  timer = setTimeout(poll, POLL_MS);
}

$('span').addEventListener('change', poll);
$('resting').addEventListener('change', () => latest && charts(latest));
document.addEventListener('visibilitychange', () => document.hidden || poll());
let resizing = 0;
addEventListener('resize', () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => latest && charts(latest));
});
poll();
