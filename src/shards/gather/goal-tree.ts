// The goals of a session over several partitions. A goal and its parent may be in different ones.
import { GOAL_TREE_READ_MAX } from '../../engine/base/limits.ts';
import type { Input, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { sumOf } from './merge.ts';

export async function gatherGoalTree(fan: Fan, input: Input<'goalTree'>): Promise<Output<'goalTree'>> {
  const found = await fan.all('goalTree', input);
  const nodes = found.flatMap((part) => part.nodes);
  const here = new Set(nodes.map(({ hash }) => hash));
  const elsewhere = [...new Set(nodes.flatMap(({ parents }) => parents.filter((hash) => !here.has(hash))))];
  const asked = elsewhere.slice(0, GOAL_TREE_READ_MAX);
  const answers = asked.length === 0 ? [] : await fan.all('goalTree', { ...input, named: asked });
  const tips = new Map<string, string>();
  for (const { named } of answers) for (const [at, tip] of named.entries()) if (tip !== null) tips.set(asked[at]!, tip);
  return {
    nodes: nodes.map((node) => ({ ...node, parents: node.parents.map((hash) => tips.get(hash) ?? hash) })),
    total: sumOf(found, 'total'),
    named: (input.named ?? []).map((_, at) => found.map(({ named }) => named[at]).find((tip) => tip != null) ?? null),
  };
}
