// The known single requests that are most costly to parse, check or answer: each is within the 16 MiB of a body. They
// are built when they are sent, because all of them together would take a gigabyte.

const MIB = 1_048_576;
/** Just under the limit of a body, its envelope included. */
const BODY = 15.5 * MIB;

export interface WorstRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to `/api`. */
  readonly path: string;
  readonly body?: () => Buffer;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WorstCall {
  readonly name: string;
  readonly rpc: string;
  readonly message: () => Buffer;
  /** `several` for the memory `several`, which has two partitions; absent: the default one. */
  readonly memory?: 'several';
}

const M = '/memories/default';
const DOCUMENT_HEAD = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

/** Repeats `unit` as often as the body has room for. */
function filled(head: string, unit: string | ((at: number) => string), tail: string, bytes: number = BODY): Buffer {
  if (typeof unit === 'string') {
    const times = Math.floor((bytes - head.length - tail.length) / Buffer.byteLength(unit));
    return Buffer.concat([Buffer.from(head), Buffer.alloc(times * Buffer.byteLength(unit), unit), Buffer.from(tail)]);
  }
  const pieces = [head];
  let length = head.length + tail.length;
  for (let at = 0; ; at += 1) {
    const piece = unit(at);
    length += piece.length;
    if (length > bytes) break;
    pieces.push(piece);
  }
  return Buffer.from(`${pieces.join('')}${tail}`);
}

/** A million members, made once. */
let many: Buffer | undefined;
const manyMembers = (head: string, tail: string) => () => {
  many ??= filled('', (at) => `"f${at}":${at},`, '"z":0', BODY - 1_000);
  return Buffer.concat([Buffer.from(head), many, Buffer.from(tail)]);
};
const BELIEF = '"subject":"a","relation":"b","object":"c"';
/** The maximum number of members of a request: fields that a grain may have, each a short list. */
const fullMembers = (head: string, tail: string) => () =>
  Buffer.from(
    `${head}${Array.from({ length: 9_900 }, (_, at) => `"f${at}":[${at},{"a":"some words"}]`).join(',')}${tail}`,
  );
const post = (name: string, path: string, body: () => Buffer): WorstRequest => ({
  name,
  method: 'POST',
  path: `${M}/${path}`,
  body,
});

const cal = (name: string, text: () => Buffer): WorstRequest =>
  post(name, 'app/exec', () => Buffer.from(JSON.stringify({ command: 'cal', args: { query: text().toString() } })));

/** Routes that read a JSON body, with a body that reaches their reader. */
const READERS: readonly (readonly [path: string, head: string, tail: string])[] = [
  ['add', `{${BELIEF},`, '}'],
  ['recall', '{"query":"a",', '}'],
  ['search', '{"query":"a",', '}'],
  ['recall-chain', '{"query":"a",', '}'],
  ['supersede', `{"blob_hash":"${'f'.repeat(64)}","fields":{`, '}}'],
  ['accumulate', '{"subject":"a","relation":"b","deltas":{', '}}'],
  ['forget', '{"hashes":[],', '}'],
  ['remember', '{"text":"a",', '}'],
  ['policy/simulate', '{"overrides":{', '}}'],
  ['app/exec', '{"command":"cal","args":{', '}}'],
  ['consent/grant-bulk', '{"consents":[],', '}'],
];

