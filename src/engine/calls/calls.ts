// All calls on one memory's partition in one shard.

import type { CalCalls } from './cal.ts';
import type { ComplianceCalls } from './compliance.ts';
import type { ErasureCalls } from './erasure.ts';
import type { GovernCalls } from './govern.ts';
import type { GrainCalls } from './grain.ts';
import type { MemoryWideCalls } from './memory.ts';
import type { RecallCalls } from './recall.ts';
import type { TrailCalls } from './trail.ts';

/** The calls on one memory's partition in one shard. */
export interface MemoryCalls
  extends MemoryWideCalls,
    GrainCalls,
    ErasureCalls,
    RecallCalls,
    CalCalls,
    GovernCalls,
    TrailCalls,
    ComplianceCalls {}
