// Documents: bytes a second that one thread reads and hands over as chunks, that a server imports from the first byte of
// the request to the answer, and the memory of a server for the largest file.
import { setTimeout as delay } from 'node:timers/promises';
import { Documents } from '../../src/server/documents/documents.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { DocumentSource } from '../lib/documents.ts';
import { inFolder } from '../lib/folder.ts';
import { type Measured, type Options, type Scenario, serverSize, sized } from '../lib/scenario.ts';
import { startServer, type Target } from '../lib/server.ts';
import { median, rounded } from '../lib/statistics.ts';
import { spentBetween, totalOf } from '../lib/thread-cpu.ts';

const WANTED = {
  window: { size: 1_000, overlap: 100 },
  fileName: 'a.txt',
  fields: { confidence: 0.8, createdAt: 1_750_000_000 },
};
const MB = 1_000_000;
/** After this time without documents the thread has ended, and a collection has run. */
const GIVEN_BACK_MS = 15_000;
const LOOK_MS = 20;

export const scenario: Scenario = {
  name: 'documents',
  about: 'documents read, cut and stored: bytes a second of text, HTML and PDF, and the memory for the largest file',
  aims: [
    { metric: 'text_stored_mb_per_s', atLeast: 20 },
    { metric: 'html_stored_mb_per_s', atLeast: 20 },
    { metric: 'pdf_stored_mb_per_s', atLeast: 5 },
    { metric: 'text_read_mb_per_s', atLeast: 20 },
    { metric: 'html_read_mb_per_s', atLeast: 20 },
    { metric: 'pdf_read_mb_per_s', atLeast: 5 },
    { metric: 'large_file_peak_mb', atMost: 600 },
    { metric: 'large_file_kept_mb', atMost: 150 },
  ],
  run,
};

interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
}

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const bytes = sized(size, { full: 20 * MB, quick: 5 * MB, smoke: 50_000 });
  const pages = sized(size, { full: 2_000, quick: 500, smoke: 3 });
  const large = sized(size, { full: 50 * MB, quick: 20 * MB, smoke: 100_000 });
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const source = new DocumentSource(7);
  const samples: Readonly<Record<string, Sample>> = {
    text: { name: 'a.txt', bytes: source.text(bytes) },
    html: { name: 'a.html', bytes: source.html(bytes) },
    pdf: { name: 'a.pdf', bytes: await source.pdf(pages) },
  };
  const read = await readRates(samples, rounds);
  return inFolder(async (folder) => {
    const target = await start({ dataDirectory: folder, auth: 'api-key', profile, ...serverSize(size) });
    try {
      const client = new Client(target);
      const stored = await storedRates(client, target, samples, rounds);
      const memory = await memoryOf(client, target, source.text(large), size === 'smoke' ? 0 : GIVEN_BACK_MS);
      return {
        parameters: { bytes, pages, pdf_bytes: samples['pdf']?.bytes.length ?? 0, large_bytes: large, rounds },
        metrics: rounded({ ...stored, ...read, ...memory }),
      };
    } finally {
      await target.stop();
    }
  });
}

/** By one thread, with nobody behind it; the first round starts the thread. */
async function readRates(samples: Readonly<Record<string, Sample>>, rounds: number): Promise<Record<string, number>> {
  const documents = new Documents({ threads: 1 });
  const rates: Record<string, number> = {};
  for (const [kind, { name, bytes }] of Object.entries(samples)) {
    const found: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      // The thread takes them over.
      const given = Uint8Array.from(bytes);
      const began = performance.now();
      const document = await documents.chunks(given, name, WANTED);
      let count = 0;
      for await (const batch of document.batches) count += batch.count;
      document.close();
      if (count !== document.count) throw new Error(`${kind}: ${count} of ${document.count} chunks`);
      if (round > 0) found.push(bytes.length / 1_000 / (performance.now() - began));
    }
    rates[`${kind}_read_mb_per_s`] = median(found);
  }
  await documents.close();
  return rates;
}

/** Also prints the CPU of a megabyte by class of thread, which tells more than the rates on a shared machine. */
async function storedRates(
  client: Client,
  target: Target,
  samples: Readonly<Record<string, Sample>>,
  rounds: number,
): Promise<Record<string, number>> {
  const rates: Record<string, number> = {};
  for (const [kind, sample] of Object.entries(samples)) {
    const found: number[] = [];
    const megabytes = sample.bytes.length / MB;
    const spent: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      // A memory of its own: the same file again would be all duplicates.
      const id = await client.memory(`${kind}-${round}`);
      const before = await target.cpu();
      const began = performance.now();
      await client.importFile(id, sample);
      const tookMs = performance.now() - began;
      const after = await target.cpu();
      if (round === 0) continue;
      found.push(sample.bytes.length / 1_000 / tookMs);
      const cpu = before && after && spentBetween(before, after);
      cpuTable.add(`${kind}_stored_mb`, megabytes, cpu);
      if (cpu !== undefined) spent.push(totalOf(cpu) / 1_000 / megabytes);
    }
    rates[`${kind}_stored_mb_per_s`] = median(found);
    rates[`${kind}_stored_cpu_ms_per_mb`] = spent.length === 0 ? Number.NaN : median(spent);
  }
  return rates;
}

/** Resident memory above that of the server before the file. */
async function memoryOf(
  client: Client,
  target: Target,
  bytes: Uint8Array,
  restMs: number,
): Promise<Record<string, number>> {
  const id = await client.memory('large');
  await delay(restMs);
  const before = target.residentBytes() ?? 0;
  let peak = before;
  const looks = setInterval(() => {
    peak = Math.max(peak, target.residentBytes() ?? 0);
  }, LOOK_MS);
  await client.importFile(id, { name: 'large.txt', bytes });
  clearInterval(looks);
  await delay(restMs);
  const after = target.residentBytes() ?? 0;
  return { large_file_peak_mb: (peak - before) / MB, large_file_kept_mb: (after - before) / MB };
}

class Client {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ http, key = '' }: Target) {
    this.#base = `http://127.0.0.1:${http}/api/memories`;
    this.#headers = { authorization: `Bearer ${key}` };
  }

  async memory(name: string): Promise<string> {
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    const answer = await fetch(this.#base, { method: 'POST', headers, body: JSON.stringify({ name }) });
    return ((await answer.json()) as { readonly id: string }).id; // the created memory
  }

  async importFile(id: string, { name, bytes }: Sample): Promise<void> {
    const body = new FormData();
    body.append('file', new Blob([Uint8Array.from(bytes)]), name);
    const answer = await fetch(`${this.#base}/${id}/import-document`, { method: 'POST', headers: this.#headers, body });
    const told = (await answer.json()) as { readonly chunks?: number; readonly grains_created?: number }; // or an error
    if (!answer.ok || told.chunks !== told.grains_created) throw new Error(JSON.stringify(told).slice(0, 500));
  }
}
