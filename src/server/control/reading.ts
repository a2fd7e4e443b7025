// The control store as the parts of a server need it. Those that only read it work on a copy too (replica/replica.ts).
import type { ControlStore } from './store.ts';

/** For parts that only read. */
export type ControlReader = Pick<ControlStore, 'get' | 'count' | 'values' | 'watch' | 'lapsed'>;

/** For parts that also change something. On a node that has a copy alone, their changes are refused. */
export type ControlChanges = ControlReader & Pick<ControlStore, 'commit'>;
