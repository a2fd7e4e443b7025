// Nested objects of the format: the known keys inside references, relations, policies and the rest. Only the first
// four are written with short keys.
import { ADDRESS, BYTES, FLOAT, INT, listOf, MAP, MS, recordOf, STRING, shapeOf, UNIT } from '../codec/kind.ts';

export const CONTENT_REF = shapeOf(
  {
    uri: STRING,
    modality: STRING,
    mime_type: STRING,
    size_bytes: INT,
    checksum: STRING,
    metadata: MAP,
    citation_type: STRING,
    identifier: STRING,
    retrieved_at: MS,
    content_hash: STRING,
    citation_role: STRING,
  },
  {
    required: ['uri', 'modality'],
    alternative: { key: 'citation_type', required: ['citation_type', 'identifier'] },
    short: { uri: 'u', modality: 'm', mime_type: 'mt', size_bytes: 'sz', checksum: 'ck', metadata: 'md' },
  },
);

export const EMBEDDING_REF = shapeOf(
  {
    vector_id: STRING,
    model: STRING,
    dimensions: INT,
    modality_source: STRING,
    distance_metric: STRING,
    chunk_index: INT,
    chunk_text: STRING,
    chunk_strategy: STRING,
    chunk_overlap: INT,
  },
  {
    required: ['vector_id', 'model', 'dimensions'],
    short: {
      vector_id: 'vi',
      model: 'mo',
      dimensions: 'dm',
      modality_source: 'ms',
      distance_metric: 'di',
      chunk_index: 'ci',
      chunk_text: 'ct',
      chunk_strategy: 'cs',
      chunk_overlap: 'co',
    },
  },
);

export const RELATION = shapeOf(
  { hash: ADDRESS, relation_type: STRING, weight: UNIT },
  { short: { hash: 'h', relation_type: 'rl', weight: 'w' } },
);

export const EDGE = shapeOf(
  { src: STRING, dst: STRING, cond: STRING, max_cycles: INT },
  { required: ['src', 'dst'], short: { max_cycles: 'mxc' } },
);

export const PROVENANCE = shapeOf({ source_hash: ADDRESS, method: STRING, weight: UNIT });

export const INVALIDATION_POLICY = shapeOf(
  {
    mode: STRING,
    authorized: listOf(STRING),
    threshold: INT,
    locked_until: INT, // the one time that is in seconds
    fallback_mode: STRING,
    scope: STRING,
    protection_reason: STRING,
  },
  { required: ['mode'] },
);

export const OWNER = shapeOf(
  { type: STRING, name: STRING, entity_form: STRING, jurisdiction: STRING, reg_id: STRING, did: STRING },
  { required: ['type', 'name'] },
);

/** Blocks are kept verbatim. Unknown block types are allowed, with any content. */
export const CONTENT_BLOCK = shapeOf({ type: STRING }, { required: ['type'] });

export const TOKEN_USAGE = shapeOf({
  input_tokens: INT,
  output_tokens: INT,
  cache_creation_tokens: INT,
  cache_read_tokens: INT,
});

export const TRUSTED_TIMESTAMP = shapeOf({ tsp_response: BYTES, tsa_uri: STRING });

export const RETENTION_POLICY = shapeOf({
  minimum_retention_years: INT,
  regulation: STRING,
  deletion_requires: STRING,
});

export const ALTERNATIVE = shapeOf({ hypothesis: STRING, rejection_reason: STRING });

export const STATISTICAL_CONTEXT = shapeOf({
  p_value: FLOAT,
  confidence_interval: listOf(FLOAT),
  effect_size: FLOAT,
  sample_size: INT,
});

export const SOFTWARE_ENVIRONMENT = shapeOf({
  language: STRING,
  runtime_version: STRING,
  library_versions: MAP,
  os: STRING,
});

export const STRING_RECORD = recordOf(STRING);
