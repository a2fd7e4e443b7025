// Parses `grpc-timeout`: at most eight digits and a unit.
const PATTERN = /^(\d{1,8})([HMSmun])$/;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Milliseconds, or undefined when the text is invalid. */
export function timeoutMs(text: string): number | undefined {
  const match = PATTERN.exec(text);
  return match === null ? undefined : Number(match[1]) * UNIT_MS[match[2]!]!;
}
