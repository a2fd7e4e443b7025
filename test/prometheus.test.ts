// GET /metrics: its text by a strict reading of the exposition format, its names against the documents and the
// dashboard, and its labels against names and ids of data.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { collect } from '../bench/lib/heap.ts';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Exposed {
  /** Help and type by family. */
  readonly families: ReadonlyMap<string, { readonly help: string; readonly type: string }>;
  readonly series: readonly Series[];
}

const SERIES = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (Na[Nn]|[+-]?Inf|[-+0-9.eE]+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** Reads the text format, and fails on every line that is not of it. */
function parsed(text: string): Exposed {
  const families = new Map<string, { help: string; type: string }>();
  const series: Series[] = [];
  const seen = new Set<string>();
  assert.ok(text.endsWith('\n'), 'the text ends with a line feed');
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const about = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (about !== null) {
      const [, kind, name = '', rest = ''] = about;
      const family = families.get(name) ?? { help: '', type: '' };
      if (kind === 'HELP') family.help = rest;
      else family.type = rest;
      families.set(name, family);
      continue;
    }
    const [, name = '', inside = '', value = ''] =
      SERIES.exec(line) ?? assert.fail(`not a line of the format: ${line}`);
    const labels: Record<string, string> = {};
    LABEL.lastIndex = 0;
    for (let at = 0; at < inside.length; at = LABEL.lastIndex) {
      const [, label = '', text = ''] = LABEL.exec(inside) ?? assert.fail(`not labels: ${inside}`);
      labels[label] = text;
    }
    assert.ok(!seen.has(`${name}{${inside}}`), `${name}{${inside}} occurs twice`);
    seen.add(`${name}{${inside}}`);
    series.push({ name, labels, value: Number(value.replace('Inf', 'Infinity')) });
  }
  return { families, series };
}

/** The family of a series: its name without the suffix of a histogram or summary. */
function familyOf(name: string, { families }: Exposed): string {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return families.has(name) ? name : base;
}

let server: TestServer;
let http: HttpClient;
let exposed: Exposed;
const scrape = async (of = server): Promise<Exposed> => {
  const answer = await fetch(`${of.http}/metrics`, { headers: { authorization: `Bearer ${of.key}` } });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return parsed(await answer.text());
};
const total = ({ series }: Exposed, name: string, labels: Readonly<Record<string, string>> = {}): number =>
  series
    .filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);

before(async () => {
  server = await startTestServer({ shards: '2', workers: '2' });
  http = new HttpClient(server.http, server.key);
  await http.post('/memories', { id: 'wombat-memory', partitions: 2 });
  for (const memory of ['default', 'wombat-memory']) {
    for (let i = 0; i < 5; i++)
      await http.post(`/memories/${memory}/add`, { subject: `wombat ${i}`, relation: 'likes', object: 'roots' });
    await http.post(`/memories/${memory}/recall`, { query: 'wombat roots' });
  }
  await http.ask('GET', '/memories/wombat-missing/stats');
  // Garbage collections have series once there was one, and node reports one some time after it. Groups of the records of reads
  // may still be under way.
  await eventually('a collection of garbage is reported, and no write is under way', async () => {
    collect();
    exposed = await scrape();
    const waited = total(exposed, 'granary_queue_wait_seconds_count');
    return (
      total(exposed, 'nodejs_gc_duration_seconds_count') > 0 && waited === total(exposed, 'granary_group_writes_sum')
    );
  });
});
after(() => server.close());

test('every family has a help sentence and a type, and every series a family', () => {
  for (const [name, { help, type }] of exposed.families) {
    assert.match(type, /^(counter|gauge|histogram|summary)$/, name);
    if (name.startsWith('granary_')) assert.match(help, /^[A-Z].+\.$/, name);
  }
  for (const { name } of exposed.series) assert.ok(exposed.families.has(familyOf(name, exposed)), name);
});

test('names of granary end in their unit, and counters in _total', () => {
  for (const [name, { type, help }] of exposed.families) {
    if (!name.startsWith('granary_')) continue;
    assert.equal(name.endsWith('_total'), type === 'counter', name);
    if (name.endsWith('_seconds')) assert.match(help, /in seconds/, name);
    assert.match(
      name,
      /_(total|seconds|bytes|writes|grains|records|segments|files|shards|calls|streams|up|draining|memories|keys|webhooks|flight|waiting|info)$/,
    );
  }
});

