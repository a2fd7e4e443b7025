// HPACK against the examples of RFC 7541, against nghttp2 (in node:http2), and against itself.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Server } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../../test/support/runs.ts';
import { BlockReader, BlockWriter, INTEGER_MAX } from './block.ts';
import { HpackDecoder } from './decoder.ts';
import { HpackEncoder, TABLE_BYTES_DEFAULT } from './encoder.ts';
import { HpackError } from './hpack-error.ts';
import { huffmanDecoded, huffmanLength, writeHuffman } from './huffman.ts';
import { STATIC_ENTRIES, STATIC_NAMES } from './static-table.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const decoderOf = (tableBytesMax = TABLE_BYTES_DEFAULT, listBytesMax = 1_000_000): HpackDecoder =>
  new HpackDecoder({ tableBytesMax, listBytesMax, headersMax: 100 });

/** One block of the list. */
function written(encoder: HpackEncoder, list: readonly string[], isIndexed = true): Buffer {
  encoder.begin();
  if (isIndexed) encoder.indexed(list);
  else encoder.literal(list);
  return encoder.view();
}

test('integers are those of appendix C.1', () => {
  for (const [bytes, bits, value] of [
    ['0a', 5, 10],
    ['1f9a0a', 5, 1_337],
    ['2a', 8, 42],
  ] as const) {
    assert.equal(new BlockReader(hex(bytes)).integer(bits), value);
    const out = new BlockWriter();
    out.integer(0, bits, value);
    assert.equal(out.view().toString('hex'), bytes);
  }
});

test('an integer is the same after writing and reading, and one that is too large is refused', () => {
  fc.assert(
    fc.property(fc.nat(INTEGER_MAX), fc.integer({ min: 1, max: 8 }), (value, bits) => {
      const out = new BlockWriter();
      out.integer(0, bits, value);
      const reader = new BlockReader(out.view());
      assert.equal(reader.integer(bits), value);
      assert.ok(reader.isAtEnd);
    }),
    { numRuns: runs(500) },
  );
  for (const bytes of ['ffffffffff7f', 'ff80808080808000', 'ff8080808080808080808001', 'ff', 'ffff'])
    assert.throws(() => new BlockReader(hex(bytes)).integer(7), HpackError, bytes);
});

/** Appendix C: blocks of one connection, each with its headers, and the size of the table after it. */
interface Example {
  readonly name: string;
  readonly tableBytesMax?: number;
  readonly blocks: readonly (readonly [hex: string, list: readonly string[]])[];
}

const FIRST = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'];
const SECOND = [...FIRST, 'cache-control', 'no-cache'];
const THIRD = [
  ...[':method', 'GET', ':scheme', 'https', ':path', '/index.html', ':authority', 'www.example.com'],
  ...['custom-key', 'custom-value'],
];
const DATE = 'Mon, 21 Oct 2013 20:13:21 GMT';
const LATER = 'Mon, 21 Oct 2013 20:13:22 GMT';
const SITE = 'https://www.example.com';
const COOKIE = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';
const FOUND = [':status', '302', 'cache-control', 'private', 'date', DATE, 'location', SITE];
const MOVED = [':status', '307', 'cache-control', 'private', 'date', DATE, 'location', SITE];
const OK = [
  ...[':status', '200', 'cache-control', 'private', 'date', LATER, 'location', SITE],
  ...['content-encoding', 'gzip', 'set-cookie', COOKIE],
];

const EXAMPLES: readonly Example[] = [
  {
    name: 'C.2.1 and C.2.4, in turn',
    blocks: [
      ['400a637573746f6d2d6b65790d637573746f6d2d686561646572', ['custom-key', 'custom-header']],
      ['82', [':method', 'GET']],
    ],
  },
  { name: 'C.2.2', blocks: [['040c2f73616d706c652f70617468', [':path', '/sample/path']]] },
  { name: 'C.2.3', blocks: [['100870617373776f726406736563726574', ['password', 'secret']]] },
  {
    name: 'C.3',
    blocks: [
      ['828684410f7777772e6578616d706c652e636f6d', FIRST],
      ['828684be58086e6f2d6361636865', SECOND],
      ['828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565', THIRD],
    ],
  },
  {
    name: 'C.4',
    blocks: [
      ['828684418cf1e3c2e5f23a6ba0ab90f4ff', FIRST],
      ['828684be5886a8eb10649cbf', SECOND],
      ['828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf', THIRD],
    ],
  },
  {
    name: 'C.5',
    tableBytesMax: 256,
    blocks: [
      [
        `4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54
         6e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
        FOUND,
      ],
      ['4803333037c1c0bf', MOVED],
      [
        `88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d41
         53444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31`,
        OK,
      ],
    ],
  },
  {
    name: 'C.6',
    tableBytesMax: 256,
    blocks: [
      [
        `488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff
         6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
        FOUND,
      ],
      ['4883640effc1c0bf', MOVED],
      [
        `88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab
         77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007`,
        OK,
      ],
    ],
  },
];

