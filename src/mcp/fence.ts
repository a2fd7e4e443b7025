// The fence around recalled text. Its content is data that somebody once stored: a model must not follow it, and must
// not store it again as if it were new.

const NAME = 'granary-data';
const OPEN = `<${NAME}>`;
const CLOSE = `</${NAME}>`;
/**
 * A mark as a model may write it: with spaces, in another case, or escaped. Blanks follow each other in one way only, so that a
 * long run of them takes linear time.
 */
const MARK = /(?:<|&lt;)\s*(?:(\/)\s*)?granary-data\b[^<>&]*(?:>|&gt;)/gi;

/** Puts a text into a fence. Marks within it cannot end the fence. */
export function fenced(text: string): string {
  return `${OPEN}${withoutMarks(text)}${CLOSE}`;
}

/** The same for several lines. */
export function fencedLines(lines: readonly string[]): string {
  return `${OPEN}\n${withoutMarks(lines.join('\n'))}\n${CLOSE}`;
}

/** The text with its marks disarmed. */
export function withoutMarks(text: string): string {
  return text.replace(/(<|&lt;)(\s*(?:\/\s*)?)granary-data/gi, '$1$2granary_data');
}

/** The text outside of every fence. A fence without an end goes on to the end; one without a beginning starts at the start. */
export function outsideFences(text: string): string {
  const kept: string[] = [];
  let depth = 0;
  let from = 0;
  for (const mark of text.matchAll(MARK)) {
    if (mark[1] === '/') {
      // Without a beginning, everything before is inside.
      if (depth === 0) kept.length = 0;
      else depth -= 1;
    } else {
      if (depth === 0) kept.push(text.slice(from, mark.index));
      depth += 1;
    }
    from = mark.index + mark[0].length;
  }
  if (depth === 0) kept.push(text.slice(from));
  return kept.join('').trim();
}

/** Text that cannot tell a model anything: an id, a hash, a word of a schema. */
const TELLS_NOTHING = /^[\w.:/+-]{0,128}$/;
/** Members that are sent back as they are. */
const SENT_BACK: ReadonlySet<string> = new Set(['next_cursor']);

/** A JSON value of a memory with every text in a fence, and with numbers that JSON can carry. */
export function fencedValue(value: unknown): unknown {
  if (typeof value === 'string') return TELLS_NOTHING.test(value) ? value : fenced(value);
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(fencedValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      TELLS_NOTHING.test(name) ? name : withoutMarks(name),
      SENT_BACK.has(name) && typeof one === 'string' ? one : fencedValue(one),
    ]),
  );
}
