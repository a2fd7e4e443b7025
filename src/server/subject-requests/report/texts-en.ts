// The words of a report in English.
import type { ReportTexts } from './texts.ts';

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

export const ENGLISH: ReportTexts = {
  title: 'Report on the request of a data subject',
  kinds: {
    access: 'Access (GDPR, Art. 15)',
    portability: 'Data portability (GDPR, Art. 20)',
    erasure: 'Erasure (GDPR, Art. 17)',
    rectification: 'Rectification (GDPR, Art. 16)',
    restriction: 'Restriction of processing (GDPR, Art. 18)',
    objection: 'Objection (GDPR, Art. 21)',
  },
  outcomes: {
    fulfilled: 'fulfilled',
    partly_fulfilled: 'fulfilled in part',
    refused: 'refused',
    withdrawn: 'withdrawn by the person',
  },
  types: {
    belief: 'Facts',
    event: 'Conversation entries',
    state: 'States',
    workflow: 'Workflows',
    action: 'Actions of agents',
    observation: 'Observations',
    goal: 'Goals',
    reasoning: 'Reasoning',
    consensus: 'Agreements of agents',
    consent: 'Consents',
  },
  events: {
    'dsr.opened': 'Request recorded',
    'dsr.extended': 'Deadline extended',
    'dsr.reported': 'Report made',
    'dsr.closed': 'Request closed',
    'user.data_exported': 'Data exported',
    'processing.restricted': 'Processing restricted',
    'processing.unrestricted': 'Restriction lifted',
    'consent.granted': 'Consent granted',
    'consent.revoked': 'Consent withdrawn',
    'memory.corrected': 'Entry corrected',
    'memory.forgotten': 'Entry removed',
    'user.erased': 'Person erased',
    'key.destroyed': 'Key of the person destroyed',
    'erasure.cross_user_redacted': 'Name redacted in the entry of another person',
  },
  statuses: { granted: 'granted', revoked: 'withdrawn', none: 'none' },
  madeAt: (time, software) => `Made on ${time} by ${software}.`,
  page: (page, pages) => `Page ${page} of ${pages}`,
  none: 'not stated',
  unknown: 'not counted',
  request: {
    heading: 'The request',
    person: 'Person',
    kind: 'Kind of request',
    requester: 'Asked by',
    received: 'Received',
    recorded: 'Recorded',
    recordedBy: (time, actor) => `${time}, by ${actor}`,
    due: 'Answer due',
    used: 'Time used',
    usedOf: (used, allowed) => `${used} of ${plural(allowed, 'day', 'days')}`,
    left: (days) => `${plural(days, 'full day', 'full days')} left`,
    overdue: 'overdue',
    extension: 'Extension',
    extended: (days, time, reason) =>
      `${plural(days, 'day', 'days')}, on ${time}${reason === undefined ? '' : `: ${reason}`}`,
    outcome: 'State',
    open: 'open',
    closed: (outcome, time) => `${outcome}, closed on ${time}`,
    controller: 'Controller',
    memory: 'Memory',
    id: 'Number of the request',
    note: 'Note',
    erasedPerson: (fingerprint) =>
      fingerprint === ''
        ? 'no longer named: the person was erased, and the request closed'
        : `no longer named: erased, key fingerprint ${fingerprint}`,
  },
  summary: {
    heading: 'The answer in short',
    erased: (count, time) =>
      `The data of the person was erased on ${time}: ${count} ${count === '1' ? 'entry' : 'entries'}, in all versions. The key under which the data was stored is destroyed: copies of the data cannot be read with the keys that are left.`,
    neverHeld: (time) =>
      `The memory held nothing about the person when the erasure was carried out on ${time}. It is recorded that a backup must not bring the person back.`,
    holds: (count) =>
      `The memory holds ${count} ${count === '1' ? 'entry' : 'entries'} about the person, in all versions.`,
    holdsNothing: 'The memory holds no entry about the person.',
    purgePending:
      'The indexes are still being rewritten without the words of the person. Until that is done, this report is not final.',
    purgeComplete: (time) => `The indexes were rewritten without the words of the person by ${time}.`,
  },
  held: {
    now: 'What is held now, by type and time',
    before: 'What was held before the erasure, by type and time',
    explained: 'Counts include every version of an entry. Times are those of the entries, in UTC.',
    type: 'Type',
    count: 'Entries',
    oldest: 'Oldest',
    newest: 'Newest',
    total: 'All types',
    month: 'Period',
    nothing: 'Nothing is held.',
    beside: (consents, recalls) => `Besides: consents on record: ${consents}; recalls with a record: ${recalls}.`,
  },
  consents: {
    heading: 'Consents and restriction',
    purpose: 'Purpose',
    every: 'every purpose',
    status: 'Status',
    granted: 'Granted',
    revoked: 'Withdrawn',
    basis: 'Lawful basis',
    nothing: 'No consent is on record.',
    more: (shown, total) => `The first ${shown === '1' ? `of ${total} is` : `${shown} of ${total} are`} listed.`,
    restricted: (time, by, reason) =>
      `Processing has been restricted since ${time}, by ${by}${reason === '' ? '' : `: ${reason}`}.`,
    notRestricted: 'Processing is not restricted.',
  },
  recalls: {
    heading: 'Recalls about the person',
    explained:
      'A recall is a search in the memory on behalf of an agent or a person. These searched for the data of the person.',
    time: 'Time (UTC)',
    by: 'By',
    mode: 'Search',
    results: 'Results',
    modes: {
      structural: 'by structure',
      text: 'by words',
      hybrid: 'by words and structure',
      chain: 'in steps',
      cal: 'query',
    },
    nothing: 'There is no record of a recall about the person.',
    more: (shown, total) => {
      const newest = shown === '1' ? 'The newest' : `The newest ${shown}`;
      const areListed = shown === '1' ? 'is listed' : 'are listed';
      return total === undefined
        ? `${newest} ${areListed}. The total is not known.`
        : `${newest} of ${total} ${areListed}.`;
    },
    afterErasure: 'After an erasure, the records of recalls no longer name the person.',
  },
  acts: {
    heading: 'What was done',
    explained: 'From the audit trail, which is a chain: no entry can be changed or removed without breaking it.',
    time: 'Time (UTC)',
    act: 'Act',
    by: 'By',
    entry: 'Audit entry',
    times: (count) => ` (${count} times)`,
    nothing: 'No act is on record.',
    more: (total) => `The newest of ${total} entries are listed.`,
  },
  proof: {
    heading: 'The proof of the erasure',
    explained:
      'The proof is signed with Ed25519. It states which entries of the audit trail record the erasure, and which key was destroyed.',
    erasedAt: 'Erased',
    count: 'Entries erased',
    fingerprint: 'Fingerprint of the key',
    entries: 'Audit entries',
    entry: (partition, seq, hash) => `partition ${partition}, entry ${seq}: ${hash}`,
    purge: 'Indexes rewritten',
    purgeStates: { pending: 'not yet', complete: 'yes' },
    key: 'Signing key',
    signature: 'Signature',
    issued: 'Signed',
    verify:
      'To verify it, save the proof as a file and run: granary proof verify FILE --public-key KEY. The public key is published by the operator. Any other implementation of Ed25519 will do as well; the documentation says which bytes are signed.',
    asFile: 'The proof as a file',
  },
  processing: {
    heading: 'How the data is processed',
    purposes: 'Purposes',
    recipients: 'Recipients',
    retention: 'Kept for',
    noLimit: 'no fixed period',
    days: (days) => `${days} ${days === '1' ? 'day' : 'days'}, unless a rule for a part of the data says otherwise`,
    source: 'Source',
    sourceText:
      'Conversations with the person and with agents, documents that were imported, and what was concluded from them.',
    rights: 'Rights',
    rightsText:
      'Rectification, erasure, restriction, portability, objection, withdrawal of a consent, and a complaint to a supervisory authority (GDPR, Art. 12 to 22 and 77).',
  },
  backup: {
    heading: 'What a restored backup does',
    erased: [
      'All entries of the person were stored under a key of their own, and that key is destroyed. A copy of the data from before the erasure cannot be read with the keys of today.',
      'When a backup is restored in the place of the present deployment, every erasure that was made since is carried out again in it, before it is used.',
      'A backup from before the erasure that is kept together with its own copy of the keys can be read until it is deleted. The erasure is complete in every respect when the last such backup is gone.',
      'In backups from before the erasure, entries of other people that name the person are as they were before the redaction.',
    ],
    held: [
      'A backup holds what the memory held when the backup was made. It is encrypted, and readable with the keys of that time.',
      'If the person is erased later, a restored backup is erased again before it is used.',
    ],
    last: (time) => `The server made its newest backup on ${time}.`,
    noBackup: 'The server has made no backup itself. Copies that the operator makes in other ways are not known to it.',
  },
  limits: {
    heading: 'What an erasure does not search',
    texts: [
      'Entries of other people are redacted where they have the person as their subject or object, exactly as the person is called in the memory. The wording of their other texts is not searched.',
      'Logs and copies outside of the memory, such as those of connected systems, are not part of this report.',
    ],
  },
};
