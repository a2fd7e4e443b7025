// A report as a document of headings, paragraphs and tables, in a language. HTML and PDF are written from the same one. All
// texts in it are plain: whoever writes them escapes them.
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import type { SignedProof } from '../../proofs/erasure-proof.ts';
import type { ReportLanguage, ReportTexts } from './texts.ts';
import { GERMAN } from './texts-de.ts';
import { ENGLISH } from './texts-en.ts';

export type Block =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string; readonly isNote?: true }
  | { readonly kind: 'pairs'; readonly rows: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'table';
      readonly columns: readonly { readonly title: string; readonly isNumber?: true; readonly isCode?: true }[];
      readonly rows: readonly (readonly string[])[];
      /** The last row is the sum of the others. */
      readonly hasTotal?: true;
    }
  | { readonly kind: 'code'; readonly text: string };

export interface ReportDocument {
  readonly language: ReportLanguage;
  readonly texts: ReportTexts;
  readonly title: string;
  readonly subtitle: string;
  readonly madeAt: string;
  readonly blocks: readonly Block[];
}

export const TEXTS: Readonly<Record<ReportLanguage, ReportTexts>> = { en: ENGLISH, de: GERMAN };
/** More months than this are summed up by year. */
const MONTHS_MAX = 36;
const PERIOD_COLUMNS = 3;

export function reportDocument(data: ReportData, language: ReportLanguage): ReportDocument {
  const texts = TEXTS[language];
  const writer = new Writer(data, texts, language);
  return {
    language,
    texts,
    title: texts.title,
    subtitle: texts.kinds[data.request.kind],
    madeAt: texts.madeAt(writer.time(data.generatedAt), data.software),
    blocks: [
      ...writer.request(),
      ...writer.summary(),
      ...writer.held(),
      ...writer.consents(),
      ...writer.recalls(),
      ...writer.acts(),
      ...writer.proof(),
      ...writer.backup(),
      ...writer.processing(),
    ],
  };
}

class Writer {
  readonly #data: ReportData;
  readonly #texts: ReportTexts;
  readonly #times: Intl.DateTimeFormat;
  readonly #dates: Intl.DateTimeFormat;
  readonly #numbers: Intl.NumberFormat;

  constructor(data: ReportData, texts: ReportTexts, language: ReportLanguage) {
    this.#data = data;
    this.#texts = texts;
    const locale = language === 'en' ? 'en-GB' : 'de-DE';
    this.#times = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
    this.#dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
    this.#numbers = new Intl.NumberFormat(locale);
  }

  /** Date and time of Unix seconds. */
  time(seconds: number): string {
    return isDate(seconds) ? `${this.#times.format(seconds * 1000)} UTC` : String(seconds);
  }

  request(): Block[] {
    const { request: words, outcomes, kinds } = this.#texts;
    const { request, memoryId, memoryName, controller } = this.#data;
    const { extension, closed } = request;
    const used = words.usedOf(request.daysUsed, request.daysAllowed);
    const rest = request.overdue ? words.overdue : words.left(request.daysLeft);
    const name = request.userId ?? words.erasedPerson(request.erasure?.keyFingerprint ?? '');
    const rows: (readonly [string, string | undefined])[] = [
      [words.person, name],
      [words.kind, kinds[request.kind]],
      [words.requester, request.requester],
      [words.received, this.time(request.receivedAt)],
      [words.recorded, words.recordedBy(this.time(request.openedAt), request.openedBy)],
      [words.due, this.time(request.dueAt)],
      [words.used, request.status === 'closed' && !request.overdue ? used : `${used} (${rest})`],
      [words.extension, extension && words.extended(extension.days, this.time(extension.extendedAt), extension.reason)],
      [
        words.outcome,
        closed === undefined ? words.open : words.closed(outcomes[closed.outcome], this.time(closed.closedAt)),
      ],
      [words.note, [request.note, closed?.note].filter((note) => note !== undefined).join('\n') || undefined],
      [words.controller, controller ?? undefined],
      [words.memory, memoryName === memoryId ? memoryId : `${memoryName} (${memoryId})`],
      [words.id, request.requestId],
    ];
    return [
      heading(words.heading),
      { kind: 'pairs', rows: rows.flatMap(([one, value]) => (value === undefined ? [] : [[one, value] as const])) },
    ];
  }

