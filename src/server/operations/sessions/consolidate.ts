import { steadyMs } from '../../../engine/base/clock.ts';
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { DuplicateGroup } from '../../../engine/calls/session.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { isDryRun } from '../erasure/dry-run.ts';
import { type Static, Type } from '../type.ts';
import { SessionId, SessionIdOutput, sessionIdOf } from './schema.ts';
import { type Decided, decidedByModel } from './undecided.ts';

const THRESHOLD_DEFAULT = 0.85;
/** Merges under way at once, so that they share commits. */
const MERGES_AT_ONCE = 16;
/** Left for the answer before the request's deadline, in ms. */
const ANSWER_MS = 2_000;

const groupMembers = {
  canonicalHash: Type.String({
    description: 'Hash of the grain that stays: of its new version after the merge, of the grain itself in a dry run.',
  }),
  duplicateHashes: Type.Array(Type.String(), { description: 'Hashes of the grains that it replaces.' }),
};
const GroupOutput = Type.Object({
  ...groupMembers,
  similarity: Type.Number({ description: 'Similarity of the least similar of them, from 0 to 1.' }),
  confirmationCount: Type.Integer({ description: 'Number of grains that say it, the canonical one included.' }),
  byModel: Type.Optional(
    Type.Literal(true, { description: 'True when the model decided that the statements say the same.' }),
  ),
});
const RefusedOutput = Type.Object({
  ...groupMembers,
  code: Type.String({ description: 'Code of the error.' }),
  message: Type.String({ description: 'Why the group is not merged.' }),
});

const Output = Type.Object({
  sessionId: SessionIdOutput,
  totalAnalyzed: Type.Integer({ description: 'Number of grains that were compared.' }),
  threshold: Type.Number({ description: 'Similarity from which grains count as duplicates.' }),
  groups: Type.Array(GroupOutput, { description: 'Groups that were merged; in a dry run, that would be.' }),
  merged: Type.Integer({ description: 'Number of grains that were replaced; in a dry run, that would be.' }),
  refused: Type.Array(RefusedOutput, {
    description: 'Groups that a policy, a lock or a change in the meantime keeps from being merged.',
  }),
  truncated: Type.Optional(
    Type.Literal(true, { description: 'True when a bound was met: another run would find more.' }),
  ),
  dryRun: Type.Boolean({ description: 'Whether it was a dry run.' }),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Set if grains of the session lie where they were not compared, or if the model decided nothing.',
    }),
  ),
});
type Output = Static<typeof Output>;

