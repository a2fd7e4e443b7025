// From documents to an answer with sources, over the wire: ten files are imported, a support copilot answers from them, the
// server is killed, a person is forgotten, and nothing of that person is left in a prompt, an answer or a file.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startOpenAi } from '../support/models/openai.ts';
import type { Seen } from '../support/models/seen.ts';
import { foundInFiles } from '../support/scan-files.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { HANDBOOK_PAGES, handbookDocx, pdfOf, peopleXlsx, slidesPptx } from './corpus.ts';

const MAIL = [
  'From: bea@example.com',
  'To: desk@example.com',
  'Subject: Kettles',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'The new kettles have arrived in the store.',
  '',
].join('\r\n');
/** Words that only the files of one person have. */
const SECRETS = ['zqkestrelford', 'zqbramblewick'] as const;
const PERSON = 'zqmarlowe';

const FILES: readonly (readonly [name: string, bytes: () => Promise<Uint8Array> | string, user?: string])[] = [
  ['handbook.pdf', () => pdfOf(HANDBOOK_PAGES)],
  ['handbook.docx', handbookDocx],
  ['results.pptx', slidesPptx],
  ['people.xlsx', peopleXlsx],
  ['returns.md', () => '# Returns\n\n## Kettles\n\nA kettle that leaks is replaced within two years.\n'],
  ['shipping.html', () => '<html><body><h1>Shipping</h1><p>Parcels leave on Tuesdays.</p></body></html>'],
  ['prices.csv', () => 'article,price\nteapot,30\nkettle,45\n'],
  ['arrivals.eml', () => MAIL],
  [
    'contract.pdf',
    () =>
      pdfOf([['# Contract', `The kettle goes to ${SECRETS[0]} every spring,`, 'and it comes back before the autumn.']]),
    PERSON,
  ],
  ['notes.txt', () => `The kettle of this customer is called ${SECRETS[1]}.\n`, PERSON],
];

