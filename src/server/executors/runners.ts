// How tools outside of the server run.
import type { Executors } from './executor-file.ts';
import type { HostExecutors } from './host.ts';
import type { HttpTools } from './http.ts';

export interface ToolRunners {
  readonly executors: Executors;
  readonly hosts: Pick<HostExecutors, 'run'>;
  readonly http: Pick<HttpTools, 'call'>;
}
