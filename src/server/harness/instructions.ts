// The instructions of a definition that the model gets first: its prompt, its goal and the steps of its workflow.
import type { JsonObject, JsonValue } from '../../shards/protocol.ts';
import type { HarnessDefinition } from './definition.ts';

export function instructionsOf({
  systemPrompt,
  goal,
  workflow,
}: Pick<HarnessDefinition, 'systemPrompt' | 'goal' | 'workflow'>): string {
  const parts = [
    systemPrompt,
    goal === undefined ? '' : `Your goal: ${goal}`,
    workflow === undefined ? '' : workflowText(workflow.fields),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function workflowText({ trigger, nodes, edges }: JsonObject): string {
  const steps = textsOf(nodes).map((node, at) => `${at + 1}. ${node}`);
  if (steps.length === 0) return '';
  const when = typeof trigger === 'string' && trigger !== '' ? ` (when: ${trigger})` : '';
  const ways = Array.isArray(edges) ? edges.flatMap(wayOf) : [];
  return [`Your workflow${when}:`, ...steps, ...ways].join('\n');
}

/** A conditional edge; the others follow from the order of the steps. */
function wayOf(edge: JsonValue): readonly string[] {
  if (typeof edge !== 'object' || edge === null || Array.isArray(edge)) return [];
  const { src, dst, cond } = edge;
  return typeof cond === 'string' && cond !== '' ? [`From "${String(src)}" to "${String(dst)}" if: ${cond}`] : [];
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
