// An assertion states a fact that only a bug can break. Assertions are always on: a worker with wrong state must stop
// before it writes. Errors that a caller can cause are EngineErrors.

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
