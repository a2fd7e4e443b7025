// Carries messages of the layer above, in order, over a connection between two nodes that also carries shard calls. Both
// sides must speak version 2 of the protocol.
import type { LinkKind } from './link.ts';

export type ChannelKind = Extract<LinkKind, 'control' | 'passed'>;
export type ChannelSend = (kind: ChannelKind, ...parts: readonly Uint8Array[]) => void;

/** One side of a connection. */
export interface Channel {
  /** The receiver owns the bytes. An error that it throws ends the connection. */
  readonly receive: (kind: ChannelKind, bytes: Buffer) => void;
  /** The connection has ended; `send` does nothing any more. */
  readonly ended: () => void;
}

/** Makes the side of this node, for a connection to the node `peer`. */
export type OpenChannel = (peer: string, send: ChannelSend) => Channel;

export function isOfChannel(kind: LinkKind): kind is ChannelKind {
  return kind === 'control' || kind === 'passed';
}
