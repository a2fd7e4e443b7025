// A model of English names. It takes a third of a second to load, so it is loaded once, when somebody needs it.
import type { NameModel } from './rules/names.ts';

let model: Promise<NameModel> | undefined;

/** The model; the same one at every call. It believes a run of capitalised words that it takes for a person as a whole. */
export function loadNameModel(): Promise<NameModel> {
  model ??= import('compromise').then(
    ({ default: nlp }) =>
      (run) =>
        nlp(run).people().out('text').trim() === run,
  );
  return model;
}
