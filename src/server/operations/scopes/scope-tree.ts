// The scopes of a memory: shown, replaced as a whole, taken away. What lies in them stays.
import { EngineError } from '../../../engine/base/errors.ts';
import { checkScopeTree, type ScopeNode } from '../../../engine/govern/scope-tree.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

const Children = Type.Unsafe<readonly ScopeNode[]>({ type: 'array' });
const Tree = Type.Object({
  name: Type.String(),
  children: Type.Optional(Children),
  updatedAt: Type.Integer(),
});

function shown({ root, updatedAtMs }: { readonly root: ScopeNode; readonly updatedAtMs: number }) {
  return { ...root, updatedAt: Math.floor(updatedAtMs / 1000) };
}

export const scopeTree = defineOperation({
  name: 'scope_tree',
  summary: 'The tree of scopes of a memory.',
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
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ name: Type.String(), children: Type.Optional(Children) }),
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
  summary: 'Take the tree of scopes of a memory away; the grains in them stay.',
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({}),
  output: Type.Object({ deleted: Type.Literal(true) }),
  http: [{ verb: 'DELETE', path: 'M/scope-tree' }],
  async run(_, context) {
    const { services, memory, principal, requestId } = context;
    return context.once(async () => {
      await services.memories.dropScopes(memory, { actor: principal.actor, requestId });
      return { deleted: true as const };
    });
  },
});
