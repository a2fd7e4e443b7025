// One page for the prompt of a model that is to write queries. docs/cal-primer.md is the same text; a test holds them together.
export const PRIMER = `TODO`;
