// Chroma's server (the Python package `chromadb`), over its HTTP interface. On one machine it ranks by vector alone; words
// only filter.
import { join } from 'node:path';
import { freePort, startChild } from './child-server.ts';
import type { Peer, PeerKind, PeerServer } from './peer.ts';

const COLLECTIONS = 'api/v2/tenants/default_tenant/databases/default_database/collections';

export function chromaKind(packages: string): PeerKind {
  return {
    start: (folder) => startChroma(packages, folder),
    open: openChroma,
  };
}

async function startChroma(packages: string, folder: string): Promise<PeerServer> {
  const port = await freePort();
  return startChild(port, {
    command: process.env['PYTHON'] ?? 'python3',
    args: [
      ...[join(packages, 'bin', 'chroma'), 'run', '--path', join(folder, 'chroma')],
      ...['--host', '127.0.0.1', '--port', String(port)],
    ],
    options: { env: { ...process.env, PYTHONPATH: packages, ANONYMIZED_TELEMETRY: 'False' } },
    signal: 'SIGTERM',
    isReady: () =>
      fetch(`http://127.0.0.1:${port}/api/v2/heartbeat`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
}

async function openChroma(port: string): Promise<Peer> {
  const ask = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/${COLLECTIONS}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Chroma answers ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const configuration = { hnsw: { space: 'cosine' } };
  // The interface's answers.
  const { id } = (await ask('', { name: 'grains', get_or_create: true, configuration })) as { readonly id: string };
  return {
    async add(rows) {
      await ask(`/${id}/add`, {
        ids: rows.map((row) => String(row.id)),
        documents: rows.map((row) => row.text),
        embeddings: rows.map((row) => Array.from(row.vector)),
      });
    },
    // It indexes what it is given.
    index: async () => 0,
    async search(_text, vector, limit) {
      const asked = { query_embeddings: [Array.from(vector)], n_results: limit, include: ['distances'] };
      const { ids } = (await ask(`/${id}/query`, asked)) as { readonly ids: readonly (readonly string[])[] };
      return (ids[0] ?? []).map(Number);
    },
    close: async () => undefined,
  };
}
