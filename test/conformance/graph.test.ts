// The graph of a memory over HTTP, against a search over all edges in the test. With one partition and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { Random } from '../support/random.ts';
import { refused } from './contract.ts';
import type { HttpClient } from './http-client.ts';
import { serveSuite } from './http-suite.ts';

interface Edge {
  readonly source: string;
  readonly relation: string;
  readonly target: string;
  readonly hash: string;
}

interface Node {
  readonly id: string;
  readonly depth: number;
  readonly degree: number;
}

interface Graph {
  readonly start: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly (Edge & { readonly confidence: number })[];
  readonly depth_reached: number;
  readonly truncated: boolean;
}

type Direction = 'out' | 'in' | 'both';

/** Depths by node, and the hashes of the edges that were followed. */
function naive(edges: readonly Edge[], start: string, depth: number, direction: Direction) {
  const depths = new Map([[start, 0]]);
  const hashes = new Set<string>();
  for (let level = 1; level <= depth; level += 1) {
    const from = new Set([...depths].filter(([, at]) => at === level - 1).map(([id]) => id));
    for (const { source, target, hash } of edges) {
      if (!((direction !== 'in' && from.has(source)) || (direction !== 'out' && from.has(target)))) continue;
      hashes.add(hash);
      for (const id of [source, target]) if (!depths.has(id)) depths.set(id, level);
    }
  }
  return { depths: [...depths].sort(), hashes: [...hashes].sort() };
}

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 2 }, () => {
    const { http, memory } = serveSuite(listener, partitions);
    const graphOf = (path: string, query: Record<string, string | number>, client = http): Promise<Graph> =>
      client.get(`${path}/graph?${new URLSearchParams(query as Record<string, string>)}`);
    const believe = async (path: string, [subject, relation, object]: readonly string[], more = {}): Promise<string> =>
      (await http.post(`${path}/add`, { subject, relation, object, ...more })).blob_hash;

    test('a graph has what a search over all edges finds, in each direction and at each depth', async () => {
      const path = await memory();
      const random = new Random(7);
      const name = (): string => `n${random.u32() % 40}`;
      const triples = Array.from({ length: 120 }, (_, i) => ({
        subject: name(),
        relation: i % 3 === 0 ? 'knows' : 'likes',
        object: name(),
        confidence: (i % 10) / 10,
      }));
      const { added, errors } = await http.post(`${path}/batch-add`, {
        grains: triples.map((fields) => ({ grain_type: 'belief', fields })),
      });
      assert.deepEqual(errors, []);
      const edges: Edge[] = added.map(({ index, blob_hash: hash }: { index: number; blob_hash: string }) => {
        const { subject, relation, object } = triples[index]!;
        return { source: subject, relation, target: object, hash };
      });
      for (const direction of ['out', 'in', 'both'] as const)
        for (const depth of [1, 2, 3, 5])
          for (const relation of [undefined, 'knows']) {
            const query = {
              start: 'n7',
              depth,
              direction,
              limit: 1000,
              ...(relation === undefined ? {} : { relation }),
            };
            const graph = await graphOf(path, query);
            const expected = naive(
              edges.filter((edge) => relation === undefined || edge.relation === relation),
              'n7',
              depth,
              direction,
            );
            assert.deepEqual(graph.nodes.map(({ id, depth: at }) => [id, at]).sort(), expected.depths);
            assert.deepEqual(graph.edges.map(({ hash }) => hash).sort(), expected.hashes);
            assert.equal(graph.truncated, false);
            assert.equal(graph.depth_reached, Math.max(...expected.depths.map(([, at]) => at)));
            for (const { id, degree } of graph.nodes)
              assert.equal(degree, graph.edges.filter(({ source, target }) => source === id || target === id).length);
          }
    });

    test('a graph that is cut says so, and has both ends of each edge', async () => {
      const path = await memory();
      const grains = Array.from({ length: 700 }, (_, i) => ({
        grain_type: 'belief',
        fields: { subject: 'hub', relation: 'has', object: `leaf ${i}` },
      }));
      await http.post(`${path}/batch-add`, { grains });
      const cut = await graphOf(path, { start: 'hub', limit: 50 });
      assert.deepEqual([cut.truncated, cut.nodes.length, cut.edges.length], [true, 50, 49]);
      const known = new Set(cut.nodes.map(({ id }) => id));
      assert.ok(cut.edges.every(({ source, target }) => known.has(source) && known.has(target)));
      // More edges than one page, and all of them.
      const whole = await graphOf(path, { start: 'hub', depth: 1, limit: 1000 });
      assert.deepEqual([whole.truncated, whole.nodes.length, whole.edges.length], [false, 701, 700]);
      assert.deepEqual(new Set(whole.nodes.map(({ id }) => id)).size, 701);
    });

    test('a list of all edges has each edge once, newest first, over pages of any size', async () => {
      const path = await memory();
      const grains = Array.from({ length: 90 }, (_, i) => ({
        grain_type: i % 3 === 0 ? 'event' : 'belief',
        fields:
          i % 3 === 0
            ? { content: `no edge ${i}`, created_at: 1_700_000_000 + i }
            : {
                subject: `a${i % 7}`,
                relation: i % 2 === 0 ? 'knows' : 'likes',
                object: `b${i}`,
                created_at: 1_700_000_000 + Math.floor(i / 10),
              },
      }));
      await http.post(`${path}/batch-add`, { grains });
      const list = async (relation: string | undefined, limit: number) => {
        const edges: (Edge & { readonly created_at: number })[] = [];
        let cursor: string | null | undefined;
        do {
          const query = new URLSearchParams({ limit: String(limit) });
          if (relation !== undefined) query.set('relation', relation);
          if (typeof cursor === 'string') query.set('cursor', cursor);
          const page = await http.get(`${path}/graph/edges?${query}`);
          assert.ok(page.edges.length <= limit);
          edges.push(...page.edges);
          cursor = page.next_cursor;
        } while (cursor !== null);
        return edges;
      };
      const all = await list(undefined, 500);
      const expected = grains.flatMap(({ fields: { object } }) => object ?? []).sort();
      assert.deepEqual(all.map(({ target }) => target).sort(), expected);
      assert.ok(all.every(({ created_at: at }, i) => i === 0 || at <= all[i - 1]!.created_at));
      assert.deepEqual(await list(undefined, 7), all);
      const known = all.filter(({ relation }) => relation === 'knows');
      assert.ok(known.length > 0 && known.length < all.length);
      assert.deepEqual(await list('knows', 4), known);
      for (const offset of [0, 3, all.length - 1, all.length, 10_000]) {
        const { edges } = await http.get(`${path}/graph/edges?limit=5&offset=${offset}`);
        assert.deepEqual(edges, all.slice(offset, offset + 5), `offset ${offset}`);
      }
      await refused(http.get(`${path}/graph/edges?cursor=x`), 'VAL-E004');
      await refused(http.get(`${path}/graph/edges?limit=0`), 'VAL-E004');
    });

    test('superseded, forgotten, restricted and foreign grains make no edges', async () => {
      const path = await memory();
      const old = await believe(path, ['ann', 'likes', 'tea']);
      await http.post(`${path}/supersede`, { blob_hash: old, object: 'coffee' });
      const gone = await believe(path, ['ann', 'likes', 'rum']);
      await http.post(`${path}/forget`, { blob_hash: gone, reason: 'a mistake' });
      await believe(path, ['ann', 'likes', 'cake'], { user_id: 'bob' });
      await believe(path, ['ann', 'likes', 'figs'], { namespace: 'kitchen' });
      const targets = async (client?: HttpClient) =>
        (await graphOf(path, { start: 'ann' }, client)).edges.map(({ target }) => target).sort();
      assert.deepEqual(await targets(), ['cake', 'coffee', 'figs']);
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id: 'bob', reason: 'contested' } });
      assert.deepEqual(await targets(), ['coffee', 'figs']);
      const { raw_key: key } = await http.post('/auth/keys', {
        scopes: ['read'],
        memory_id: path.slice('/memories/'.length),
        namespace: 'kitchen',
      });
      assert.deepEqual(await targets(http.with(key)), ['figs']);
      const listed = (await http.with(key).get(`${path}/graph/edges`)).edges;
      assert.deepEqual(
        listed.map(({ target }: Edge) => target),
        ['figs'],
      );
    });

    test('names are compared as everywhere, and grains of other types are edges under their type', async () => {
      const path = await memory();
      await believe(path, [' Zoe\u0308 ', 'knows', 'Ann']);
      await http.post(`${path}/batch-add`, {
        grains: [
          { grain_type: 'observation', fields: { subject: 'Ann', object: 'the door', content: 'it is open' } },
          { grain_type: 'event', fields: { subject: 'Ann', content: 'an event without an object' } },
        ],
      });
      const graph = await graphOf(path, { start: 'Zo\u00eb  ' });
      assert.equal(graph.start, 'Zo\u00eb');
      assert.deepEqual(
        graph.edges.map(({ source, relation, target }) => [source, relation, target]),
        [
          ['Zo\u00eb', 'knows', 'Ann'],
          ['Ann', 'observation', 'the door'],
        ],
      );
      assert.deepEqual((await graphOf(path, { start: 'nobody' })).nodes, [{ id: 'nobody', depth: 0, degree: 0 }]);
    });

    test('bad questions are refused', async () => {
      const path = await memory();
      await refused(http.get(`${path}/graph`), 'VAL-E003');
      for (const query of [
        'start=%20',
        'start=a&depth=0',
        'start=a&depth=6',
        'start=a&limit=1001',
        'start=a&direction=up',
      ])
        await refused(http.get(`${path}/graph?${query}`), 'VAL-E001');
    });
  });
