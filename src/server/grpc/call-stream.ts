// A call's stream as calls see it. Every listener implements it; all governance of a call is above it.

/** Names in lower case. Values are printable ASCII. */
export type HeaderBlock = Readonly<Record<string, string>>;

/** Headers of a request, those with a colon included. Names are asked for in lower case. */
export interface CallHead {
  /** The same object for equal headers of a connection, where the listener recognises them. */
  readonly identity: object | undefined;
  /** Names and values in turn, as sent. */
  readonly list: readonly string[];
  /** The first of several. */
  first(name: string): string | undefined;
  /** A header that must not repeat. Throws VAL-E001 when it does. */
  only(name: string): string | undefined;
  /** The values of all headers of this name, in order and joined by commas. */
  joined(name: string): string | undefined;
}

/** A call as its listener sees it. */
export interface ServedCall {
  /** Takes the next bytes of the request: messages with their prefixes, cut anywhere. Views of the received bytes. */
  take(chunk: Buffer): void;
  /** The caller has half-closed the stream. */
  finish(): void;
  /** The stream has closed, with or without an answer. Called once, last. */
  closed(): void;
}

export interface CallStream {
  readonly head: CallHead;
  /** True once nothing can be sent, because the caller has reset the stream or disconnected. */
  readonly isGone: boolean;
  /** True while the caller's windows are full. */
  readonly isFull: boolean;
  /** Starts to deliver the request. */
  serve(call: ServedCall): void;
  /** Sends a message, after the response headers if it is the first. It is sent when the caller's windows allow. */
  send(message: Uint8Array): void;
  /** Ends the call after what was sent and an optional last message. */
  end(trailers: HeaderBlock, message?: Uint8Array): void;
  /** Ends the stream with headers alone; nothing was sent before. An unserved stream drops the rest of the request. */
  refuse(headers: HeaderBlock): void;
  /** Resets the stream (CANCEL). */
  cancel(): void;
  /** Takes no more of the request than the windows allow, until `resume`. */
  pause(): void;
  resume(): void;
  /** Resolves when `isFull` ends; rejects with RequestAborted when the stream closes first. */
  drained(): Promise<void>;
}
