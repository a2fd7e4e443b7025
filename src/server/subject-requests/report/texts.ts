// The words of a report in each language. A language that misses a text does not compile.
import type { GrainType } from '../../../engine/grain/grain.ts';
import type { SubjectRequestKind, SubjectRequestOutcome } from '../../control/records.ts';

export const REPORT_LANGUAGES = ['en', 'de'] as const;
export type ReportLanguage = (typeof REPORT_LANGUAGES)[number];

export interface ReportTexts {
  readonly title: string;
  readonly kinds: Readonly<Record<SubjectRequestKind, string>>;
  readonly outcomes: Readonly<Record<SubjectRequestOutcome, string>>;
  readonly types: Readonly<Record<GrainType, string>>;
  readonly events: Readonly<Record<string, string>>;
  readonly statuses: Readonly<Record<string, string>>;
  readonly madeAt: (time: string, software: string) => string;
  readonly page: (page: number, pages: number) => string;
  readonly none: string;
  readonly unknown: string;
  readonly request: {
    readonly heading: string;
    readonly person: string;
    readonly kind: string;
    readonly requester: string;
    readonly received: string;
    readonly recorded: string;
    readonly recordedBy: (time: string, actor: string) => string;
    readonly due: string;
    readonly used: string;
    readonly usedOf: (used: number, allowed: number) => string;
    readonly left: (days: number) => string;
    readonly overdue: string;
    readonly extension: string;
    readonly extended: (days: number, time: string, reason: string | undefined) => string;
    readonly outcome: string;
    readonly open: string;
    readonly closed: (outcome: string, time: string) => string;
    readonly controller: string;
    readonly memory: string;
    readonly id: string;
    readonly note: string;
    readonly erasedPerson: (fingerprint: string) => string;
  };
  readonly summary: {
    readonly heading: string;
    readonly erased: (count: string, time: string) => string;
    readonly neverHeld: (time: string) => string;
    readonly holds: (count: string) => string;
    readonly holdsNothing: string;
    readonly purgePending: string;
    readonly purgeComplete: (time: string) => string;
  };
  readonly held: {
    readonly now: string;
    readonly before: string;
    readonly explained: string;
    readonly type: string;
    readonly count: string;
    readonly oldest: string;
    readonly newest: string;
    readonly total: string;
    readonly month: string;
    readonly nothing: string;
    readonly beside: (consents: string, recalls: string) => string;
  };
  readonly consents: {
    readonly heading: string;
    readonly purpose: string;
    readonly every: string;
    readonly status: string;
    readonly granted: string;
    readonly revoked: string;
    readonly basis: string;
    readonly nothing: string;
    readonly more: (shown: string, total: string) => string;
    readonly restricted: (time: string, by: string, reason: string) => string;
    readonly notRestricted: string;
  };
  readonly recalls: {
    readonly heading: string;
    readonly explained: string;
    readonly time: string;
    readonly by: string;
    readonly mode: string;
    readonly results: string;
    readonly modes: Readonly<Record<string, string>>;
    readonly nothing: string;
    readonly more: (shown: string, total: string | undefined) => string;
    readonly afterErasure: string;
  };
  readonly acts: {
    readonly heading: string;
    readonly explained: string;
    readonly time: string;
    readonly act: string;
    readonly by: string;
    readonly entry: string;
    readonly times: (count: number) => string;
    readonly nothing: string;
    readonly more: (total: number) => string;
  };
  readonly proof: {
    readonly heading: string;
    readonly explained: string;
    readonly erasedAt: string;
    readonly count: string;
    readonly fingerprint: string;
    readonly entries: string;
    readonly entry: (partition: number, seq: number, hash: string) => string;
    readonly purge: string;
    readonly purgeStates: Readonly<Record<'pending' | 'complete', string>>;
    readonly key: string;
    readonly signature: string;
    readonly issued: string;
    readonly verify: string;
    readonly asFile: string;
  };
  readonly processing: {
    readonly heading: string;
    readonly purposes: string;
    readonly recipients: string;
    readonly retention: string;
    readonly noLimit: string;
    readonly days: (days: string) => string;
    readonly source: string;
    readonly sourceText: string;
    readonly rights: string;
    readonly rightsText: string;
  };
  readonly backup: {
    readonly heading: string;
    readonly erased: readonly string[];
    readonly held: readonly string[];
    readonly last: (time: string) => string;
    readonly noBackup: string;
  };
  readonly limits: { readonly heading: string; readonly texts: readonly string[] };
}
