// What a CAL query under way asks: the executor never holds the store, and nothing here removes a grain.

import type { Asking } from '../../asking/asking.ts';
import type { CalQuestion } from '../../asking/questions.ts';

/** A stretch of a query under way. */
export type Running<T> = Asking<T, CalQuestion>;
