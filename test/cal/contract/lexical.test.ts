// Sections 2.2, 3 and 4 of the contract: tokens, reserved words, the shape of a query.
import { contract, type Row } from './contract.ts';

const fill = (before: string, letter: string, after: string, bytes: number): string =>
  before + letter.repeat(Math.floor((bytes - before.length - after.length) / Buffer.byteLength(letter))) + after;
const EXCLUDED =
  'DELETE DROP FORGET ERASE DESTROY PURGE TRUNCATE INSERT CREATE WRITE STORE KEY ENCRYPT DECRYPT ROTATE MASTER DEK SECRET POLICY SEAL UNSEAL GRANT REVOKE CONSENT RESTRICT SCHEMA PARTITION INDEX MIGRATION TOKEN';

const rows: Row[] = [
  // 3.1: input
  { q: '', code: 'E014' },
  { q: ' \t\r\n ', code: 'E014' },
  { q: '  -- only a remark', code: 'E014' },
  { q: ';', code: 'E014 E002' },
  { q: fill('RECALL beliefs WHERE object = "', 'x', '"', 8_192), set: '', total: 0 },
  { q: fill('RECALL beliefs WHERE object = "', 'x', '"', 8_193), code: 'E001' },
  { q: fill('RECALL beliefs WHERE object = "', 'é', '"', 8_194), code: 'E001' },
  { q: 'x'.repeat(65_536), code: 'E001' },
  { q: `${' '.repeat(8_180)}RECALL beliefs`, code: 'E001' },
  { q: '('.repeat(8_192), code: 'E007 E002' },
  { q: `${'('.repeat(2_000)}RECALL beliefs${')'.repeat(2_000)}`, code: 'E007 E002' },
  { q: '\ud800', code: 'E070' },
  { q: 'RECALL beliefs WHERE subject = "\ud800"', code: 'E070' },
  { q: 'RECALL\u00a0beliefs', code: 'E002', at: '\u00a0' },
  { q: '\u00a0RECALL beliefs', code: 'E002' },
  { q: '/* remark */ RECALL beliefs', code: 'E002', at: '/*' },
  { q: '-- DELETE everything\nRECALL beliefs WHERE subject = "gina" -- DROP it', set: 'cats' },
  { q: 'RECALL beliefs WHERE object = "a -- b"', set: '' },
  { q: 'RECALL beliefs WHERE subject = "gina";', set: 'cats' },
  { q: 'RECALL beliefs;;', code: 'E002' },
  { q: 'RECALL beliefs; RECALL events', code: 'E002', at: 'RECALL' },
  { q: 'RECALL beliefs RECALL events', code: 'E002' },
  { q: 'RECALL\tbeliefs\r\nWHERE\nsubject="gina"', set: 'cats' },
  // 3.2: case
  { q: 'recall BELIEFS where SUBJECT = "gina" limit 3', set: 'cats' },
  { q: 'Recall beliefs Where subject = "GINA"', set: '' },
  { q: 'RECALL beliefs WHERE subject = "Alice"', set: 'upper' },
  { q: 'RECALL bеliefs', code: 'E002' },
  { q: 'RECALL beliefs WHERE subjеct = "alice"', code: 'E002 E004' },
  { q: 'ＲＥＣＡＬＬ beliefs', code: 'E002' },
  { q: 'RECALL _beliefs', code: 'E002' },
  // 3.3: strings
  { q: 'RECALL beliefs WHERE object = "a \\"quoted\\" word"', set: 'quote' },
  { q: 'RECALL beliefs WHERE object = "C:\\temp"', set: 'path' },
  { q: 'RECALL beliefs WHERE object = "C:\\\\temp"', set: 'path' },
  { q: 'RECALL beliefs WHERE object = "dir\\\\"', set: 'slash' },
  { q: 'RECALL beliefs WHERE object = "dir\\"', code: 'E005' },
  { q: 'RECALL beliefs WHERE object = "one\ntwo\tthree"', set: 'lines' },
  { q: 'RECALL beliefs WHERE object = "one\\ntwo"', set: '' },
  { q: 'RECALL beliefs WHERE subject = "ali', code: 'E005' },
  { q: "RECALL beliefs WHERE subject = 'alice'", code: 'E002', at: "'" },
  { q: 'RECALL beliefs WHERE object = "Zu\u0308rich"', set: 'zurich' },
  { q: 'RECALL beliefs WHERE object = "Zürich"', set: 'zurich' },
  { q: 'RECALL beliefs WHERE object = "🎉 party 👩‍👩‍👧"', set: 'emoji' },
  { q: 'RECALL beliefs WHERE object = "שלום עולם"', set: 'rtl' },
  { q: 'RECALL beliefs WHERE subject = "\u202ealice"', code: 'E071' },
  { q: 'RECALL beliefs WHERE subject = "\u2069"', code: 'E071' },
  { q: 'RECALL beliefs \u202e', code: 'E002' },
  { q: 'RECALL beliefs -- \u2066 in a remark', code: 'E002' },
  { q: 'RECALL beliefs WHERE subject = "\u200falice"', set: '' },
  // numbers
  { q: 'RECALL beliefs WHERE confidence >= 1e5', code: 'E006' },
  { q: 'RECALL beliefs WHERE confidence >= 1.2.3', code: 'E006', at: '1.2.3' },
  { q: 'RECALL beliefs WHERE confidence >= .5', code: 'E006' },
  { q: 'RECALL beliefs WHERE confidence >= 5.', code: 'E006' },
  { q: 'RECALL beliefs WHERE confidence >= +5', code: 'E006' },
  { q: 'RECALL beliefs WHERE confidence >= 1_000', code: 'E006' },
  { q: 'RECALL beliefs WHERE confidence >= NaN', code: 'E002 E006 E020' },
  { q: 'RECALL beliefs WHERE confidence >= -1 AND subject = "gina"', set: 'cats' },
  { q: 'RECALL beliefs WHERE confidence = 0.250 AND subject = "gina"', set: 'cats' },
  { q: 'RECALL beliefs LIMIT -1', code: 'E010 E002' },
  { q: 'RECALL beliefs LIMIT 2.5', code: 'E010 E002 E006' },
  { q: 'RECALL beliefs LIMIT "5"', code: 'E002' },
  // hashes
  { q: 'EXISTS sha256:0123456', code: 'E015', at: 'sha256:0123456' },
  { q: `EXISTS sha256:${'0'.repeat(65)}`, code: 'E015' },
  { q: 'EXISTS sha256:0123456z89', code: 'E015' },
  { q: 'EXISTS sha256:', code: 'E015 E002' },
  { q: `EXISTS sha256:${'AB'.repeat(32)}`, is: { exists: false, hash: `sha256:${'ab'.repeat(32)}` } },
  // parameters
  { q: 'RECALL beliefs WHERE subject = $who', code: 'E008', at: '$who' },
  { q: 'RECALL beliefs WHERE user_id = $current_user_id', code: 'E008' },
  { q: 'RECALL beliefs WHERE user_id = $current_user_id', user: 'ann', set: 'acme zurich' },
  { q: 'RECALL MY beliefs', code: 'E008' },
  { q: 'RECALL MY beliefs', user: 'ann', set: 'acme zurich' },
  {
    q: 'LET $a = RECALL beliefs | SUBJECTS; LET $a = RECALL beliefs | OBJECTS; RECALL beliefs WHERE subject IN ($a)',
    code: 'E009',
  },
  // 2.2: excluded words
  ...EXCLUDED.split(' ').flatMap((word): Row[] => [
    { q: `${word} beliefs`, code: 'E002', at: word },
    { q: `RECALL beliefs WHERE ${word.toLowerCase()} = "x"`, code: 'E002' },
    { q: `BATCH { ${word.toLowerCase()}: RECALL beliefs }`, code: 'E002' },
    { q: `ASSEMBLE ${word} FROM (RECALL beliefs)`, code: 'E002' },
  ]),
  { q: 'RECALL beliefs AS [json AS secret]', code: 'E002' },
  { q: 'ASSEMBLE FROM (RECALL goals) PRIORITY purge', code: 'E002' },
  { q: 'RECALL beliefs WHERE subject = "DELETE"', set: '' },
  { q: 'RECALL consents WHERE consent_action = "withdraw"', set: 'consent2' },
  { q: 'DESCRIBE fields consent', body: 'describe' },
  // 21: statements that this version does not have
  ...[
    'SHOW GRANTS',
    'APPROVE sha256:01234567 BECAUSE "x"',
    'RUN q',
    'REPORT SUBJECT "x"',
    'REHYDRATE sha256:01234567',
  ].map((q): Row => ({ q, code: 'E002' })),
  { q: 'RECALL beliefs WITH anonymize(strong)', code: 'E002' },
  // 3.4: reserved words
  { q: 'ASSEMBLE recall FROM (RECALL beliefs)', code: 'E002' },
  { q: 'ASSEMBLE find FROM (RECALL beliefs)', code: 'E002' },
  {
    q: 'ASSEMBLE FROM history: (RECALL goals), beliefs: (RECALL beliefs LIMIT 1), recent: (RECALL events RECENT 1), until: (RECALL actions) PRIORITY recent > history > until',
    check: (result) => {
      const labels = result['sources'].map(({ label }: { label: string }) => label);
      if (labels.join() !== 'recent,history,until,beliefs') throw new Error(labels.join());
    },
  },
  {
    q: 'BATCH { history: RECALL goals | COUNT, facts: RECALL beliefs WHERE subject = "gina" | COUNT, int:RECALL events LIMIT 1 | COUNT }',
    count: 3,
    check: ({ results }) => {
      if (Object.keys(results).join() !== 'history,facts,int') throw new Error(Object.keys(results).join());
    },
  },
  { q: 'RECALL consensuses WHERE threshold >= 0.6', set: 'vote1' },
  { q: 'RECALL consents WHERE scope = "analytics"', set: 'consent1' },
  // 4: the version in front, and what has no production
  { q: 'CAL/1 RECALL beliefs WHERE subject = "gina"', set: 'cats' },
  { q: 'CAL/2 RECALL beliefs', code: 'E100' },
  { q: 'CAL/x RECALL beliefs', code: 'E002 E100' },
  { q: 'RECALL beliefs WHERE subject = "alice" OR subject = "bob"', code: 'E002', at: 'OR' },
  { q: 'RECALL beliefs WHERE NOT subject = "alice"', code: 'E002', at: 'NOT' },
  { q: 'RECALL beliefs WHERE (subject = "alice")', code: 'E002', at: '(' },
  { q: 'RECALL beliefs WHERE subject IS NULL', code: 'E002' },
  { q: 'RECALL beliefs WHERE object CONTAINS "x"', code: 'E002' },
  { q: 'RECALL beliefs WHERE', code: 'E002' },
  { q: 'RECALL beliefs WHERE subject', code: 'E002' },
  { q: 'RECALL beliefs WHERE subject = ', code: 'E002' },
  { q: 'beliefs', code: 'E002', at: 'beliefs' },
  { q: 'RECALL beliefs WHERE subject = "alice" WHERE subject = "bob"', code: 'E002' },
  { q: 'RECALL beliefs IN "a" IN "b"', code: 'E002' },
  { q: 'RECALL beliefs AS json AS text', code: 'E002' },
  { q: 'RECALL beliefs LIMIT 3 WHERE subject = "gina"', set: 'cats' },
  { q: 'RECALL beliefs | LIMIT 3 | ORDER BY confidence DESC WHERE subject = "gina"', set: 'cats' },
  { q: 'RECALL beliefs AS json WHERE subject = "gina" FIRST', set: 'cats', body: 'formatted' },
];

contract('sections 2 to 4', rows);