  summary(): Block[] {
    const { summary: words } = this.#texts;
    const { request, held, proof } = this.#data;
    const blocks: Block[] = [heading(words.heading)];
    const { erasure } = request;
    if (erasure !== undefined) {
      const at = this.time(proof?.timestamp ?? erasure.erasedAt);
      const text = erasure.keyFingerprint === '' ? words.neverHeld(at) : words.erased(this.#number(erasure.count), at);
      blocks.push(paragraph(text));
    }
    if (proof !== undefined && proof.result === 'erased') {
      const isDone = proof.purge.state === 'complete';
      blocks.push(paragraph(isDone ? words.purgeComplete(this.#iso(proof.purge.as_of)) : words.purgePending));
    }
    if (request.userId !== undefined && (erasure === undefined || held.count > 0))
      blocks.push(paragraph(held.count === 0 ? words.holdsNothing : words.holds(this.#number(held.count))));
    return blocks;
  }

  held(): Block[] {
    const { held: words } = this.#texts;
    const { request, held } = this.#data;
    const before = request.erasure?.held;
    const blocks: Block[] = [];
    if (before !== undefined)
      blocks.push(heading(words.before), ...this.#heldTables(before), note(this.#beside(before)));
    if (before === undefined || held.count > 0) {
      if (request.userId === undefined) return blocks;
      blocks.push(heading(words.now), ...this.#heldTables(held));
    }
    return blocks;
  }

  #beside({ consents, recalls }: ReportData['held']): string {
    const { held: words, unknown } = this.#texts;
    return words.beside(this.#number(consents), recalls === null ? unknown : this.#number(recalls));
  }

  #heldTables({ count, byType, byMonth }: ReportData['held']): Block[] {
    const { held: words } = this.#texts;
    const types: Readonly<Record<string, string>> = this.#texts.types;
    if (count === 0) return [paragraph(words.nothing)];
    const rows = byType.map(({ grainType, count: some, oldestCreatedAt, newestCreatedAt }) => [
      types[grainType] ?? grainType,
      this.#date(oldestCreatedAt),
      this.#date(newestCreatedAt),
      this.#number(some),
    ]);
    const oldest = Math.min(...byType.map(({ oldestCreatedAt }) => oldestCreatedAt));
    const newest = Math.max(...byType.map(({ newestCreatedAt }) => newestCreatedAt));
    return [
      note(words.explained),
      {
        kind: 'table',
        columns: [
          { title: words.type },
          { title: words.oldest },
          { title: words.newest },
          { title: words.count, isNumber: true },
        ],
        rows: [...rows, [words.total, this.#date(oldest), this.#date(newest), this.#number(count)]],
        hasTotal: true,
      },
      this.#periods(byMonth),
    ];
  }

  /** Three periods in a row, the oldest ones first, from top to bottom. */
  #periods(byMonth: ReportData['held']['byMonth']): Block {
    const { held: words } = this.#texts;
    const periods = periodsOf(byMonth);
    const perColumn = Math.ceil(periods.length / PERIOD_COLUMNS);
    const columns = Array.from({ length: Math.min(PERIOD_COLUMNS, periods.length) }, () => [
      { title: words.month },
      { title: words.count, isNumber: true as const },
    ]).flat();
    const rows = Array.from({ length: perColumn }, (_, row) =>
      columns.map((column, at) => {
        const period = periods[row + Math.floor(at / 2) * perColumn];
        if (period === undefined) return '';
        return column.isNumber === true ? this.#number(period.count) : period.month;
      }),
    );
    return { kind: 'table', columns, rows };
  }

  consents(): Block[] {
    const { consents: words, statuses, none } = this.#texts;
    const { request, consents, held, restriction } = this.#data;
    if (request.userId === undefined) return [];
    const blocks: Block[] = [heading(words.heading)];
    if (consents.length === 0) blocks.push(paragraph(words.nothing));
    else
      blocks.push({
        kind: 'table',
        columns: [words.purpose, words.status, words.granted, words.revoked, words.basis].map((title) => ({ title })),
        rows: consents.map(({ purpose, status, grantedAt, revokedAt, basis, jurisdiction }) => [
          purpose === '*' ? words.every : purpose,
          statuses[status] ?? status,
          grantedAt === undefined ? '' : this.#date(grantedAt),
          revokedAt === undefined ? '' : this.#date(revokedAt),
          [basis, jurisdiction].filter((one) => one !== undefined).join(', ') || none,
        ]),
      });
    if (held.consents > consents.length)
      blocks.push(note(words.more(this.#number(consents.length), this.#number(held.consents))));
    blocks.push(
      paragraph(
        restriction === undefined
          ? words.notRestricted
          : words.restricted(this.time(restriction.restrictedAt), restriction.restrictedBy, restriction.reason),
      ),
    );
    return blocks;
  }

  recalls(): Block[] {
    const { recalls: words } = this.#texts;
    const { request, recalls, held } = this.#data;
    if (request.userId === undefined) return [];
    const blocks: Block[] = [heading(words.heading)];
    if (recalls.length === 0) {
      blocks.push(paragraph(words.nothing));
      if (request.erasure !== undefined) blocks.push(note(words.afterErasure));
      return blocks;
    }
    blocks.push(note(words.explained), {
      kind: 'table',
      columns: [
        { title: words.time },
        { title: words.by },
        { title: words.mode },
        { title: words.results, isNumber: true },
      ],
      rows: recalls.map(({ timestamp, principal, queryMode, resultCount }) => [
        this.#stamp(timestamp),
        principal,
        words.modes[queryMode] ?? queryMode,
        this.#number(resultCount),
      ]),
    });
    if (held.recalls === null || held.recalls > recalls.length)
      blocks.push(
        note(words.more(this.#number(recalls.length), held.recalls === null ? undefined : this.#number(held.recalls))),
      );
    return blocks;
  }

  acts(): Block[] {
    const { acts: words, events } = this.#texts;
    const { acts, actsTotal } = this.#data;
    if (acts.length === 0) return [heading(words.heading), paragraph(words.nothing)];
    const listed = acts.reduce((sum, { count }) => sum + count, 0);
    return [
      heading(words.heading),
      note(words.explained),
      {
        kind: 'table',
        columns: [
          { title: words.time },
          { title: words.act },
          { title: words.by },
          { title: words.entry, isCode: true },
        ],
        rows: acts.map(({ event, actor, from, to, count, hash }) => [
          this.#span(from, to),
          `${events[event] ?? event}${count === 1 ? '' : words.times(count)}`,
          actor,
          hash.slice(0, 16),
        ]),
      },
      ...(actsTotal !== null && actsTotal > listed ? [note(words.more(actsTotal))] : []),
    ];
  }

  proof(): Block[] {
    const { proof: words, limits } = this.#texts;
    const { proof } = this.#data;
    if (proof === undefined) return [];
    return [
      heading(words.heading),
      note(words.explained),
      { kind: 'pairs', rows: this.#proofRows(proof) },
      note(words.verify),
      note(words.asFile),
      { kind: 'code', text: JSON.stringify(proof, null, 1) },
      heading(limits.heading),
      ...limits.texts.map(paragraph),
    ];
  }

  #proofRows(proof: SignedProof): (readonly [string, string])[] {
    const { proof: words, none } = this.#texts;
    return [
      [words.erasedAt, proof.erased_at],
      [words.count, this.#number(proof.count)],
      [words.fingerprint, proof.key_fingerprint === '' ? none : proof.key_fingerprint],
      [
        words.entries,
        proof.audit_entries.map(({ partition, seq, hash }) => words.entry(partition, seq, hash)).join('\n') || none,
      ],
      [words.purge, `${words.purgeStates[proof.purge.state]} (${proof.purge.as_of})`],
      [words.key, `${proof.key_id} (${proof.public_key})`],
      [words.issued, `${proof.issued_at}, ${proof.issuer}`],
      [words.signature, proof.signature],
    ];
  }

  backup(): Block[] {
    const { backup: words } = this.#texts;
    const { request, lastBackupAt } = this.#data;
    const texts = request.erasure === undefined ? words.held : words.erased;
    return [
      heading(words.heading),
      ...texts.map(paragraph),
      paragraph(lastBackupAt === null ? words.noBackup : words.last(this.time(lastBackupAt))),
    ];
  }

  processing(): Block[] {
    const { processing: words, none } = this.#texts;
    const { purposes, recipients, retentionDays } = this.#data;
    return [
      heading(words.heading),
      {
        kind: 'pairs',
        rows: [
          [words.purposes, purposes.join('\n') || none],
          [words.recipients, recipients.join('\n') || none],
          [words.retention, retentionDays === null ? words.noLimit : words.days(this.#number(retentionDays))],
          [words.source, words.sourceText],
          [words.rights, words.rightsText],
        ],
      },
    ];
  }

  #date(seconds: number): string {
    return isDate(seconds) ? this.#dates.format(seconds * 1000) : String(seconds);
  }

  /** `2026-11-28 10:00`. */
  #stamp(seconds: number): string {
    return isDate(seconds) ? new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ') : String(seconds);
  }

  /** `2026-11-28 10:00 – 10:05`, or with the day of both. */
  #span(from: number, to: number): string {
    const [first, last] = [this.#stamp(from), this.#stamp(to)];
    if (first === last) return first;
    const day = first.slice(0, DAY_CHARS);
    return last.startsWith(day) ? `${first} – ${last.slice(DAY_CHARS)}` : `${first} – ${last}`;
  }

  #iso(text: string): string {
    return this.time(Math.floor(Date.parse(text) / 1000));
  }

  #number(value: number): string {
    return this.#numbers.format(value);
  }
}

function periodsOf(months: ReportData['held']['byMonth']): ReportData['held']['byMonth'] {
  if (months.length <= MONTHS_MAX) return months;
  const years = new Map<string, number>();
  for (const { month, count } of months) {
    const year = month.replace(/-\d\d$/, '');
    years.set(year, (years.get(year) ?? 0) + count);
  }
  return [...years].map(([month, count]) => ({ month, count }));
}

/** `2026-11-28 `. */
const DAY_CHARS = 11;

function isDate(seconds: number): boolean {
  return !Number.isNaN(new Date(seconds * 1000).getTime());
}

function heading(text: string): Block {
  return { kind: 'heading', text };
}

function paragraph(text: string): Block {
  return { kind: 'paragraph', text };
}

function note(text: string): Block {
  return { kind: 'paragraph', text, isNote: true };
}
