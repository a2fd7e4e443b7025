// Adds grains one per call at a steady rate from a separate process, during a measurement.
import type { LoadClient, LoadJob } from './load.ts';
import type { Target } from './server.ts';

const ADD_CONNECTIONS = 4;
/** Bodies are prepared for this long; a round of questions must take less. */
const ADD_SECONDS_MAX = 60;

/** Adds at a rate during `work`; returns the acknowledged adds per second. */
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
  const started = Promise.withResolvers<void>();
  const running = adder.run(server, job, started.resolve);
  await Promise.race([started.promise, running]);
  await work();
  if (!adder.end()) throw new Error(`the measured work during adds took more than ${ADD_SECONDS_MAX} s`);
  return (await running).callsPerSecond;
}
