// The number of runs of a property: enough for its usual findings in every run of the suite. PROPERTY_RUNS=20 in the
// environment multiplies it by twenty. A failure prints its seed.

/** `usual` runs, times PROPERTY_RUNS. */
export function runs(usual: number): number {
  const times = Number(process.env['PROPERTY_RUNS'] ?? 1);
  if (!(times > 0)) throw new Error('PROPERTY_RUNS must be a number above 0');
  return Math.ceil(usual * times);
}
