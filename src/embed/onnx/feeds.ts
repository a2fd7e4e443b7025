// The inputs of a graph for one text or pair of texts.
import type { InferenceSession, Tensor } from 'onnxruntime-web';
import type { Session } from '../builtin/runtime.ts';
import type { Tokens } from './text-tokens.ts';

/** Inputs that a graph may have, and their values. */
const INPUTS: Readonly<Record<string, (tokens: Tokens) => readonly number[]>> = {
  input_ids: ({ ids }) => ids,
  attention_mask: ({ ids }) => ids.map(() => 1),
  token_type_ids: ({ types }) => types,
  position_ids: ({ ids }) => ids.map((_, at) => at),
};

/** Why the graph cannot be fed; undefined if it can. */
export function unknownInputs({ inputNames }: InferenceSession): string | undefined {
  const unknown = inputNames.filter((name) => INPUTS[name] === undefined);
  if (unknown.length === 0) return undefined;
  return `it needs the inputs ${unknown.join(', ')}; this server provides ${Object.keys(INPUTS).join(', ')}`;
}

/** The graph's inputs have been checked (`unknownInputs`). */
export function feedsOf({ session, tensor }: Session, tokens: Tokens): Record<string, Tensor> {
  const feeds: Record<string, Tensor> = {};
  for (const [at, name] of session.inputNames.entries()) {
    const { type } = session.inputMetadata[at] as InferenceSession.TensorValueMetadata; // inputs of texts are tensors
    feeds[name] = tensor(type === 'int32' ? 'int32' : 'int64', INPUTS[name]!(tokens), [1, tokens.ids.length]);
  }
  return feeds;
}
