/**
 * The text without the characters of `marks` (of one UTF-16 unit each) at its end, in linear time: a regular expression such as
 * /[.!]+$/ takes the square of the length of a run that is not at the end.
 */
export function withoutAtEnd(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
