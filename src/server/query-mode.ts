/** How a recall reads the operators of its query: as conditions, or as wishes of a question in prose. */
export type QueryMode = 'operators' | 'natural';