export const sessionConsolidate = defineOperation({
  name: 'session_consolidate',
  summary: 'Merge what a session says more than once.',
  description:
    'Statements of the same type, namespace, user and subject whose wording is similar become one: the most trusted, then the newest. Actions, states and goals are left alone.',
  example: { sid: 'support-4711', threshold: 0.9, dry_run: true },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'refuse',
  dryRun: true,
  slow: true,
  input: Type.Object({
    sid: SessionId,
    threshold: Type.Optional(
      Type.Number({
        minimum: 0.1,
        maximum: 1,
        description: 'Normalised Levenshtein similarity from which grains are duplicates; the default is 0.85.',
        default: THRESHOLD_DEFAULT,
      }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Whether to report only and merge nothing; the default is false.', default: false }),
    ),
    useModel: Type.Optional(
      Type.Boolean({
        description:
          'Whether the model of the role consolidation decides about pairs that are a little less similar than the threshold; the default is false.',
        default: false,
      }),
    ),
    reason: Type.Optional(
      Type.String({ description: 'Why, which a policy may demand; the default is the x-reason header.' }),
    ),
  }),
  output: Output,
  errors: ['VAL-E001', 'POL-E004'],
  http: [{ verb: 'POST', path: 'M/sessions/{sid}/consolidate' }],
  run({ sid, threshold = THRESHOLD_DEFAULT, dryRun: isAsked = false, useModel = false, reason }, context) {
    const dryRun = isDryRun({ dryRun: isAsked }, context);
    const run = async (): Promise<Output> => {
      const found = await context.call('sessionDuplicates', { sessionId: sessionIdOf(sid), threshold });
      const session = { sessionId: sessionIdOf(sid), threshold };
      const left = context.deadlineMs - steadyMs(context.services.clock);
      const model: Decided = useModel
        ? await decidedByModel(session, { ruled: found.groups, waitMs: left / 2 }, context)
        : { groups: [] };
      const done = await merge([...found.groups, ...model.groups], { dryRun, reason }, context);
      const byModel = new Set(model.groups.flatMap(({ duplicates }) => duplicates.map(({ hash }) => hash)));
      for (const group of done.groups) if (byModel.has(group.duplicateHashes[0] ?? '')) group.byModel = true;
      if (done.merged > 0 && !dryRun) await note(sid, threshold, done, context);
      const { isLate, ...counts } = done;
      const truncated = found.cut || isLate ? { truncated: true as const } : {};
      const all = [
        ...(found.partitions > 1 ? [apart(found.partitions)] : []),
        ...(model.warning === undefined ? [] : [model.warning]),
      ];
      const warnings = all.length > 0 ? { warnings: all } : {};
      return { sessionId: sid, totalAnalyzed: found.analyzed, threshold, ...counts, ...truncated, dryRun, ...warnings };
    };
    return dryRun ? run() : context.once(run);
  },
});

/** A chain of versions stays in its partition, so a grain cannot follow one of another partition. */
function apart(partitions: number): string {
  return (
    `the session's grains are in ${partitions} partitions, and those of different partitions were not compared: ` +
    'grains with the session_id share a partition, but grains of the namespace with this name may not'
  );
}

interface Merged extends Pick<Output, 'groups' | 'refused' | 'merged'> {
  /** True if the deadline came before the last group. */
  readonly isLate: boolean;
}

/** Each group succeeds or fails as a whole. Throws if a policy refuses every one of them. */
async function merge(
  all: readonly DuplicateGroup[],
  { dryRun, reason }: { readonly dryRun: boolean; readonly reason: string | undefined },
  context: Context,
): Promise<Merged> {
  const groups: Output['groups'] = [];
  const refused: Output['refused'] = [];
  let last: EngineError | undefined;
  let at = 0;
  const isLate = (): boolean => steadyMs(context.services.clock) > context.deadlineMs - ANSWER_MS;
  const extras = defined({ reason });
  while (at < all.length && !isLate()) {
    const some = all.slice(at, at + MERGES_AT_ONCE);
    at += some.length;
    const settled = await Promise.allSettled(
      some.map((group) => context.call('mergeGrains', dryRun ? { ...group, check: true } : group, extras)),
    );
    for (const [i, result] of settled.entries()) {
      const { canonical, duplicates } = some[i]!;
      const duplicateHashes = duplicates.map(({ hash }) => hash);
      if (result.status === 'fulfilled')
        groups.push({
          canonicalHash: result.value.hash,
          duplicateHashes,
          similarity: Math.min(...duplicates.map(({ similarity }) => similarity)),
          confirmationCount: duplicates.length + 1,
        });
      else {
        if (!(result.reason instanceof EngineError) || !/^(POL|MEM)-/.test(result.reason.code)) throw result.reason;
        last = result.reason;
        refused.push({ canonicalHash: canonical, duplicateHashes, code: last.code, message: last.message });
      }
    }
  }
  if (last !== undefined && groups.length === 0 && refused.every(({ code }) => code.startsWith('POL-'))) throw last;
  const merged = groups.reduce((sum, { duplicateHashes }) => sum + duplicateHashes.length, 0);
  return { groups, refused, merged, isLate: at < all.length };
}

/** The grains' own entries name what was merged; this one says by which run. */
async function note(sid: string, threshold: number, done: Merged, context: Context): Promise<void> {
  await context.call('note', {
    event: 'session.consolidated',
    details: {
      groups: done.groups.length,
      merged: done.merged,
      refused: done.refused.length,
      by_model: done.groups.filter(({ byModel }) => byModel === true).length,
      threshold: `${threshold}`,
    },
    texts: { session_id: sid },
  });
}
