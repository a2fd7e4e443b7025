// How often a property is tried: as often as finds what it usually finds, for everybody's every run. PROPERTY_RUNS=20
// in the environment tries twenty times as often. A failure prints its seed.

/** `usual` tries, times PROPERTY_RUNS. */
export function runs(usual: number): number {
  const times = Number(process.env['PROPERTY_RUNS'] ?? 1);
  if (!(times > 0)) throw new Error('PROPERTY_RUNS wants a number above 0');
  return Math.ceil(usual * times);
}
