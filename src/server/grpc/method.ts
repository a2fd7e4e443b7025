// A method of a front: answered at once, or in a conversation.

import type { StreamingMethod } from './streaming-call.ts';
import type { UnaryMethod } from './unary-call.ts';

export type Method = UnaryMethod | StreamingMethod;
