import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OUTGOING_HEADER_BYTES_MAX } from '../../engine/base/limits.ts';
import type { AddressRule, Resolve } from './addresses.ts';
import { failureCodeOf, GuardedAgent, refusalOf } from './guarded-agent.ts';

const NOTHING_PRIVATE = { privateToo: false, loopbackToo: false };
const LOOPBACK_TOO = { privateToo: false, loopbackToo: true };
/** Every name leads to this machine. */
const TO_LOOPBACK: Resolve = (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);

/** A listener on loopback that answers as `listener` does; returns its port. */
async function listening(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port; // it listens on a port
}

function agentOf(t: TestContext, ruleOf: (host: string) => AddressRule, resolve?: Resolve): GuardedAgent {
  const agent = new GuardedAgent({ ruleOf, resolve, connections: 1, connectMs: 10_000 });
  t.after(() => agent.close());
  return agent;
}

/** The status of the answer to a GET, or the error. */
async function asked(agent: GuardedAgent, url: string): Promise<number | Error> {
  try {
    const { statusCode, body } = await agent.request(new URL(url), { method: 'GET', headers: { 'x-more': 'yes' } });
    await body.dump();
    return statusCode;
  } catch (error) {
    return error as Error; // what a request rejects with
  }
}

test('an address in the URL and the addresses of a name are checked alike, each by the rule of its host', async (t) => {
  const reached: (string | undefined)[] = [];
  const port = await listening(t, (request, response) => {
    reached.push(request.headers.host);
    assert.match(String(request.headers['user-agent']), /^Granary\//);
    assert.equal(request.headers['x-more'], 'yes');
    response.end();
  });
  const hosts: string[] = [];
  const rules = (host: string): AddressRule => {
    hosts.push(host);
    return host === 'refused.example' || host === '::1' ? { ...NOTHING_PRIVATE, what: 'tests' } : LOOPBACK_TOO;
  };
  const agent = agentOf(t, rules, TO_LOOPBACK);
  for (const [host, name] of [
    ['refused.example', 'refused.example'],
    ['[::1]', '[::1]'],
  ] as const) {
    const error = await asked(agent, `http://${host}:${port}/`);
    assert.equal(refusalOf(error)?.message, `${name} has an address that tests may not reach`);
    await assert.rejects(agent.check(new URL(`http://${host}:${port}/`)), { message: refusalOf(error)?.message });
  }
  assert.deepEqual(reached, [], 'nothing was sent');
  assert.equal(await asked(agent, `http://allowed.example:${port}/`), 200);
  assert.equal(await asked(agent, `http://127.0.0.1:${port}/`), 200);
  await agent.check(new URL(`http://allowed.example:${port}/`));
  assert.deepEqual(reached, [`allowed.example:${port}`, `127.0.0.1:${port}`]);
  assert.deepEqual([...new Set(hosts)], ['refused.example', '::1', 'allowed.example', '127.0.0.1'], 'without brackets');
});

test('a redirect is an answer, and headers beyond the limit are a failure', async (t) => {
  let asks = 0;
  const port = await listening(t, (request, response) => {
    asks += 1;
    if (request.url === '/away') response.writeHead(302, { location: '/' }).end();
    else response.writeHead(200, { 'x-long': 'x'.repeat(OUTGOING_HEADER_BYTES_MAX) }).end();
  });
  const agent = agentOf(t, () => LOOPBACK_TOO);
  assert.equal(await asked(agent, `http://127.0.0.1:${port}/away`), 302);
  const error = await asked(agent, `http://127.0.0.1:${port}/`);
  assert.equal(failureCodeOf(error), 'UND_ERR_HEADERS_OVERFLOW');
  assert.equal(asks, 2);
});

test('a failure has a code where its error or the cause of it has one, and a refusal is found in both places', async (t) => {
  const agent = agentOf(t, () => LOOPBACK_TOO);
  assert.equal(failureCodeOf(await asked(agent, 'http://127.0.0.1:1/')), 'ECONNREFUSED');
  const wrapped = (code: unknown): Error => new TypeError('failed', { cause: { code } });
  assert.equal(failureCodeOf(wrapped('ENOTFOUND')), 'ENOTFOUND');
  for (const code of [undefined, 7, '', 'connect 10.0.0.1:80', 'X'.repeat(41)])
    assert.equal(failureCodeOf(wrapped(code)), undefined, String(code));
  for (const error of [undefined, null, 'no', new Error('no')]) {
    assert.equal(failureCodeOf(error), undefined);
    assert.equal(refusalOf(error), undefined);
  }
});

test('an agent that closes aborts what is under way', async (t) => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const port = await listening(t, () => resolve());
  const agent = agentOf(t, () => LOOPBACK_TOO);
  const asking = asked(agent, `http://127.0.0.1:${port}/`);
  await arrived;
  await agent.close();
  assert.equal(failureCodeOf(await asking), 'UND_ERR_DESTROYED');
});
