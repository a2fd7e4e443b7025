// Which actions say nothing new: calls of the tool with which a model searches the memory. Their results repeat grains that
// a search finds by itself, and a search that found them would repeat the results of earlier searches within its own.

import type { GrainFilter } from '../../engine/calls/grain.ts';
import { fieldKey } from '../../engine/index/parts/part.ts';

export const RECALL_TOOL = 'recall';

export const RECALL_ACTIONS: GrainFilter = {
  grainTypes: ['action'],
  anyOf: [{ facet: 'field', values: [fieldKey('tool_name', RECALL_TOOL)] }],
};
