// Checks LET: the parameters that each binding uses, and the kind of value that it binds.
import type { LetBinding, ParameterValue, Query } from '../ast.ts';
import { CalError } from '../errors.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { checkExtracting, checkRecall } from './recall.ts';
import type { Scope } from './scope.ts';
import { expectGrains } from './stages.ts';

/** Checks the bindings in order and binds them in `scope`. Throws E009, E036, E037, E038 and the errors of a recall. */
export function checkLets({ lets, statement }: Query, scope: Scope): void {
  if (lets.length > CAL_LIMITS.letsMax)
    throw new CalError('CAL-E036', `the query has ${lets.length} bindings; the limit is ${CAL_LIMITS.letsMax}`, {
      at: lets[CAL_LIMITS.letsMax]?.at,
    });
  const main = statement.kind === 'explain' ? statement.statement : statement;
  const uses = new Map(lets.map((binding) => [binding.name, parametersOf(binding.recall)]));
  const chain = new Map<string, number>();
  for (const binding of lets) {
    const { name, at } = binding;
    if (scope.isBound(name)) throw new CalError('CAL-E009', `$${name} is bound twice`, { at });
    checkOrder(binding, uses);
    const earlier = uses.get(name)!.filter((used) => chain.has(used.name));
    const depth = 1 + Math.max(0, ...earlier.map((used) => chain.get(used.name)!));
    if (earlier.length > 0 && main.kind !== 'assemble')
      throw new CalError(
        'CAL-E038',
        `$${name} uses $${earlier[0]!.name}, and only in front of ASSEMBLE may a LET use another`,
        {
          at: earlier[0]!.at ?? at,
        },
      );
    if (depth > CAL_LIMITS.letChainMax)
      throw new CalError('CAL-E038', `$${name} depends on more than ${CAL_LIMITS.letChainMax - 1} bindings in a row`, {
        at,
      });
    chain.set(name, depth);
    checkBinding(binding, scope);
  }
}

function checkBinding({ name, recall, extract, at }: LetBinding, scope: Scope): void {
  if (extract !== undefined) checkExtracting(recall, extract, scope, 0);
  else expectGrains(checkRecall(recall, scope), 'LET binds grains or what is taken out of them', at);
  scope.bind(name, extract ?? 'grains');
}

/** Throws E037 if the binding depends on itself, directly or not. The check of a recall refuses other later bindings (E008). */
function checkOrder({ name, at }: LetBinding, uses: ReadonlyMap<string, readonly ParameterValue[]>): void {
  const reached = new Set<string>();
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const used of uses.get(next) ?? []) {
      if (used.name === name) throw new CalError('CAL-E037', `$${name} depends on itself`, { at: used.at ?? at });
      if (reached.has(used.name)) continue;
      reached.add(used.name);
      open.push(used.name);
    }
  }
}

/** All parameters below a node, in tree order. */
function parametersOf(node: unknown): readonly ParameterValue[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('kind' in node && node.kind === 'parameter') return [node as ParameterValue]; // Only parameters have this kind.
  return Object.values(node).flatMap(parametersOf);
}
