// Runs DESCRIBE: describes the language, the server and the session from the tables that the parser uses.
import { unreachable } from '../../base/assert.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { QueryField } from '../../grain/types/query-field.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';
import { type Describe, DISCLOSURE_LEVELS, FORMAT_SYNONYMS, FORMATS } from '../ast.ts';
import { GRAMMAR } from '../grammar.ebnf.ts';
import { TEMPLATE_NAMES_RESERVED } from '../output/template.ts';
import { PRESETS } from '../output/template-presets.ts';
import { VARIABLES } from '../output/template-variables.ts';
import { PRIMER } from '../primer.ts';
import { EXTENSIONS } from '../vocabulary/extensions.ts';
import { DOMAIN_PROFILES, fieldsOf } from '../vocabulary/fields.ts';
import { pluralOf, SINGULARS, typeOfSingular } from '../vocabulary/grain-types.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { CAL_VERSION } from './kinds.ts';
import type { Run } from './session.ts';

const OMS_VERSION = '1.3';

/** WITH options that have an effect here. The others give warning CAL-W004. */
export const OPTIONS_THAT_WORK = [
  'superseded',
  'contradiction_detection',
  'score_breakdown',
  'explanation',
  'provenance',
  'progressive_disclosure',
  'dedup',
  'diversity',
  'summarize',
  'iso_timestamps',
] as const;

export function describe({ target, grainType }: Describe, run: Run): JsonObject {
  return { type: 'describe', target, info: infoOf(target, grainType?.word, run) };
}

function infoOf(target: Describe['target'], grainType: string | undefined, run: Run): JsonObject {
  switch (target) {
    case 'grain_types':
      return { grain_types: SINGULARS.map(shownType) };
    case 'fields': {
      const type = grainType === undefined ? undefined : typeOfSingular(grainType);
      return {
        grain_type: type ?? null,
        fields: fieldsOf(type).map(shownField),
        domain_prefixes: Object.fromEntries(DOMAIN_PROFILES),
      };
    }
    case 'capabilities':
      return capabilities(run);
    case 'server': {
      const { name, version } = run.session.server;
      return { name, version, cal_version: CAL_VERSION, oms_version: OMS_VERSION };
    }
    case 'templates':
      return {
        presets: Object.keys(PRESETS),
        reserved: [...TEMPLATE_NAMES_RESERVED],
        templates: Object.entries(run.session.templates).map(([name, { extends: parent }]) => ({
          name,
          extends: parent ?? null,
        })),
        variables: [...VARIABLES],
      };
    case 'primer':
      return { notation: 'markdown', primer: PRIMER };
    case 'grammar':
      return { notation: 'ebnf', grammar: GRAMMAR };
    default:
      return unreachable(target);
  }
}

function shownType(type: GrainType): JsonObject {
  return { singular: type, plural: pluralOf(type), code: GRAIN_TYPES[type].format.byte };
}

function shownField({ name, type, operators, sortable, projectable, groupable, values }: QueryField): JsonObject {
  const shown = { name, type, operators: [...operators], sortable, projectable, groupable };
  return values === undefined ? shown : { ...shown, values: [...values] };
}

function capabilities({ session }: Run): JsonObject {
  const { embedder, tierOneEnabled, autoToon } = session;
  return {
    cal_conformance: 'extended',
    cal_version: CAL_VERSION,
    cal_tiers: tierOneEnabled ? [0, 1] : [0],
    limits: outsideNames({
      ...CAL_LIMITS,
      queryTimeoutMs: session.queryTimeoutMs,
      assembleTimeoutMs: session.assembleTimeoutMs,
    }),
    formats: [...FORMATS],
    format_synonyms: { ...FORMAT_SYNONYMS },
    disclosure_levels: [...DISCLOSURE_LEVELS],
    with_options: [...OPTIONS_THAT_WORK],
    // The built-in encoder works best with English.
    cross_lingual_search: false,
    embedding_model: embedder ?? null,
    supported_languages: ['en'],
    auto_toon_enabled: autoToon,
    token_counter: session.tokens ?? 'estimate',
    streaming: false,
    templates: true,
    strict: session.strict === true,
    extensions:
      session.strict === true
        ? []
        : Object.entries(EXTENSIONS).map(([name, { says, portable }]) => ({ name, says, portable })),
  };
}

/** Wire names. */
function outsideNames(limits: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}
