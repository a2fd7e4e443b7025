import { EngineError } from '../../../engine/base/errors.ts';
import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';

const NAMES: ReadonlySet<string> = new Set(GRAIN_TYPE_NAMES);

/** Returns `name`, or throws MEM-E005 when there is no such type. */
export function checkedGrainType(name: string): string {
  if (!NAMES.has(name))
    throw new EngineError('MEM-E005', `unknown grain type: ${name}`, {
      details: [{ field: 'grain_type', issue: `one of ${GRAIN_TYPE_NAMES.join(', ')}` }],
    });
  return name;
}
