// node:http and node:https for the code that runs. An import statement reads every member of the module, and one of them
// loads Node's own fetch client: 45 ms of CPU for each process. These two read nothing.
import type * as Http from 'node:http';
import type * as Https from 'node:https';

export const http: typeof Http = process.getBuiltinModule('node:http');

/** It loads TLS: 20 ms. */
export function https(): typeof Https {
  return process.getBuiltinModule('node:https');
}