test('buckets of histograms ascend to their count', () => {
  const buckets = Map.groupBy(
    exposed.series.filter(({ name }) => name.startsWith('granary_') && name.endsWith('_bucket')),
    ({ name, labels: { le: _, ...rest } }) => `${name} ${JSON.stringify(rest)}`,
  );
  assert.ok(buckets.size > 4);
  for (const [key, series] of buckets) {
    assert.equal(series.at(-1)?.labels['le'], '+Inf', key);
    for (const [at, { value }] of series.entries()) assert.ok(at === 0 || value >= series[at - 1]!.value, key);
    const { name, labels } = series[0]!;
    const { le: _, ...rest } = labels;
    assert.equal(series.at(-1)?.value, total(exposed, name.replace('_bucket', '_count'), rest), key);
  }
});

test('counters count what was done', async () => {
  assert.equal(total(exposed, 'granary_requests_total', { operation: 'add', face: 'http', code: 'ok' }), 10);
  assert.equal(total(exposed, 'granary_requests_total', { operation: 'stats', code: 'MEM-E003' }), 1);
  assert.equal(total(exposed, 'granary_request_seconds_count', { operation: 'recall' }), 2);
  assert.equal(total(exposed, 'granary_shard_up'), 2);
  assert.ok(total(exposed, 'granary_group_writes_sum') >= 10);
  assert.equal(total(exposed, 'granary_queue_wait_seconds_count'), total(exposed, 'granary_group_writes_sum'));
  // Each of the two shards may be committing a group, such as that of read records, while it is scraped.
  const groups = total(exposed, 'granary_group_writes_count');
  const commits = total(exposed, 'granary_commit_seconds_count');
  assert.ok(commits <= groups && commits >= groups - 2, `${commits} commits of ${groups} groups`);
  // Groups of shards of one worker may share a write, so there are no more syncs than commits. One may be under way.
  const syncs = total(exposed, 'granary_fsync_seconds_count');
  assert.ok(syncs > 0 && syncs <= groups, `${syncs} syncs of ${groups} groups`);
  assert.deepEqual(
    exposed.series.filter(({ name }) => name === 'granary_shard_refused_calls_total').map(({ labels }) => labels),
    [{ shard: '0' }, { shard: '1' }],
  );
  // One recall in one partition, and one in two.
  assert.equal(total(exposed, 'granary_recall_stage_seconds_count', { stage: 'candidates' }), 3);
  assert.equal(total(exposed, 'granary_recall_stage_seconds_count', { stage: 'fusion' }), 1);
  assert.equal(total(exposed, 'granary_memories'), 2);
  // A shard may have sealed its tail by itself meanwhile, and the flush needs something to seal.
  const sealed = total(await scrape(), 'granary_seals_total');
  await http.post('/memories/default/add', { subject: 'wombat 6', relation: 'likes', object: 'roots' });
  await http.post('/memories/default/flush', {});
  // A shard that answers late is scraped without its numbers.
  await eventually('the seal and its segment are counted', async () => {
    const later = await scrape();
    return total(later, 'granary_seals_total') > sealed && total(later, 'granary_shard_segments') > 0;
  });
});

for (const [openedCacheMb, isKept] of [
  ['16', true],
  ['0', false],
] as const)
  test(`reads of opened grains are counted: --opened-cache-mb ${openedCacheMb}`, async () => {
    const own = await startTestServer({ shards: '2', workers: '0', openedCacheMb });
    try {
      const client = new HttpClient(own.http, own.key);
      await client.post('/memories/default/add', { subject: 'wombat', relation: 'likes', object: 'roots' });
      for (let i = 0; i < 3; i++) await client.post('/memories/default/recall', { subject: 'wombat' });
      const families = await scrape(own);
      assert.equal(total(families, 'granary_opened_cache_bytes') > 0, isKept);
      assert.equal(total(families, 'granary_opened_cache_hits_total'), isKept ? 2 : 0);
      assert.equal(total(families, 'granary_opened_cache_misses_total'), isKept ? 1 : 3);
    } finally {
      await own.close();
    }
  });

test('labels are of few values, none of them from data', () => {
  const allowed = new Set([
    'operation',
    'face',
    'code',
    'le',
    'shard',
    'worker',
    'stage',
    'outcome',
    'version',
    'node',
  ]);
  for (const { name, labels } of exposed.series) {
    if (!name.startsWith('granary_')) continue;
    for (const [label, value] of Object.entries(labels)) {
      assert.ok(allowed.has(label), `${name} has label ${label}`);
      assert.doesNotMatch(value, /wombat|gr_|key_|[0-9a-f]{16}/, `${name} ${label}`);
    }
  }
});