for (const { name, tableBytesMax, blocks } of EXAMPLES)
  test(`blocks are read as in appendix ${name}`, () => {
    const decoder = decoderOf(tableBytesMax);
    for (const [bytes, list] of blocks) assert.deepEqual(decoder.decode(hex(bytes)), list);
  });

test('blocks with the table and the Huffman code are written as in appendices C.4 and C.6', () => {
  for (const { name, tableBytesMax, blocks } of EXAMPLES) {
    if (name !== 'C.4' && name !== 'C.6') continue;
    const encoder = new HpackEncoder(tableBytesMax);
    // The RFC's connections agree on the size of the table by other means.
    const resized = tableBytesMax === undefined ? '' : '3fe101';
    for (const [at, [bytes, list]] of blocks.entries())
      assert.equal(written(encoder, list).toString('hex'), (at === 0 ? resized : '') + hex(bytes).toString('hex'));
  }
});

test('every octet survives the Huffman code, and its length is known', () => {
  const every = Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('latin1');
  const text = fc.array(fc.nat(255), { maxLength: 300 }).map((octets) => Buffer.from(octets).toString('latin1'));
  fc.assert(
    fc.property(text, (given) => {
      const out = new BlockWriter();
      writeHuffman(out, given);
      const bytes = out.view();
      assert.equal(bytes.length, huffmanLength(given));
      assert.equal(huffmanDecoded(bytes, 0, bytes.length), given);
    }),
    { numRuns: runs(500), examples: [[every], [every.repeat(100)]] },
  );
});

test('a string with EOS or with other padding than that of EOS is refused', () => {
  // Section 5.2: EOS; eight bits of padding; padding of zeroes.
  for (const bytes of ['ffffffff', 'ff', '1fff', '18', '1f00'])
    assert.throws(() => huffmanDecoded(hex(bytes), 0, bytes.length / 2), HpackError, bytes);
  assert.equal(huffmanDecoded(hex('1f'), 0, 1), 'a');
});

test('blocks that refer to nothing, end early, or resize the table where they may not are refused', () => {
  for (const [name, bytes] of [
    ['index 0', '80'],
    ['an index beyond the static table', 'be'],
    ['a name beyond the static table', '7f0000'],
    ['a name that is cut', '4005616263'],
    ['no value', '400161'],
    ['a size beyond the announced one', '3fe21f'],
    ['a size within the block', '8220'],
  ] as const)
    assert.throws(() => decoderOf().decode(hex(bytes)), HpackError, name);
});

test('a list of too many headers is cut', () => {
  const decoder = decoderOf();
  assert.equal(decoder.decode(Buffer.alloc(100, 0x82))?.length, 200);
  assert.equal(decoder.decode(Buffer.alloc(101, 0x82)), undefined);
});

test('a list over the limit is cut, and the table continues', () => {
  const decoder = decoderOf(TABLE_BYTES_DEFAULT, 100);
  // One entry of 72 octets, then many references to it.
  const entry = Buffer.concat([hex('400161'), Buffer.of(39), Buffer.alloc(39, 0x62)]);
  assert.deepEqual(decoder.decode(entry), ['a', 'b'.repeat(39)]);
  assert.equal(decoder.decode(Buffer.alloc(10_000, 0x80 | (STATIC_ENTRIES + 1))), undefined);
  assert.deepEqual(decoder.decode(Buffer.of(0x80 | (STATIC_ENTRIES + 1))), ['a', 'b'.repeat(39)]);
});

