import { setFlagsFromString } from 'node:v8';
import { HEAP_GROWTH_PERCENT } from '../engine/base/limits.ts';

/**
 * From now on the heaps of all threads of this process grow by up to HEAP_GROWTH_PERCENT before V8 marks them. Call it
 * after the start: V8 refuses compiled code that was stored under other flags, and Node's own is. Returns what sets
 * the flag back, to be called before the process stores compiled code.
 */
export function letHeapsGrow(): () => void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  return () => setFlagsFromString('--heap-growing-percent=0');
}
