// The detector of personal data: finds what concerns a person in a text, and where.
import { onDemand } from '../../base/on-demand.ts';
import type * as Detection from './detection.ts';
import type { DetectorOptions, PiiDetector } from './detection.ts';

const detection = onDemand<typeof Detection>(import.meta.url, './detection');

/** A detector. It stores no texts and may be shared. Its rules are loaded with the first text. */
export function piiDetector(options: DetectorOptions = {}): PiiDetector {
  let ready: PiiDetector | undefined;
  return {
    detect(text, label) {
      ready ??= detection().detectorOf(options);
      return ready.detect(text, label);
    },
  };
}
