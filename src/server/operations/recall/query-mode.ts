// How a request reads the operators of its query: the member of HTTP bodies, which goes before the header.
import type { Context } from '../../context.ts';
import type { QueryMode } from '../../query-mode.ts';
import { Type } from '../type.ts';

export const QueryModeMember = Type.Optional(
  Type.Union([Type.Literal('natural'), Type.Literal('operators')], {
    description:
      'Whether the operators of the query are conditions (operators) or only move hits up and down (natural); the default is x-query-mode, else natural.',
  }),
);

export function queryModeOf({ queryMode }: { readonly queryMode?: QueryMode | undefined }, context: Context) {
  return queryMode ?? context.queryMode;
}
