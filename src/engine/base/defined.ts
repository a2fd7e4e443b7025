/** `T` with each member that may be undefined as an optional one that is never undefined. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy without the members that are undefined, in the same order. For data that is packed, compared or counted by its
 * members: MessagePack writes an undefined member, and `Object.keys` and `in` see it.
 */
export function defined<const T extends object>(members: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const name in members) {
    const value = members[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept as Defined<T>; // the loop kept what is not undefined
}
