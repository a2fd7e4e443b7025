// When a grain expires (service contract 10.1, `retention.*`). Pure: derived from the rules and the grain's own fields.
import { toNfc } from '../../base/nfc.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { Rules } from './rules.ts';

const DAY_MS = 86_400_000;

/** The rule or field that determines a grain's expiry. */
export type ExpirySource = 'expires_at' | 'namespace' | 'type' | 'default';

export interface Expiry {
  /** Milliseconds. The grain is gone from this moment. */
  readonly atMs: number;
  readonly source: ExpirySource;
}

export interface Expirable {
  readonly type: GrainType;
  readonly namespace: string;
  readonly createdAtMs: number;
  /** The grain's own expires_at, in seconds. */
  readonly expiresAt?: number | undefined;
}

type RetentionRules = Pick<Rules, 'retention.default_ttl_days' | 'retention.by_namespace' | 'retention.by_type'>;

/**
 * The expiry of a grain: the earliest of its own `expires_at` and the time to live of its namespace, of its type and by
 * default; undefined: never. A namespace's time to live covers the namespaces below it (`acme` covers `acme/prod`).
 */
export function expiryOf(grain: Expirable, rules: RetentionRules): Expiry | undefined {
  const times: Expiry[] = [];
  if (grain.expiresAt !== undefined) times.push({ atMs: grain.expiresAt * 1000, source: 'expires_at' });
  const days = (ttl: number | null | undefined, source: ExpirySource): void => {
    if (ttl !== null && ttl !== undefined) times.push({ atMs: grain.createdAtMs + ttl * DAY_MS, source });
  };
  days(namespaceTtlDays(grain.namespace, rules), 'namespace');
  days(own(rules['retention.by_type'], grain.type), 'type');
  days(rules['retention.default_ttl_days'], 'default');
  return times.reduce<Expiry | undefined>(
    (first, time) => (first === undefined || time.atMs < first.atMs ? time : first),
    undefined,
  );
}

export function isExpired(grain: Expirable, rules: RetentionRules, nowMs: number): boolean {
  const expiry = expiryOf(grain, rules);
  return expiry !== undefined && expiry.atMs <= nowMs;
}

/** The shortest time to live, in days, of the namespace or of one above it; undefined: none. */
export function namespaceTtlDays(namespace: string, rules: RetentionRules): number | undefined {
  const byNamespace = inNfc(rules['retention.by_namespace']);
  let least = own(byNamespace, namespace);
  for (let slash = namespace.lastIndexOf('/'); slash > 0; slash = namespace.lastIndexOf('/', slash - 1)) {
    const days = own(byNamespace, namespace.slice(0, slash));
    if (days !== undefined && (least === undefined || days < least)) least = days;
  }
  return least;
}

type DaysByName = Readonly<Record<string, number>>;

const FORMED = new WeakMap<DaysByName, DaysByName>();

/** The names in the form of stored namespaces; a sealed policy keeps them as they were sent. */
function inNfc(named: DaysByName): DaysByName {
  const known = FORMED.get(named);
  if (known !== undefined) return known;
  const least = new Map<string, number>();
  for (const [name, days] of Object.entries(named)) {
    const formed = toNfc(name);
    least.set(formed, Math.min(days, least.get(formed) ?? days));
  }
  const formed = Object.fromEntries(least);
  FORMED.set(named, formed);
  return formed;
}

/** The shortest time to live, in days, that an event of some namespace has; undefined: none. */
export function leastEventDays(rules: RetentionRules): number | undefined {
  const days = [
    rules['retention.default_ttl_days'] ?? Number.POSITIVE_INFINITY,
    own(rules['retention.by_type'], 'event') ?? Number.POSITIVE_INFINITY,
    ...Object.values(rules['retention.by_namespace']),
  ];
  const least = Math.min(...days);
  return least === Number.POSITIVE_INFINITY ? undefined : least;
}

/** True when no time to live is set, so that only `expires_at` can end a grain. */
export function keepsForever(rules: RetentionRules): boolean {
  return (
    rules['retention.default_ttl_days'] === null &&
    Object.keys(rules['retention.by_namespace']).length === 0 &&
    Object.keys(rules['retention.by_type']).length === 0
  );
}

/** The moment, in milliseconds, from which a grain may be forgotten under `deletion.min_age_days`. */
export function forgettableFromMs(createdAtMs: number, rules: Pick<Rules, 'deletion.min_age_days'>): number {
  return createdAtMs + (rules['deletion.min_age_days'] ?? 0) * DAY_MS;
}

function own(map: DaysByName, name: string): number | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
