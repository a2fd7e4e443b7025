// Entry file of a worker that answers every batch with a message that breaks off.
import type { FromWorker, WorkerTask } from '../transport/worker.ts';

export default async function garble({ port }: WorkerTask): Promise<void> {
  const ready: FromWorker = { kind: 'ready' };
  port.postMessage(ready);
  await new Promise<void>((resolve) => {
    port.on('message', (message) => {
      if (message instanceof ArrayBuffer) port.postMessage(new ArrayBuffer(3));
      else if (message.kind === 'close') resolve();
    });
  });
  port.close();
}
