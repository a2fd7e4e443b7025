// A memory's scope tree: show, replace or remove it. Grains in the scopes stay.
import { EngineError } from '../../../engine/base/errors.ts';
import { checkScopeTree, type ScopeNode } from '../../../engine/govern/scope-tree.ts';
import { defineOperation } from '../define.ts';
import { described, Type } from '../type.ts';

const Children = Type.Unsafe<readonly ScopeNode[]>({ type: 'array' });
const Tree = Type.Object({
  name: Type.String({ description: 'Name of the root.' }),
  children: Type.Optional(described(Children, 'Scopes below the root, each with its name and its own children.')),
  updatedAt: Type.Integer({ description: 'Time of the last change in Unix seconds.' }),
});

function shown({ root, updatedAtMs }: { readonly root: ScopeNode; readonly updatedAtMs: number }) {
  return { ...root, updatedAt: Math.floor(updatedAtMs / 1000) };
}

export const scopeTree = defineOperation({
  name: 'scope_tree',
  summary: 'Show the tree of scopes of a memory.',
  description: 'A path is made of the names below the root, joined by slashes.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  input: Type.Object({}),
  output: Tree,
  errors: ['SCP-E003'],
  http: [{ verb: 'GET', path: 'M/scope-tree' }],
  async run(_, { memory }) {
    if (memory.scopes === undefined) throw new EngineError('SCP-E003', 'this memory has no scope tree');
    return shown(memory.scopes);
  },
});

export const setScopeTree = defineOperation({
  name: 'set_scope_tree',
  summary: 'Set or replace the tree of scopes of a memory.',
  description: 'From then on a grain under a known top-level name must lie in a scope of the tree.',
  example: { name: 'company', children: [{ name: 'acme', children: [{ name: 'prod' }] }] },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    name: Type.String({ description: 'Name of the root, 1 to 64 characters without a slash.' }),
    children: Type.Optional(described(Children, 'Scopes below the root, each with its name and its own children.')),
  }),
  output: Tree,
  errors: ['SCP-E002'],
  http: [{ verb: 'PUT', path: 'M/scope-tree' }],
  async run(input, context) {
    const { services, memory, principal, requestId } = context;
    const root = checkScopeTree(input);
    return context.once(async () =>
      shown(await services.memories.setScopes(memory, root, { actor: principal.actor, requestId })),
    );
  },
});

export const deleteScopeTree = defineOperation({
  name: 'delete_scope_tree',
  summary: 'Remove the tree of scopes of a memory; the grains in them stay.',
  description: 'Namespaces are then free again.',
  example: {},
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({}),
  output: Type.Object({ deleted: Type.Literal(true, { description: 'Always true.' }) }),
  http: [{ verb: 'DELETE', path: 'M/scope-tree' }],
  async run(_, context) {
    const { services, memory, principal, requestId } = context;
    return context.once(async () => {
      await services.memories.dropScopes(memory, { actor: principal.actor, requestId });
      return { deleted: true as const };
    });
  },
});