test('docs/metrics.md lists the families of granary', () => {
  const listed = [...read('docs/metrics.md').matchAll(/^\| `(granary_\w+)`/gm)].map((match) => match[1]);
  const names = [...exposed.families.keys()].filter((name) => name.startsWith('granary_'));
  assert.deepEqual(listed.toSorted(), names.toSorted());
});

test('the dashboard asks for names and labels that exist, and shows every family of granary', () => {
  const dashboard = JSON.parse(read('deploy/grafana/granary.json')) as {
    panels: { id: number; type: string; title: string; targets?: { expr: string }[] }[];
  };
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const asked = new Set<string>();
  // `rate_interval` is a variable of the dashboard; `instance` is a label that Prometheus adds.
  const labels = new Set([...exposed.series.flatMap(({ labels: own }) => Object.keys(own)), 'instance']);
  for (const { type, title, targets = [] } of dashboard.panels) {
    assert.ok(type === 'row' || targets.length > 0, title);
    for (const { expr } of targets) {
      for (const [name] of expr.matchAll(/\b(granary|process|nodejs)_\w+/g)) {
        asked.add(familyOf(name, exposed));
        assert.ok(exposed.families.has(familyOf(name, exposed)), `${title}: ${name} is not exposed`);
      }
      for (const [, by = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
        for (const label of by.split(', ')) assert.ok(labels.has(label), `${title}: no label ${label}`);
    }
  }
  for (const name of exposed.families.keys())
    if (name.startsWith('granary_')) assert.ok(asked.has(name), `no panel shows ${name}`);
});

test('each alert rule asks for names and labels that exist, and says what to do', () => {
  const rules = read('deploy/prometheus/granary.rules.yml').split('- alert: ').slice(1);
  assert.ok(rules.length >= 10);
  const labels = new Set([...exposed.series.flatMap(({ labels: own }) => Object.keys(own)), 'instance', 'job']);
  for (const rule of rules) {
    const name = /^Granary\w+/.exec(rule)?.[0] ?? assert.fail(rule);
    const expr = /^ {8}expr: (.+)$/m.exec(rule)?.[1] ?? assert.fail(`${name} has an expression`);
    assert.match(rule, /summary: .+\n {10}action: [A-Z].+\./, name);
    const names = [...expr.matchAll(/\bgranary_\w+/g)].map(([one]) => one);
    assert.ok(names.length > 0 || expr.startsWith('up{'), name);
    for (const one of names) assert.ok(exposed.families.has(familyOf(one, exposed)), `${name}: no ${one}`);
    const used = [...expr.matchAll(/(?:by|on) \(([^)]*)\)|\{(\w+)/g)].flatMap(([, by, inside]) =>
      (by ?? inside ?? '').split(', '),
    );
    for (const [, label = ''] of rule.matchAll(/\$labels\.(\w+)/g)) used.push(label);
    for (const label of used) assert.ok(labels.has(label), `${name}: no label ${label}`);
  }
});

test('promtool accepts the rules', (t) => {
  const promtool = '/usr/bin/promtool';
  if (!existsSync(promtool)) return t.skip(`${promtool} is not installed`);
  const out = execFileSync(promtool, ['check', 'rules', join(root, 'deploy/prometheus/granary.rules.yml')]);
  assert.match(out.toString(), /SUCCESS: \d+ rules found/);
});

test('the disk, the build and the age of a backup are shown', async () => {
  const [build] = exposed.series.filter(({ name }) => name === 'granary_build_info');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.deepEqual(build, { name: 'granary_build_info', labels: { version, node: process.versions.node }, value: 1 });
  const [free, size] = [total(exposed, 'granary_disk_free_bytes'), total(exposed, 'granary_disk_size_bytes')];
  assert.ok(free > 0 && free < size, `${free} of ${size}`);
  const ages = (of: Exposed) => of.series.filter(({ name }) => name === 'granary_backup_age_seconds');
  assert.equal(ages(exposed).length, 0);
  const path = mkdtempSync(join(tmpdir(), 'granary-backup-'));
  try {
    await http.post('/memories/default/app/exec', { command: 'backup', args: { path } });
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
  const [age] = ages(await scrape());
  assert.ok(age !== undefined && age.value >= 0 && age.value < 600, String(age?.value));
});
