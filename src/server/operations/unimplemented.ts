// Every operation of the contract that this build does not implement. Each authorises the caller, then answers
// SYS-E002. Remove the line of an operation when you implement it; never add one.
import { EngineError } from '../../engine/base/errors.ts';
import type { Scope } from '../auth/principal.ts';
import { defineOperation, type Operation } from './define.ts';
import { NO_MEMBERS, type Verb } from './http-face.ts';
import { Type } from './type.ts';

/** Methods of memory.v1.MemoryService. */
export const UNIMPLEMENTED_RPCS: Readonly<Record<string, Scope>> = {};

/** Number in the contract, verb, path (`M` is a memory) and scope (R, W, A). */
const ROUTES = `
101 POST M/imports W
102 GET M/imports R
103 GET M/imports/{job_id} R
104 GET M/imports/{job_id}/stream R
105 POST M/imports/{job_id}/cancel W
`;

/** Commands of app/exec. */
export const UNIMPLEMENTED_COMMANDS: Readonly<Record<string, Scope>> = {};

export interface UnimplementedRoute {
  readonly number: number;
  readonly verb: Verb;
  readonly path: string;
  readonly scope: Scope;
}

const SCOPE_LETTERS: Readonly<Record<string, Scope>> = { R: 'read', W: 'write', A: 'admin' };

export const UNIMPLEMENTED_ROUTES: readonly UnimplementedRoute[] = ROUTES.trim()
  .split('\n')
  .map((line) => {
    const [number, verb, path, letter] = line.split(' ');
    return {
      number: Number(number),
      verb: verb as Verb, // of the list above
      path: path ?? '',
      scope: SCOPE_LETTERS[letter ?? ''] ?? 'admin',
    };
  });

/** A row that authorises the caller and answers SYS-E002. */
function unimplementedRow(name: string, needs: Scope, on: 'memory' | 'deployment', face: object): Operation {
  return defineOperation({
    name,
    summary: 'Not in this build.',
    description: 'The contract has it; this build answers SYS-E002.',
    example: {},
    needs,
    on,
    reach: 'nothing',
    mutates: false,
    input: Type.Object({}),
    output: Type.Object({}),
    ...face,
    run: () => Promise.reject(new EngineError('SYS-E002', `${name} is not in this build`)),
  });
}

export const UNIMPLEMENTED_ROUTE_ROWS: readonly Operation[] = UNIMPLEMENTED_ROUTES.map(({ verb, path, scope }) =>
  unimplementedRow(`${verb} ${path}`, scope, path.startsWith('M') ? 'memory' : 'deployment', {
    // The request's body is ignored.
    http: [{ verb, path, body: 'none', read: () => ({}), bodySchema: NO_MEMBERS }],
  }),
);

/** Rows by method name; gRPC answers them without decoding the message. */
export const UNIMPLEMENTED_RPC_ROWS: ReadonlyMap<string, Operation> = new Map(
  Object.entries(UNIMPLEMENTED_RPCS).map(([rpc, scope]) => [rpc, unimplementedRow(rpc, scope, 'memory', {})]),
);
