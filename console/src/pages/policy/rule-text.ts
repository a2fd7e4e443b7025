/** The value of a rule, in words. */
export function ruleText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(ruleText).join(', ');
  if (typeof value === 'object') {
    const members = Object.entries(value);
    return members.length === 0 ? 'none' : members.map(([name, one]) => `${name}: ${ruleText(one)}`).join(', ');
  }
  return String(value);
}
