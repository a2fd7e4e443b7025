// A request with what may leave of its texts.
import {
  allLeaving,
  type Destination,
  type HasGrants,
  type Leaving,
  leavingTo,
  valueLeaving,
  whole,
} from './egress.ts';
import type { ModelMessage, ModelRequest, ModelTool } from './request.ts';

/** Rejects with POL-E005, POL-E007. */
export async function sentOf(
  request: ModelRequest,
  destination: Destination,
  hasGrants: HasGrants,
): Promise<ModelRequest> {
  const { persons } = request;
  const leaving = await leavingTo(request.memory, destination, { persons, hasGrants });
  if (leaving === whole) return request;
  const { system, messages, tools } = request;
  const texts = await allLeaving([system ?? '', ...messages.map(({ text = '' }) => text)], leaving);
  return {
    ...request,
    system: system === undefined ? undefined : texts[0],
    messages: messages.map((message, at) => messageLeaving(message, texts[at + 1] ?? '', leaving)),
    tools: tools?.map((tool) => toolLeaving(tool, leaving)),
  };
}

function messageLeaving(message: ModelMessage, text: string, leaving: Leaving): ModelMessage {
  if (message.role !== 'assistant') return { ...message, text };
  const toolCalls = message.toolCalls?.map((call) => ({
    ...call,
    arguments: valueLeaving(call.arguments, leaving) as Record<string, unknown>, // an object stays one
  }));
  return { ...message, text: message.text === undefined ? undefined : text, toolCalls };
}

/** The names of a schema's members stay: the model's arguments must fit them. */
function toolLeaving(tool: ModelTool, leaving: Leaving): ModelTool {
  return {
    ...tool,
    description: leaving(tool.description),
    inputSchema: schemaLeaving(tool.inputSchema, leaving) as ModelTool['inputSchema'], // an object stays one
  };
}

function schemaLeaving(value: unknown, leaving: Leaving): unknown {
  if (Array.isArray(value)) return value.map((item) => schemaLeaving(item, leaving));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'description' && typeof member === 'string' ? leaving(member) : schemaLeaving(member, leaving),
    ]),
  );
}
