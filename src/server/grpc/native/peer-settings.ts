// The settings of a peer (RFC 9113, section 6.5), and those of this server.
import {
  GRPC_SETTINGS_MAX,
  GRPC_STREAM_WINDOW_BYTES,
  GRPC_STREAMS_MAX,
  HEADER_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import { CODE, ConnectionError, FRAME_BYTES_MAX, SETTING, WINDOW_BYTES_MAX } from './frames.ts';

/** Numbers and values in turn. */
export const OWN_SETTINGS: readonly number[] = [
  ...[SETTING.MAX_CONCURRENT_STREAMS, GRPC_STREAMS_MAX],
  ...[SETTING.INITIAL_WINDOW_SIZE, GRPC_STREAM_WINDOW_BYTES],
  ...[SETTING.MAX_HEADER_LIST_SIZE, HEADER_BYTES_MAX],
];

const ENTRY_BYTES = 6;

/** Those of a peer that change what this server does; undefined where the frame does not say. */
export interface PeerSettings {
  readonly tableBytesMax: number | undefined;
  readonly initialWindowBytes: number | undefined;
}

/** Reads a SETTINGS frame. Throws ConnectionError. */
export function peerSettingsIn(bytes: Buffer, start: number, end: number): PeerSettings {
  if ((end - start) % ENTRY_BYTES !== 0) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'a SETTINGS frame is cut');
  if ((end - start) / ENTRY_BYTES > GRPC_SETTINGS_MAX)
    throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'a SETTINGS frame has too many entries');
  let tableBytesMax: number | undefined;
  let initialWindowBytes: number | undefined;
  for (let at = start; at < end; at += ENTRY_BYTES) {
    const value = bytes.readUInt32BE(at + 2);
    switch (bytes.readUInt16BE(at)) {
      case SETTING.HEADER_TABLE_SIZE:
        tableBytesMax = value;
        break;
      case SETTING.ENABLE_PUSH:
        if (value > 1) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'ENABLE_PUSH is neither 0 nor 1');
        break;
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > WINDOW_BYTES_MAX) throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'the window is too large');
        initialWindowBytes = value;
        break;
      case SETTING.MAX_FRAME_SIZE:
        // Frames of this server have the smallest size that a peer may set.
        if (value < FRAME_BYTES_MAX || value > 0xff_ffff)
          throw new ConnectionError(CODE.PROTOCOL_ERROR, 'MAX_FRAME_SIZE is out of range');
        break;
      default: // section 6.5.2: others are ignored
    }
  }
  return { tableBytesMax, initialWindowBytes };
}
