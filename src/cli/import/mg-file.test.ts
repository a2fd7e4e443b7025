import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { encodeGrain } from '../../engine/grain/codec/blob.ts';
import { readContainer } from '../../engine/grain/codec/container.ts';
import { writeContainer } from '../../engine/grain/codec/container-writer.ts';
import { mgParts } from './mg-file.ts';

test('a split file keeps every link of its manifest, and sends each after both of its grains', async (t) => {
  const made = Array.from({ length: 40 }, (_, i) =>
    encodeGrain('event', { content: `grain ${i}`, created_at: 1_700_000_000_000 + i }),
  );
  const [first, last] = [made[0]!, made[39]!];
  const manifest = new Map([
    [first.address, { supersededBy: last.address, verificationStatus: 'contested' as const }],
    [made[1]!.address, { supersededBy: made[2]!.address }],
  ]);
  const path = join(temporaryDirectory(t), 'whole.mg');
  await writeFile(
    path,
    writeContainer(
      made.map(({ blob }) => blob),
      { sorted: true, deduplicated: true, manifest },
    ),
  );
  const sent = new Set<string>();
  const links = new Map<string, string>();
  const counts = { parts: 0, repeats: 0, grains: 0 };
  for await (const { bytes, isRepeat } of mgParts(path, { wholeBytesMax: 100, partBytes: 300 })) {
    const part = readContainer(bytes);
    counts[isRepeat ? 'repeats' : 'parts'] += 1;
    if (!isRepeat) counts.grains += part.grains.length;
    for (const { address } of part.grains) sent.add(address);
    for (const [address, { supersededBy }] of part.manifest) {
      if (supersededBy === undefined) continue;
      assert.ok(sent.has(supersededBy), 'a link before its successor would be lost');
      links.set(address, supersededBy);
    }
  }
  assert.ok(counts.parts > 3);
  assert.deepEqual([counts.repeats, counts.grains], [1, 40]);
  assert.deepEqual(links, new Map([...manifest].map(([address, { supersededBy }]) => [address, supersededBy])));
});
