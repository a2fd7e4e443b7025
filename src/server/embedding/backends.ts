// The values of `vector_backend`, which `--embedder` has too.
import { ONNX_NAME_START } from '../../embed/onnx/name.ts';

/** Values of `vector_backend` beside those that name a model. An empty value is the deployment's default. */
export const VECTOR_BACKENDS = ['use-lite-int8', 'use-lite', 'remote', 'ngram', 'none'] as const;
/** The encoder of the package, in bytes. */
export const DEFAULT_BACKEND = 'use-lite-int8';
/** Words that stood for a backend before: memories and start options may still have them. They mean the same. */
export const EARLIER_WORDS: Readonly<Record<string, (typeof VECTOR_BACKENDS)[number]>> = {
  builtin: 'use-lite',
  'builtin-int8': 'use-lite-int8',
};
/** `onnx:NAME`: the model of the operator in the folder of that name. */
export type ModelBackend = `onnx:${string}`;
export type VectorBackend = (typeof VECTOR_BACKENDS)[number] | ModelBackend;

export function modelBackend(model: string): ModelBackend {
  return `${ONNX_NAME_START}${model}`;
}

export function isModelBackend(backend: string): backend is ModelBackend {
  return backend.startsWith(ONNX_NAME_START);
}

/** The model that a backend names; undefined for a backend that is none of the operator's models. */
export function modelOfBackend(backend: string): string | undefined {
  return isModelBackend(backend) ? backend.slice(ONNX_NAME_START.length) : undefined;
}

/** The backend that a word stands for; undefined for one that names a model, or nothing. */
export function plainBackend(word: string): (typeof VECTOR_BACKENDS)[number] | undefined {
  const earlier = Object.hasOwn(EARLIER_WORDS, word) ? EARLIER_WORDS[word] : undefined;
  return earlier ?? VECTOR_BACKENDS.find((name) => name === word);
}