test('a block that resizes the table again and again costs about what other blocks of its length do', () => {
  const decoder = decoderOf(TABLE_BYTES_DEFAULT, 16_384);
  const cpuOf = (block: Buffer): number => {
    const before = process.cpuUsage();
    for (let round = 0; round < 40; round += 1) decoder.decode(block);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  // To 0 and to 4,096 in turns, and as many octets of one static entry.
  const resizing = Buffer.from('203fe11f'.repeat(4_096), 'hex');
  const plain = Buffer.alloc(resizing.length, 0x82);
  for (const warm of [resizing, plain]) cpuOf(warm);
  const [much, usual] = [cpuOf(resizing), cpuOf(plain)];
  assert.ok(much < 8 * usual, `${much} µs against ${usual} µs`);
});

const name = fc.oneof(fc.constantFrom(...STATIC_NAMES.slice(16)), fc.stringMatching(/^x-[a-z0-9-]{1,30}$/));
const value = fc.oneof(fc.stringMatching(/^[!-~]{0,60}$/), fc.constantFrom('a', 'b'.repeat(300), '200'));
const lists = fc.array(
  fc.array(fc.tuple(name, value), { maxLength: 12 }).map((pairs) => pairs.flat()),
  { minLength: 1, maxLength: 12 },
);

test('a decoder reads what an encoder wrote, with tables that grow and shrink between blocks', () => {
  fc.assert(
    fc.property(
      lists,
      fc.array(fc.constantFrom(undefined, 0, 40, 200, 4_096, 65_536)),
      fc.nat(),
      (given, sizes, mode) => {
        const encoder = new HpackEncoder();
        const decoder = decoderOf();
        for (const [at, list] of given.entries()) {
          const size = sizes[at];
          if (size !== undefined) encoder.resize(size);
          const before = decoder.version;
          const block = written(encoder, list, (mode >> at) % 2 === 0);
          assert.deepEqual(decoder.decode(block), list);
          // The same block says the same as long as the table is the same.
          if (decoder.version === before) assert.deepEqual(decoder.decode(block), list);
        }
      },
    ),
    { numRuns: runs(300) },
  );
});

test('any bytes are a list or an HpackError', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), (blocks) => {
      const decoder = decoderOf(256, 1_000);
      for (const block of blocks) {
        try {
          const list = decoder.decode(Buffer.from(block));
          assert.ok(list === undefined || list.length % 2 === 0);
        } catch (error) {
          assert.ok(error instanceof HpackError);
          return;
        }
      }
    }),
    { numRuns: runs(2_000) },
  );
});

/** Collects what node:http2 writes: frames of type HEADERS, each of one whole block. */
function headerBlocks(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    const hasPriority = (bytes[at + 4]! & 0x20) !== 0;
    if (bytes[at + 3] === 1) blocks.push(bytes.subarray(at + 9 + (hasPriority ? 5 : 0), end));
    at = end;
  }
  return blocks;
}

test('a decoder reads what node:http2 wrote', async () => {
  const server = createServer((_, response) => response.end());
  await listening(server);
  // The client's bytes pass through a server in between.
  const written: Buffer[] = [];
  const between = createTcpServer((client) => {
    const upstream = connectTcp(portOf(server));
    client.on('data', (chunk: Buffer) => written.push(chunk));
    client.pipe(upstream).pipe(client);
  });
  await listening(between);
  const session = connect(`http://127.0.0.1:${portOf(between)}`);
  const sent: Record<string, string>[] = [];
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.stringMatching(/^x-[a-z]{1,10}$/), value), async (headers) => {
      sent.push(headers);
      const stream = session.request({ ':path': `/${sent.length}`, ...headers });
      stream.resume();
      await new Promise((resolve) => stream.once('close', resolve));
    }),
    { numRuns: runs(60) },
  );
  await new Promise<void>((resolve) => session.close(resolve));
  between.close();
  server.close();
  const decoder = decoderOf();
  const lists = headerBlocks(Buffer.concat(written)).map((block) => decoder.decode(block) ?? []);
  assert.equal(lists.length, sent.length);
  for (const [at, list] of lists.entries()) {
    const read = new Map(list.flatMap((text, place) => (place % 2 === 0 ? [[text, list[place + 1]] as const] : [])));
    assert.equal(read.get(':path'), `/${at + 1}`);
    for (const [wanted, text] of Object.entries(sent[at]!)) assert.equal(read.get(wanted), text);
  }
});

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on TCP
}
