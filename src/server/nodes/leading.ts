// Serves other nodes on the leader: copies of its control log, and answers to the requests that they pass on.
import type { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import type { OpenChannel } from '../../shards/nodes/link/channel.ts';
import { CONTROL_SHARD } from '../control/open.ts';
import { ControlFeed, type FeedEnd } from '../control/replica/feed.ts';
import { type CopyReport, messageBytes, readMessage, type ToCopy, type ToLeader } from '../control/replica/messages.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../log.ts';
import type { Data } from '../start/keyring.ts';
import { PassedRequests } from './passing/passed-requests.ts';
import type { Handlers } from './passing/passer.ts';

export class Leading {
  readonly #leases: LeaseTable;
  readonly #passed: PassedRequests;
  #feed: ControlFeed | undefined;
  #heard: (report: CopyReport) => void = () => undefined;

  constructor(log: Pick<Logger, 'error'>, leases: LeaseTable) {
    this.#leases = leases;
    this.#passed = new PassedRequests(log);
  }

  /** The control log was opened. Nothing has been changed in it yet. */
  begin(lifecycle: Lifecycle, { control, layout }: Pick<Data, 'control' | 'layout'>): void {
    const feed = new ControlFeed({
      control,
      isFirst: layout.isNew,
      mayConfirm: () => this.#leases.isHeld(CONTROL_SHARD),
      heard: (report) => this.#heard(report),
    });
    this.#feed = feed;
    control.publishTo((changes) => feed.published(changes));
    lifecycle.opened('copies of the control log', () => {
      feed.close();
      if (this.#feed === feed) this.#feed = undefined;
    });
  }

  serve(handlers: Handlers): void {
    this.#passed.serve(handlers);
  }

  drain(deadlineMs: number): Promise<void> {
    return this.#passed.drain(deadlineMs);
  }

  onReport(heard: (report: CopyReport) => void): void {
    this.#heard = heard;
  }

  /** For the connections of other nodes to this one. */
  readonly openChannel: OpenChannel = (_, send) => {
    const sendToCopy = (message: ToCopy): void => send('control', messageBytes(message));
    const requests = this.#passed.open(send);
    let feed: ControlFeed | undefined;
    let end: FeedEnd | undefined;
    return {
      receive: (kind, bytes) => {
        if (kind === 'passed') {
          requests.receive(kind, bytes);
          return;
        }
        const message = readMessage<ToLeader>(bytes);
        // This node became the leader again: the copy gets everything once more.
        if (message.is === 'subscribe' && feed !== this.#feed) {
          end?.ended();
          feed = this.#feed;
          end = feed?.open(sendToCopy);
        }
        if (end === undefined) sendToCopy({ is: 'closed' });
        else end.receive(message);
      },
      ended: () => {
        end?.ended();
        requests.ended();
      },
    };
  };
}