export const WORST_REQUESTS: readonly WorstRequest[] = [
  ...READERS.map(([path, head, tail]) => post(`a million members: ${path}`, path, manyMembers(head, tail))),
  ...READERS.map(([path, head, tail]) => post(`as many members as allowed: ${path}`, path, fullMembers(head, tail))),
  ...['add', 'batch-add', 'recall', 'forget', 'app/exec'].map((path) =>
    post(`nothing but an array of zeros: ${path}`, path, () => filled('[', '0,', '0]')),
  ),
  post('an array of empty objects', 'app/exec', () => filled('{"command":"x","args":[', '{},', '{}]}')),
  post('brackets that open', 'app/exec', () => filled('', '[', '')),
  post('brackets that open and close', 'app/exec', () => filled('[', '[],', '[]]')),
  post('a hundred thousand nested objects', 'app/exec', () =>
    Buffer.from(`${'{"a":'.repeat(100_000)}0${'}'.repeat(100_000)}`),
  ),
  post('one name again and again', 'app/exec', () => filled('{"command":"x",', '"a":1,', '"a":1}')),
  post('a number of many digits', 'app/exec', () => filled('{"command":"x","args":{"n":', '9', '}}')),
  post('many numbers of many digits', 'app/exec', () =>
    filled('{"command":"x","args":{"n":[', `${'9'.repeat(400)},`, '1]}}'),
  ),
  post('many integers past 2^53', 'app/exec', () =>
    filled('{"command":"x","args":{"n":[', '9007199254740993,', '1]}}'),
  ),
  post('a long string', 'app/exec', () => filled('{"command":"', 'x', '"}')),
  post('a long string of escapes', 'app/exec', () => filled('{"command":"', '\\u00e9', '"}')),
  post('a long string of quotes', 'app/exec', () => filled('{"command":"', '\\"', '"}')),
  post('a long string of combining marks', 'app/exec', () => filled('{"command":"', '\u0301', '"}')),
  post('a long name', 'app/exec', () => filled('{"command":"x","', 'y', '":1}')),
  post('a string that does not end', 'app/exec', () => filled('{"command":"', 'x', '')),
  post('nothing but blanks', 'app/exec', () => filled('', ' ', '')),
  post('bytes that are no text', 'app/exec', () => filled('', '\u00e9', '').fill(0xff)),
  post('batch-add: as many empty grains as fit', 'batch-add', () => filled('{"grains":[', '{},', '{}]}')),
  post('batch-add: 1,000 grains of 15 KB', 'batch-add', () =>
    filled(
      '{"grains":[',
      (at) => `{"grain_type":"event","fields":{"content":"${at} ${'word '.repeat(3_000)}"}},`,
      '{}]}',
      15 * MIB,
    ),
  ),
  post('add: a grain of 1 MB', 'add', () =>
    Buffer.from(`{"grain_type":"event","fields":{"content":"${'some words of it '.repeat(60_000)}"}}`),
  ),
  post('add: a grain of 15 MB', 'add', () => filled('{"grain_type":"event","fields":{"content":"', 'x', '"}}')),
  post('add: 10,000 fields', 'add', () =>
    Buffer.from(`{${BELIEF},${Array.from({ length: 9_000 }, (_, at) => `"f${at}":{"a":[1,2,3]}`).join(',')}}`),
  ),
  post('add: related to a hundred thousand', 'add', () =>
    filled(`{${BELIEF},"related_to":[`, `"${'f'.repeat(64)}",`, `"${'f'.repeat(64)}"]}`),
  ),
  post('add: as many tags as fit', 'add', () => filled(`{${BELIEF},"tags":[`, '"t",', '"t"]}')),
  post('recall: a query of 15 MB', 'recall', () => filled('{"query":"', 'some words ', '"}')),
  post('recall: different words', 'recall', () => filled('{"query":"', (at) => `w${at} `, '"}')),
  post('recall: an embedding of a million', 'recall', () => filled('{"query":"a","embedding":[', '0.1,', '0.1]}')),
  post('recall: as many tags as fit', 'recall', () => filled('{"query":"a","tags":[', (at) => `"t${at}",`, '"t"]}')),
  post('forget: as many hashes as fit', 'forget', () =>
    filled('{"hashes":[', (at) => `"${at.toString(16).padStart(64, '0')}",`, `"${'f'.repeat(64)}"]}`),
  ),
  post('remember: 256 KB', 'remember', () =>
    filled('{"text":"', 'Ada Lovelace lives in London since 1815. ', '"}', 250_000),
  ),
  post('detect-pii: 256 KB of telephone numbers', 'detect-pii', () =>
    filled('{"text":"', '+49 171 2345678, ', '"}', 250_000),
  ),
  post('detect-pii: 256 KB of names', 'detect-pii', () =>
    filled('{"text":"', 'Mr. John Smith, Ada Lovelace, ', '"}', 250_000),
  ),
  ...[BODY, 8_000].flatMap((bytes) => [
    cal(`cal: a long text, ${bytes}`, () => filled("RECALL beliefs WHERE subject = '", 'x', "'", bytes)),
    cal(`cal: parentheses, ${bytes}`, () => filled('', '(', '', bytes)),
    cal(`cal: a long list, ${bytes}`, () => filled('RECALL beliefs WHERE subject IN (', "'a',", "'a')", bytes)),
    cal(`cal: conditions in a row, ${bytes}`, () =>
      filled("RECALL beliefs WHERE subject = 'a'", " AND object = 'b'", '', bytes),
    ),
    cal(`cal: sets in a row, ${bytes}`, () => filled('(RECALL beliefs)', ' UNION (RECALL beliefs)', '', bytes)),
    cal(`cal: stages in a row, ${bytes}`, () => filled('RECALL beliefs', ' | LIMIT 5', '', bytes)),
    cal(`cal: blanks, ${bytes}`, () => filled('', ' ', '', bytes)),
    cal(`cal: quotes, ${bytes}`, () => filled('', "'", '', bytes)),
    cal(`cal: its JSON form, ${bytes}`, () =>
      filled('{"recall":{"where":[', '{"field":"subject","op":"=","value":"x"},', '{}]}}', bytes),
    ),
  ]),
  {
    name: 'a scope tree of 10,000 nodes',
    method: 'PUT',
    path: `${M}/scope-tree`,
    body: () =>
      Buffer.from(
        `{"root":{"name":"r","children":[${Array.from({ length: 9_990 }, (_, at) => `{"name":"n${at}"}`).join(',')}]}}`,
      ),
  },
  {
    name: 'a scope tree of a million nodes',
    method: 'PUT',
    path: `${M}/scope-tree`,
    body: () => filled('{"root":{"name":"r","children":[', '{"name":"n"},', '{}]}}'),
  },
  {
    name: 'a policy of many patterns',
    method: 'PUT',
    path: `${M}/policy`,
    body: () => filled('{"presets":[],"overrides":{"guardrails.patterns":[', '"(a+)+b",', '"x"]}}'),
  },
  {
    name: 'an upload of one-byte lines',
    method: 'POST',
    path: `${M}/import-file`,
    contentType: 'multipart/form-data; boundary=x',
    body: () =>
      filled(
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mg"\r\n\r\n',
        '\r\n',
        '\r\n--x--\r\n',
        45 * MIB,
      ),
  },
  {
    name: 'an upload of boundaries that are none',
    method: 'POST',
    path: `${M}/import-file`,
    contentType: 'multipart/form-data; boundary=x',
    body: () =>
      filled(
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mg"\r\n\r\n',
        '\r\n--y',
        '\r\n--x--\r\n',
        45 * MIB,
      ),
  },
  {
    name: 'an upload with an idempotency key',
    method: 'POST',
    path: `${M}/import-file`,
    contentType: 'multipart/form-data; boundary=x',
    headers: { 'idempotency-key': 'upload' },
    body: () =>
      filled(
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mg"\r\n\r\n',
        'x',
        '\r\n--x--\r\n',
        45 * MIB,
      ),
  },
  {
    name: 'an upload of maps in maps',
    method: 'POST',
    path: `${M}/import-file`,
    contentType: 'multipart/form-data; boundary=x',
    body: () =>
      filledBytes(
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mg"\r\n\r\n',
        Buffer.concat([Buffer.of(1, 0, 1, 0, 0, 0, 0, 0, 0), Buffer.alloc(1_000_000, Buffer.of(0x81, 0xa1, 0x61))]),
        '\r\n--x--\r\n',
      ),
  },
  {
    name: 'an upload of a file of a million grains',
    method: 'POST',
    path: `${M}/import-file`,
    contentType: 'multipart/form-data; boundary=x',
    body: () => {
      const head = Buffer.alloc(16 + 8_000_000);
      head.write('MG\x01', 'latin1');
      head.writeUInt32BE(2_000_000, 4);
      return filledBytes(
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mg"\r\n\r\n',
        head,
        '\r\n--x--\r\n',
      );
    },
  },
  {
    name: 'a document of much text, answered as a whole',
    method: 'POST',
    path: `${M}/extract-document`,
    contentType: 'multipart/form-data; boundary=x',
    body: () => filled(DOCUMENT_HEAD, 'A "line" of words.\n', '\r\n--x--\r\n', 13 * MIB),
  },
  {
    name: 'a document of much text, imported',
    method: 'POST',
    path: `${M}/import-document`,
    contentType: 'multipart/form-data; boundary=x',
    body: () => filled(DOCUMENT_HEAD, 'A line of words.\n', '\r\n--x--\r\n', 8 * MIB),
  },
  { name: 'a query string of 15 KB', method: 'GET', path: `${M}/grains?${'a=b&'.repeat(3_700)}` },
  { name: 'a query string of tags', method: 'GET', path: `${M}/grains?${'tag=b&'.repeat(2_400)}` },
];

