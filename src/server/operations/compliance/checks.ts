// The code of compliance checks, which loads with the first request that needs it.
import { onDemand } from '../../../engine/base/on-demand.ts';
import type * as Impact from '../../compliance/impact.ts';
import type * as Report from '../../compliance/report.ts';
import type * as Run from '../../compliance/run.ts';
import type * as Table from '../../compliance/table.ts';

export const inRun = onDemand<typeof Run>(import.meta.url, '../../compliance/run');
export const inReport = onDemand<typeof Report>(import.meta.url, '../../compliance/report');
export const inTable = onDemand<typeof Table>(import.meta.url, '../../compliance/table');
export const inImpact = onDemand<typeof Impact>(import.meta.url, '../../compliance/impact');
