// Assertions state what can only be a bug. They are always on: a worker whose state is wrong must stop
// before it writes. What a caller can cause is an EngineError instead.

export class AssertionError extends Error {
  override name = 'AssertionError';
}

/** Throws `AssertionError` when `condition` is false. `message` names the fact that should hold. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The end of an exhaustive `switch`: does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}