function filledBytes(head: string, bytes: Buffer, tail: string): Buffer {
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]);
}

// ---- gRPC: hand-made protobuf, as from a foreign sender ----

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest >= 128 ? (rest % 128) + 128 : rest);
    if (rest < 128) return Buffer.from(bytes);
  }
}

function field(number: number, bytes: Buffer | string): Buffer {
  const body = Buffer.from(bytes);
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);
}

function repeated(unit: Buffer, bytes: number = BODY): Buffer {
  return Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);
}

export function pathOf(rpc: string): string {
  return `/memory.v1.${rpc === 'BatchAdd' ? 'MemoryBatchService' : 'MemoryService'}/${rpc}`;
}

const FORTY_FIELDS = Array.from({ length: 40 }, (_, at) => `"f${at}":"${'some \\u00e9 '.repeat(25)}"`).join(',');
const addOf = (fieldsJson: Buffer | string) => Buffer.concat([field(1, 'belief'), field(2, fieldsJson)]);

/** Valid fields that take long to read: each escape is one character, and long integers need a separate parser. */
const escapes = (head: string) => filled(`{${head}"n":9007199254740993,"content":"`, '\\u00e9', '"}');

export const WORST_CALLS: readonly WorstCall[] = [
  {
    name: 'Supersede: a text of escapes',
    rpc: 'Supersede',
    message: () => Buffer.concat([field(1, 'f'.repeat(64)), field(3, escapes(''))]),
  },
  {
    name: 'Add: a text of escapes, to several partitions',
    rpc: 'Add',
    memory: 'several',
    message: () => addOf(escapes(`${BELIEF},`)),
  },
  {
    name: 'BatchAdd: items with fields, to several partitions',
    rpc: 'BatchAdd',
    memory: 'several',
    message: () => {
      const item = field(1, addOf(`{${BELIEF},${FORTY_FIELDS}}`));
      return repeated(item, 1_000 * item.length);
    },
  },
  { name: 'Add: a million members', rpc: 'Add', message: () => addOf(manyMembers(`{${BELIEF},`, '}')()) },
  { name: 'Add: brackets', rpc: 'Add', message: () => addOf(filled('{"a":', '[', '')) },
  {
    name: 'Add: integers past 2^53',
    rpc: 'Add',
    message: () => addOf(filled(`{${BELIEF},"n":[`, '9007199254740993,', '1]}')),
  },
  { name: 'BatchAdd: empty items', rpc: 'BatchAdd', message: () => repeated(field(1, '')) },
  {
    name: 'BatchAdd: items of ten thousand members',
    rpc: 'BatchAdd',
    message: () =>
      repeated(field(1, addOf(`{${BELIEF},${Array.from({ length: 9_000 }, (_, at) => `"f${at}":${at}`).join(',')}}`))),
  },
  { name: 'Recall: empty tags', rpc: 'Recall', message: () => Buffer.concat([field(1, 'a'), repeated(field(14, ''))]) },
  {
    name: 'Recall: an embedding',
    rpc: 'Recall',
    message: () => Buffer.concat([field(1, 'a'), field(25, Buffer.alloc(15 * MIB))]),
  },
  {
    name: 'Recall: floats one by one',
    rpc: 'Recall',
    message: () => Buffer.concat([field(1, 'a'), repeated(Buffer.of(0xcd, 1, 0, 0, 0, 0))]),
  },
  { name: 'Recall: fields that nobody knows', rpc: 'Recall', message: () => repeated(field(1_000, '')) },
  { name: 'Recall: groups in groups', rpc: 'Recall', message: () => repeated(Buffer.of(0x0b)) },
  { name: 'Recall: a query that is no text', rpc: 'Recall', message: () => field(1, Buffer.alloc(15 * MIB, 0xff)) },
  {
    name: 'RecallChain: empty tags',
    rpc: 'RecallChain',
    message: () => Buffer.concat([field(1, 'a'), repeated(field(14, ''))]),
  },
  {
    name: 'RecallChain: a query that is no text',
    rpc: 'RecallChain',
    message: () => field(1, Buffer.alloc(15 * MIB, 0xff)),
  },
  {
    name: 'Supersede: a million members',
    rpc: 'Supersede',
    message: () => Buffer.concat([field(1, 'f'.repeat(64)), field(3, manyMembers('{', '}')())]),
  },
  {
    name: 'Accumulate: a million members',
    rpc: 'Accumulate',
    message: () => Buffer.concat([field(1, 'f'.repeat(64)), field(2, manyMembers('{', '}')())]),
  },
  {
    name: 'CalQuery: a long list',
    rpc: 'CalQuery',
    message: () => field(1, filled('RECALL beliefs WHERE subject IN (', "'a',", "'a')")),
  },
  {
    name: 'CalQuery: the JSON form, a million members',
    rpc: 'CalQuery',
    message: () => field(1, manyMembers('{', '}')()),
  },
  { name: 'DetectPii: no text', rpc: 'DetectPii', message: () => field(1, Buffer.alloc(15 * MIB, 0xff)) },
  { name: 'Health: fields that nobody knows', rpc: 'Health', message: () => repeated(field(1_000, '')) },
];
