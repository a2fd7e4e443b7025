// What gathering needs of its host.

import type { GatherRoom } from '../gather-room.ts';
import type { MemorySettings } from '../protocol.ts';
import type { Turns } from '../turns.ts';
import type { Placed } from './placement.ts';

/** What gathering needs beside the partitions. */
export interface GatherTools {
  /** Of those who can decode a blob. */
  readonly placementOf: PlacementOf;
  /** Of the router: calls of one process are all that there are. */
  readonly turns: Turns;
  /** Of the router too. */
  readonly room: GatherRoom;
  /** The memory's rule. */
  readonly dedup: MemorySettings['dedup'];
}

/** Reads from an imported blob what its placement depends on. Throws EngineError for what is not a blob. */
export type PlacementOf = (blob: Uint8Array) => Placed;
