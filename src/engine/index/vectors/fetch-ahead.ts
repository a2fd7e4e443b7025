// WebAssembly code that loads what a kernel is about to read, so that it comes from memory in parallel.
import {
  AGAIN_IF,
  END_BLOCK,
  get,
  I32_ADD,
  I32_IS_ZERO,
  I32_LESS_UNSIGNED,
  I32_SHIFT_LEFT,
  I32_SUB,
  I32_XOR,
  IF,
  integer,
  LOOP,
  load32,
  SELECT,
  set,
  tee,
} from '../../base/wasm-code.ts';

const CACHE_LINE_BYTES = 64;

/** The locals of `fetchAhead`, by number. */
interface Fetching {
  /** The address of the u32 address of the next row or sketch. */
  readonly places: number;
  /** The number of remaining ones, this one included. */
  readonly count: number;
  /** The bytes of each. */
  readonly bytes: number;
  /** Zero at first; the number of fetched ones that are still to be computed. */
  readonly left: number;
  /** Receives loaded words. They must be stored somewhere, because an unused load is dropped. */
  readonly touched: number;
  readonly next: number;
  readonly at: number;
  readonly end: number;
}

/**
 * Emits code that runs before each computation. Ahead of every `group` it loads a word of each cache line that the
 * group will read, so that all come from memory in parallel. Otherwise the processor reaches a scattered place only
 * after finishing the previous one.
 */
export function fetchAhead({ places, count, bytes, left, touched, next, at, end }: Fetching, group: number): number[] {
  const isLess = [...get(count), ...integer(group), I32_LESS_UNSIGNED];
  const fetched = [...get(count), ...integer(group), ...isLess, SELECT];
  const lines = [
    ...LOOP,
    ...[...get(touched), ...get(at), ...load32(0), I32_XOR, ...set(touched)],
    ...[...get(at), ...integer(CACHE_LINE_BYTES), I32_ADD, ...tee(at)],
    ...[...get(end), I32_LESS_UNSIGNED, ...AGAIN_IF],
    END_BLOCK,
  ];
  return [
    ...[...get(left), I32_IS_ZERO, ...IF],
    ...[...integer(group), ...set(left), ...get(places), ...set(next)],
    ...LOOP,
    ...[...get(next), ...load32(0), ...tee(at), ...get(bytes), I32_ADD, ...set(end)],
    ...lines,
    ...[...get(next), ...integer(4), I32_ADD, ...tee(next)],
    ...[...get(places), ...fetched, ...integer(2), I32_SHIFT_LEFT, I32_ADD, I32_LESS_UNSIGNED, ...AGAIN_IF],
    END_BLOCK,
    END_BLOCK,
    ...[...get(left), ...integer(1), I32_SUB, ...set(left)],
  ];
}
