// The services that gather functions get from the router.

import type { MemorySettings } from '../protocol.ts';
import type { Turns } from '../turns.ts';
import type { Placed } from './placement.ts';
import type { GatherRoom } from './room.ts';

/** Everything that a gather function needs besides the partitions. */
export interface GatherTools {
  /** Reads the placement from an imported blob. */
  readonly placementOf: PlacementOf;
  /** Serialises work on the same subject. Owned by the router: one process makes all calls. */
  readonly turns: Turns;
  /** Bounds the memory of gathers. Owned by the router. */
  readonly room: GatherRoom;
  /** The memory's rule for duplicates. */
  readonly dedup: MemorySettings['dedup'];
}

/** Reads the placement from an imported blob. Throws EngineError for an invalid blob. */
export type PlacementOf = (blob: Uint8Array) => Placed;
