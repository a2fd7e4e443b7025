// Type tests of the client: `npm run types` fails for an error that is not expected, and for one that is and does not come.
// Nothing runs this file.
import { Granary, type Input, type MemoryEvent } from '../../src/client/index.ts';

const granary = new Granary({ url: 'http://127.0.0.1:8080' });
const all = granary.memory('default');
const ada = granary.memory('default', { user: 'ada' });
const home = granary.memory('default', { namespace: 'home' });

export async function types(): Promise<void> {
  const { results, topicCoverage } = await all.recall('x', { limit: 5, userId: 'ada', timeStart: new Date() });
  const hit = results[0];
  const texts: readonly (string | undefined)[] = [hit?.text, hit?.userId, topicCoverage ?? undefined];
  const at: Date | undefined = hit?.createdAt;
  const type: 'belief' | undefined = hit?.grainType === 'belief' ? hit.grainType : undefined;
  void [texts, at, type];

  // @ts-expect-error times are dates
  await all.recall('x', { timeStart: 1_700_000_000 });
  // @ts-expect-error no such member
  await all.recall('x', { limt: 5 });
  // @ts-expect-error a member has one type
  await all.recall('x', { limit: '5' });
  // @ts-expect-error the query is the first argument
  await all.recall('x', { query: 'y' });

  // @ts-expect-error the user is that of the scope
  await ada.recall('x', { userId: 'bob' });
  await ada.recall('x', { namespace: 'home' });
  // @ts-expect-error the namespace is that of the scope
  await home.recall('x', { namespace: 'work' });
  await home.recall('x', { userId: 'bob' });
  // @ts-expect-error the user is that of the scope
  await ada.operations.search({ query: 'x', userId: 'bob' });
  // @ts-expect-error the user is that of the scope
  await ada.remember('x', { userId: 'bob' });
  // @ts-expect-error the user is that of the scope
  ada.list({ userId: 'bob' });
  // @ts-expect-error a scope does not change
  ada.scope.user = 'bob';

  await all.add({ type: 'belief', subject: 'a', relation: 'b', object: 'c', valid_from: new Date(), extra: [1] });
  // @ts-expect-error no such type
  await all.add({ type: 'beleif', subject: 'a' });
  // @ts-expect-error a grain has a type
  await all.add({ subject: 'a' });
  // @ts-expect-error a turn has a role
  await all.addTurns([{ content: 'x' }]);
  await all.addTurns([{ role: 'user', content: 'x', time: new Date() }], { sessionId: 's' });

  await all.forgetUser('ada', { confirm: 'ada' });
  // @ts-expect-error it needs a confirmation
  await all.forgetUser('ada');
  // @ts-expect-error it needs a confirmation
  await granary.deleteMemory('default');
  // @ts-expect-error a person is erased by forgetUser
  await all.forget({ userId: 'ada' });
  // @ts-expect-error erasing is no plain operation
  await all.operations.forgetUser({ userId: 'ada' });
  // @ts-expect-error erasing is no plain operation
  await all.operations.deleteMemory({});
  // @ts-expect-error a command can be any operation
  await all.operations.exec({ command: 'forget_user' });

  await all.operations.stats();
  await all.operations.sessionState({ sid: 's' });
  // @ts-expect-error the session is needed
  await all.operations.sessionState({});
  // @ts-expect-error the input is needed
  await all.operations.sessionState();
  // @ts-expect-error an operation of the deployment
  await all.operations.listKeys();
  const bytes: Uint8Array = await all.operations.exportFile();
  for await (const { event, data } of all.operations.chatStream({ messages: [{ role: 'user', content: 'x' }] }))
    void [event, data];
  for await (const { id } of granary.each('listMemories')) id.toUpperCase();
  // @ts-expect-error no list
  granary.each('config');
  // @ts-expect-error pages are turned by the iterator
  all.list({ cursor: 'x' });
  for await (const step of all.events({ since: '0' })) {
    if (step.kind === 'gap') step.reason.toUpperCase();
    else void (step.event satisfies MemoryEvent).eventType.toUpperCase();
  }
  const input: Input<'recall'> = { query: 'x' };
  void [bytes, input];
}
