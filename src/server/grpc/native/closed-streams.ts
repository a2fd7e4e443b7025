// The streams that closed last. A frame for one of them may have been sent before its peer knew (RFC 9113, section 5.1).

const KEPT = 256;

/** How a stream closed. */
export const CLOSED = { UNKNOWN: 0, ENDED: 1, RESET_HERE: 2, RESET_BY_PEER: 3 } as const;
export type Closed = (typeof CLOSED)[keyof typeof CLOSED];

export class ClosedStreams {
  /** A ring. */
  private readonly ids = new Uint32Array(KEPT);
  private readonly ways = new Uint8Array(KEPT);
  private next = 0;
  /** The stream of the last note. */
  latest = 0;

  note(id: number, how: Closed): void {
    this.ids[this.next] = id;
    this.ways[this.next] = how;
    this.next = (this.next + 1) % KEPT;
    this.latest = id;
  }

  /** UNKNOWN for a stream that never was open, or closed long ago. */
  find(id: number): Closed {
    const at = this.ids.lastIndexOf(id);
    return at < 0 ? CLOSED.UNKNOWN : (this.ways[at] as Closed); // only note writes it
  }
}
