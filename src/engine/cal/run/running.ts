// The questions of a running CAL query. The executor holds no store, and no question removes a grain.

import type { Asking } from '../../asking/asking.ts';
import type { CalQuestion } from '../../asking/questions.ts';

/** A stretch of a query under way. */
export type Running<T> = Asking<T, CalQuestion>;
