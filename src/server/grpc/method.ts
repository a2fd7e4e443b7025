// A method of a front: unary or streaming.

import type { StreamingMethod } from './streaming-call.ts';
import type { UnaryMethod } from './unary-call.ts';

export type Method = UnaryMethod | StreamingMethod;
