// Reads the facts of stored texts: with the model of the role extraction, else and after its failure with the rules.
import { steadyMs } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { EXTRACT_MODEL_CHARS_MAX, EXTRACT_MODEL_TEXTS_MAX } from '../../../engine/base/limits.ts';
import type { Extraction } from '../../../engine/text/extract/extraction.ts';
import type { Context } from '../../context.ts';
import type { TextTask } from '../../jobs/read-text.ts';
import type { ModelExtractor } from '../../models/extraction/extractor.ts';
import type { Problems } from './problems.ts';
import { type Source, taskOf } from './source.ts';

export interface Facts extends Extraction {
  /** The model that read them; undefined for the rules. */
  readonly extractor?: string | undefined;
}

interface Reading {
  /** Milliseconds since 1970. */
  readonly readUntilMs: number;
  readonly problems: Problems;
}

/** Share of the time that a model gets. The rest is for the rules, should it fail. */
const MODEL_SHARE = 0.75;

/** The facts of each source, in order. Sources that cannot be read become problems. */
export async function* factsIn<S extends Source>(
  sources: readonly S[],
  context: Context,
  { readUntilMs, problems }: Reading,
): AsyncGenerator<{ readonly source: S; readonly facts: Facts }> {
  const { clock, extractionModels } = context.services;
  const nowMs = steadyMs(clock);
  const modelUntilMs = Number.isFinite(readUntilMs) ? nowMs + (readUntilMs - nowMs) * MODEL_SHARE : readUntilMs;
  let model = extractionModels.of(context.memory, modelUntilMs);
  let at = 0;
  while (at < sources.length) {
    if (steadyMs(clock) >= readUntilMs) {
      problems.note(`no time was left for ${sources.length - at} of ${sources.length} grains`);
      return;
    }
    const tasks = nextTasks(sources.slice(at, at + (model === undefined ? 1 : EXTRACT_MODEL_TEXTS_MAX)), context);
    const read = model === undefined ? await byRules(tasks, context, problems) : await byModel(tasks, model, problems);
    if (read === undefined) {
      // The rules read these texts and those after them.
      model = undefined;
      continue;
    }
    for (const facts of read) {
      const source = sources[at++];
      if (source === undefined || facts === undefined) continue;
      for (const text of facts.left) problems.addNotice(text);
      yield { source, facts };
    }
  }
}

/** The tasks of the first sources that fit into one request, one at least. */
function nextTasks(sources: readonly Source[], context: Context): TextTask[] {
  const tasks: TextTask[] = [];
  let chars = 0;
  for (const source of sources) {
    const task = taskOf(source, context, 'beliefs');
    chars += task.text.length;
    if (tasks.length > 0 && chars > EXTRACT_MODEL_CHARS_MAX) break;
    tasks.push(task);
  }
  return tasks;
}

/** Undefined when the model reads nothing. */
async function byModel(
  tasks: readonly TextTask[],
  model: ModelExtractor,
  problems: Problems,
): Promise<readonly Facts[] | undefined> {
  try {
    const found = await model.extractAll(tasks.map(({ text, wants: _, ...context }) => ({ text, context })));
    return found.map((extraction) => ({ ...extraction, extractor: model.name }));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    problems.addNotice(`rules read the text in place of the model ${model.name}: ${error.message}`);
    return undefined;
  }
}

/** The facts of each task; undefined where they could not be read. */
function byRules(
  tasks: readonly TextTask[],
  { services }: Context,
  problems: Problems,
): Promise<readonly (Facts | undefined)[]> {
  return Promise.all(
    tasks.map(async (task) => {
      let facts: Facts | undefined;
      await problems.noted(async () => {
        const { beliefs, left = [] } = await services.readText(task);
        facts = { beliefs, left };
      });
      return facts;
    }),
  );
}
