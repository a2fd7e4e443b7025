// The services that canaries use.
import type { Store } from '../../store/store.ts';
import type { Door } from './door.ts';

export interface CanaryServices {
  readonly store: Store;
  readonly door: Door;
}
