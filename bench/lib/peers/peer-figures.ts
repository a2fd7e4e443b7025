// Writes the table and the picture of the newest kept comparison into the README, and the whole table into that of the
// benchmarks.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { written } from '../marked-part.ts';
import { PEERS, type PeerName } from './peer.ts';
import { type Panel, pictureOf, shown } from './peer-picture.ts';

const ROOT = new URL('../../../', import.meta.url);
const BEGIN = '<!-- peers: written by npm run bench -- --readme -->';
const END = '<!-- end of peers -->';

export interface PeerLine {
  readonly machine: string;
  readonly node: string;
  readonly commit: string;
  readonly metrics: Readonly<Record<string, number>>;
}

// Object.keys loses the type of the keys.
const NAMES = Object.keys(PEERS) as PeerName[];

/** `kept`: lines of full runs of the scenario, oldest first. A size is taken from the newest line that has it. */
export function writePeers(kept: readonly PeerLine[]): void {
  const bySize = newestBySize(kept);
  if (bySize.size === 0) return;
  const [smallest = 0] = bySize.keys();
  mkdirSync(new URL('docs/images/', ROOT), { recursive: true });
  writeFileSync(new URL('docs/images/peers.svg', ROOT), peersPicture(bySize));
  const [readme, page] = [new URL('README.md', ROOT), new URL('bench/README.md', ROOT)];
  const of = (text: string, part: string): string => written(text, { begin: BEGIN, end: END }, part);
  writeFileSync(readme, of(readFileSync(readme, 'utf8'), shortTable(bySize.get(smallest)!, smallest)));
  writeFileSync(
    page,
    of(readFileSync(page, 'utf8'), [...bySize].map(([size, line]) => longTable(line, size)).join('\n\n')),
  );
}

/** Ascending. */
export function newestBySize(kept: readonly PeerLine[]): Map<number, PeerLine> {
  const found = new Map<number, PeerLine>();
  for (const line of kept)
    for (const metric of Object.keys(line.metrics)) {
      const size = /^granary_(\d+)_rows_per_s$/.exec(metric)?.[1];
      if (size !== undefined) found.set(Number(size), line);
    }
  return new Map([...found].sort(([a], [b]) => a - b));
}

function measuredIn({ metrics }: PeerLine, size: number): PeerName[] {
  return NAMES.filter((name) => metrics[`${name}_${size}_rows_per_s`] !== undefined);
}

/** For the README. */
export function shortTable(line: PeerLine, size: number): string {
  const of = (name: PeerName, figure: string): string => shown(line.metrics[`${name}_${size}_${figure}`] ?? Number.NaN);
  return [
    `| ${size.toLocaleString('en')} rows | rows/s answered / indexed | recall p99 meanwhile | p50 after | bytes a row |`,
    '| --- | --- | --- | --- | --- |',
    ...measuredIn(line, size).map(
      (name) =>
        `| ${PEERS[name].title} | ${of(name, 'rows_per_s')} / ${of(name, 'settled_rows_per_s')} | ${of(name, 'during_p99_ms')} ms | ${of(name, 'after_p50_ms')} ms | ${of(name, 'bytes_per_row')} |`,
    ),
  ].join('\n');
}

/** For the page of the benchmarks. */
export function longTable(line: PeerLine, size: number): string {
  const of = (name: PeerName, figure: string): string => shown(line.metrics[`${name}_${size}_${figure}`] ?? Number.NaN);
  const rows = measuredIn(line, size).map((name) => {
    const stopped = line.metrics[`${name}_${size}_rows`];
    const { title, durability, finds } = PEERS[name];
    return [
      stopped === undefined ? title : `${title}, stopped after ${stopped.toLocaleString('en')} rows`,
      ...[of(name, 'rows_per_s'), of(name, 'settled_rows_per_s')],
      `${of(name, 'during_p50_ms')} / ${of(name, 'during_p99_ms')}`,
      `${of(name, 'after_p50_ms')} / ${of(name, 'after_p99_ms')}`,
      ...[of(name, 'bytes_per_row'), of(name, 'resident_mb')],
      ...[durability, finds],
    ].join(' | ');
  });
  return [
    `${size.toLocaleString('en')} rows, measured on ${line.machine}, Node ${line.node}; commit ${line.commit}.`,
    '',
    '| store | answered rows/s | indexed rows/s | recall meanwhile p50 / p99 ms | recall after p50 / p99 ms | bytes a row | memory MB | at the answer | finds by |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

export function peersPicture(bySize: ReadonlyMap<number, PeerLine>): string {
  const names = NAMES.filter((name) => [...bySize].some(([size, line]) => measuredIn(line, size).includes(name)));
  const panel = (title: string, figure: string): Panel => ({
    title,
    bars: names.map((name) => ({
      label: PEERS[name].title,
      values: [...bySize].map(([size, { metrics }]) => metrics[`${name}_${size}_${figure}`]),
    })),
  });
  const sizes = [...bySize.keys()].map((size) => `${size.toLocaleString('en')} rows`);
  return pictureOf(
    [
      panel('Rows a second, answered (longer is better)', 'rows_per_s'),
      panel('Rows a second, indexed (longer is better)', 'settled_rows_per_s'),
      panel('Recall p99 while rows are added, ms (shorter is better)', 'during_p99_ms'),
      panel('Recall p50 afterwards, ms (shorter is better)', 'after_p50_ms'),
      panel('Bytes on disk a row (shorter is better)', 'bytes_per_row'),
    ],
    sizes,
  );
}
