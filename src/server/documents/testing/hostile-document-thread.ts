// A fake document thread for tests: the text decides what happens to it.
import type { DocumentTask } from '../protocol.ts';

export default async function obey({ bytes, port }: DocumentTask): Promise<void> {
  const text = Buffer.from(bytes).toString();
  if (text === 'spin') for (;;);
  if (text === 'die') process.exit(3);
  if (text === 'throw') throw new Error('thrown on request');
  if (text === 'heap') for (let held: unknown = []; ; ) held = [held, 'x'.repeat(100)];
  if (text === 'buffers') for (const held: Buffer[] = []; ; ) held.push(Buffer.alloc(1_048_576, held.length));
  port.postMessage({
    what: 'text',
    kind: 'text',
    mimeType: 'text/plain',
    sha256: '',
    json: Buffer.from(JSON.stringify(`${text.length}`)),
    characters: 1,
  });
  await new Promise((resolve) => port.once('close', resolve));
}
