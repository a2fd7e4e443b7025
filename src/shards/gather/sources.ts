// Resolves further sources that are in another partition than their fact. The fact's partition knows only the source's
// grain name. The source's partition turns the name into a hash, and knows whether the source still exists and is
// visible.
import { isPlainHash } from '../../engine/record/grain-name.ts';
import type { GrainView } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { gatherHashes } from './names.ts';

/**
 * Replaces the names of further sources with hashes. Makes no call when every source is a hash already, which is the
 * usual case. `hidden`: include sources that a policy hides.
 */
export async function withAllSources<T extends GrainView | null>(
  fan: Fan,
  grains: readonly T[],
  { hidden = false }: { readonly hidden?: boolean | undefined } = {},
): Promise<T[]> {
  const named = new Set(grains.flatMap((grain) => grain?.sources?.filter((source) => !isPlainHash(source)) ?? []));
  if (named.size === 0) return [...grains];
  const names = [...named];
  const { hashes } = await gatherHashes(fan, { names, shown: hidden ? undefined : true });
  const hashOf = new Map(names.map((name, at) => [name, hashes[at]!]));
  return grains.map((grain) => {
    if (grain?.sources === undefined) return grain;
    const { sources, ...rest } = grain;
    const shown = sources.map((source) => hashOf.get(source) ?? source).filter((hash) => hash !== '');
    return (shown.length === 0 ? rest : { ...rest, sources: shown }) as T; // T is the same grain view
  });
}

export async function withSources(fan: Fan, grain: GrainView): Promise<GrainView> {
  const [shown = grain] = await withAllSources(fan, [grain]);
  return shown;
}
