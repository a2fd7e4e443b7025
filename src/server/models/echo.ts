// The model of kind `mock`: it answers with the last message of the user, word by word. It needs no network, so tests and
// trials of a client can use it.
import type { ModelMessage, ModelPart } from './request.ts';

export function* echo(messages: readonly ModelMessage[]): Generator<ModelPart> {
  const text = echoText(messages);
  for (const [delta] of text.matchAll(/\s*\S+\s*$|\s*\S+/g)) yield { type: 'text', delta };
  const words = (of: string): number => of.match(/\S+/g)?.length ?? 0;
  const asked = messages.reduce((sum, { text = '' }) => sum + words(text), 0);
  yield { type: 'finish', reason: 'stop', usage: { input_tokens: asked, output_tokens: words(text) } };
}

export function echoText(messages: readonly ModelMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}
