// The contents of segment files, and work on them.
import { SECTIONS, type SectionName, type Sliced } from '../files/section.ts';
import { SegmentFile } from '../files/segment-file.ts';
import { HeapBudget } from '../heap-budget.ts';
import { SealedChunk } from '../parts/chunk.ts';
import type { TestKeys } from './shard.ts';

const names = Object.keys(SECTIONS) as SectionName[]; // its keys

/** The plain bytes of every section of every chunk, and what the directory says of each. */
export function contentOf(path: string, keys: TestKeys) {
  const file = SegmentFile.open(path, 1);
  try {
    return Array.from({ length: file.count }, (_, i) => {
      const entry = file.entry(i);
      const chunk = new SealedChunk({
        bytes: { file: 'segment', offset: entry.offset, read: (at, length) => file.read(entry.offset + at, length) },
        place: entry,
        key: () => keys.indexKeyById(entry.keyId),
        cache: new HeapBudget(1_000_000).scope(),
      });
      const sections = names.map((name) => {
        const section = chunk.section(name);
        return [name, Buffer.from(section.bytes(0, section.length)).toString('hex')];
      });
      const { memory, keyId, first, last, docs } = entry;
      return { memory, keyId, first, last, docs, sections };
    });
  } finally {
    file.release();
  }
}

/** With turns of the event loop, in which syncs in the background end. */
export async function finishInTurns<T>(steps: Sliced<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
