// A model of English names. It takes a third of a second to load, so it is loaded once, on demand.
import type { NameModel } from './rules/names.ts';

let model: Promise<NameModel> | undefined;

/**
 * The model; every call returns the same one. It accepts a run of capitalised words only if it takes the whole run for
 * a person.
 */
export function loadNameModel(): Promise<NameModel> {
  model ??= import('compromise').then(
    ({ default: nlp }) =>
      (run) =>
        nlp(run).people().out('text').trim() === run,
  );
  return model;
}
