// Shows whether the name recognition model, which complements the rules for personal data, is usable.
import { EngineError } from '../../../engine/base/errors.ts';
import { defineOperation } from '../define.ts';
import { seconds } from '../seconds.ts';
import { Type } from '../type.ts';

const Status = Type.Object({
  available: Type.Boolean({ description: 'Whether the model can be used.' }),
  model: Type.String({ description: 'Name of the model.' }),
  backend: Type.String({
    description: 'Where the model runs: in-process is a thread of the server, without a network.',
  }),
  categories: Type.Array(Type.String(), {
    description: 'Categories that the model finds; rules and lists find every other one.',
  }),
  loadedAt: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Time at which the model was loaded, in Unix seconds; null where it is not loaded.',
  }),
  reason: Type.Optional(Type.String({ description: 'Why the model is not available.' })),
});

/** Loads the model, because only that proves that it works. */
export const nerStatus = defineOperation({
  name: 'ner_status',
  summary: 'Show whether the model that finds names of persons is available.',
  description: 'The model is loaded to answer this.',
  example: {},
  needs: 'read',
  on: 'deployment',
  reach: 'nothing',
  mutates: false,
  slow: true,
  input: Type.Object({}),
  output: Status,
  http: [{ verb: 'GET', path: '/settings/ner/status' }],
  async run(_, { services }) {
    const model = { model: 'compromise', backend: 'in-process', categories: ['person_name'] };
    try {
      const { namesLoadedMs } = await services.readText({ text: '', wants: 'names', nowMs: services.clock.nowMs() });
      return { available: true, ...model, loadedAt: namesLoadedMs === undefined ? null : seconds(namesLoadedMs) };
    } catch (error) {
      // A full queue (LIM-E001) says nothing about the model.
      if (!(error instanceof EngineError) || error.code === 'LIM-E001') throw error;
      return { available: false, ...model, loadedAt: null, reason: error.message };
    }
  },
});