async function done(server: ServerProcess, verb: string, path: string, json?: object) {
  const { status, body } = await ask(server, verb, path, json);
  assert.ok(status < 300, `${verb} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

async function imported(server: ServerProcess): Promise<void> {
  for (const [name, bytes, user] of FILES) {
    const form = new FormData();
    const content = await bytes();
    form.append('file', new Blob([typeof content === 'string' ? content : Uint8Array.from(content)]), name);
    const query = user === undefined ? '' : `?user_id=${user}`;
    const answer = await fetch(`${server.http}/api/memories/default/import-document${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}` },
      body: form,
    });
    assert.ok(answer.ok, `${name}: ${answer.status} ${await answer.clone().text()}`);
    const { grains_created: created, errors } = (await answer.json()) as Record<string, unknown>;
    assert.ok(Number(created) > 0, name);
    assert.deepEqual(errors, [], name);
  }
}

/** All that a model was sent. */
const sent = ({ body }: Seen): string => JSON.stringify(body);
const systemOf = ({ body }: Seen): string => body.messages[0].content;

/** Questions, words of the chunk that answers them, and its source as the prompt names it. */
const ANSWERS = [
  ['Who approves flights?', 'proval of two people', 'handbook.pdf, page 2, Travel'],
  ['What happens to a kettle that leaks?', 'replaced within two years', 'returns.md, Returns &gt; Kettles'],
  ['By how much grew the revenue?', 'twelve percent', 'results.pptx, slide 1, Quarterly results'],
  [
    'Until when does one call in for sick leave?',
    'Call before nine',
    'handbook.docx, Handbook &gt; Leave &gt; Sick leave',
  ],
  ['What does a teapot cost?', 'price: 30', 'prices.csv'],
] as const;

/** A model that answers with the line of its prompt that has the words, and with the source of that line. */
function quoting({ body }: Seen) {
  const [, words] = ANSWERS.find(([question]) => question === body.messages.at(-1).content) ?? [];
  const lines: string[] = body.messages[0].content.split('\n');
  const line = lines.find((one) => one.includes('source="') && one.includes(words ?? 'kettle'));
  const [, source, text] = /source="([^"]*)"[^>]*>([^<]*)/.exec(line ?? '') ?? [];
  return { text: line === undefined ? 'I do not know.' : `${text} [${source}]`, usage: { input: 10, output: 5 } };
}

test('a copilot answers from ten documents with sources, and forgets a person', async (t: TestContext) => {
  const directory = join(temporaryDirectory(t), 'data');
  const models = await startOpenAi(quoting, { owner: t });
  const start = () =>
    startServerProcess({ directory, flags: ['--shards', '2', '--workers', '1', '--log-level', 'debug'] });
  let server = await start();
  t.after(() => server.kill());
  await done(server, 'PUT', '/settings/providers/own', { kind: 'openai_compatible', base_url: models.url });
  await done(server, 'PUT', '/settings/model-assignments', {
    assignments: { chat: { provider: 'own', model: 'scripted' } },
  });
  const H = '/memories/default/harnesses/support-copilot';
  await imported(server);
  const provisioned = await done(server, 'POST', `${H}/provision`, { template: 'support-copilot' });
  assert.equal(provisioned.status, 'provisioned');
  const asked = async (conversation: string, text: string, user?: string) => {
    const reply = await done(server, 'POST', `${H}/chat`, {
      conversation_id: conversation,
      user_message: text,
      ...(user === undefined ? {} : { user_id: user }),
    });
    return { reply, prompt: models.chats.at(-1)! };
  };

  for (const [question, words, source] of ANSWERS) {
    const { prompt, reply } = await asked(question.replaceAll(/\W/g, ''), question);
    const line = systemOf(prompt)
      .split('\n')
      .find((one) => one.includes(`source="${source}`));
    assert.ok(line?.includes(words), `${question}\n${systemOf(prompt)}`);
    assert.ok(reply.text.includes(words) && reply.text.endsWith(`[${source}]`), reply.text);
    const { results } = await done(server, 'GET', `/memories/default/provenance/${reply.recall_id}`);
    const shown = await Promise.all(
      results.map(({ hash }: { hash: string }) => done(server, 'GET', `/memories/default/grains/${hash}`)),
    );
    const named = shown.filter(({ fields }) => String(fields.content).includes(words));
    assert.ok(
      named.some(({ fields }) => source.startsWith(fields.context?.document?.file_name)),
      `the record of "${question}" names its source`,
    );
  }

  await server.kill();
  server = await start();
  const before = await asked('mine', 'Who gets the kettle in spring?', PERSON);
  for (const secret of SECRETS) assert.ok(systemOf(before.prompt).includes(secret), systemOf(before.prompt));
  assert.match(systemOf(before.prompt), /source="contract\.pdf, page 1, Contract"/);
  const other = await asked('other', 'Who gets the kettle in spring?', 'bob');
  for (const secret of SECRETS) assert.ok(!sent(other.prompt).includes(secret), 'a turn of another person');

  /** The secrets that a recall answers with. */
  const found = async (): Promise<readonly string[]> => {
    const query = SECRETS.join(' ');
    const { results } = await done(server, 'POST', '/memories/default/recall', { query });
    return SECRETS.filter((secret) => JSON.stringify(results).includes(secret));
  };
  assert.deepEqual(await found(), SECRETS);
  await done(server, 'POST', '/memories/default/forget', { user_id: PERSON });
  await server.kill();
  server = await start();
  for (const user of ['eve', 'bob', undefined]) {
    const { reply, prompt } = await asked(`after ${user}`, 'Who gets the kettle in spring?', user);
    for (const secret of SECRETS) assert.ok(!`${sent(prompt)}${JSON.stringify(reply)}`.includes(secret), secret);
    assert.match(systemOf(prompt), /kettle that leaks/, 'what is nobody’s is still there');
  }
  assert.deepEqual(await found(), []);
  await done(server, 'POST', '/memories/default/app/exec', { command: 'compact', args: {} });
  const needles = new Map([...SECRETS, PERSON].map((word) => [word, Buffer.from(word)]));
  assert.deepEqual(foundInFiles(directory, needles), []);
  assert.equal(await server.stop(), 0);
  assert.deepEqual(foundInFiles(directory, needles), []);
  for (const word of needles.keys()) assert.ok(!server.output().includes(word), 'the log');
});
