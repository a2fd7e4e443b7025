// The messages of a thread's owner, as the thread takes them between two runs.
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { ToThread } from './messages.ts';

export class Inbox {
  readonly #port: MessagePort;
  #arrived: ToThread[] = [];
  #wake: () => void = () => undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: ToThread) => {
      this.#arrived.push(message);
      this.#wake();
    });
  }

  /** All messages since the last call, in order: those that the event loop has not delivered yet too. */
  take(): readonly ToThread[] {
    const taken = this.#arrived;
    this.#arrived = [];
    // Each item is { message }; undefined when the port is empty.
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port))
      taken.push(next.message as ToThread);
    return taken;
  }

  /** Resolves when a message arrives, or after so many milliseconds. Call it when nothing is left to take. */
  wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
