// Grains that are added one a call at a steady rate, by a process of its own, beside what is measured.
import type { LoadClient, LoadJob } from './load.ts';
import type { Target } from './server.ts';

const ADD_CONNECTIONS = 4;
/** Bodies are made for so long; a round of questions has to take less. */
const ADD_SECONDS_MAX = 60;

/** Adds at a rate for as long as `work` takes; adds a second that were really acknowledged. */
export async function whileAdding(
  { server, adder }: { readonly server: Target; readonly adder: LoadClient },
  { perSecond, ...which }: { readonly perSecond: number } & Pick<LoadJob, 'seed' | 'memories' | 'english'>,
  work: () => Promise<void>,
): Promise<number> {
  const job: LoadJob = {
    ...{
      protocol: 'grpc',
      connections: ADD_CONNECTIONS,
      inFlight: 0,
      calls: perSecond * ADD_SECONDS_MAX,
      perSecond,
      what: 'add',
    },
    ...which,
  };
  const begun = Promise.withResolvers<void>();
  const running = adder.run(server, job, begun.resolve);
  await Promise.race([begun.promise, running]);
  await work();
  if (!adder.end()) throw new Error(`what was to be measured beside adds took more than ${ADD_SECONDS_MAX} s`);
  return (await running).callsPerSecond;
}
