/** A header's text; percent-encoded if it is more than printable ASCII, or would be taken for encoded text (RFC 8187). */
export function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^utf-8'/i.test(text);
  return isPlain ? text : `UTF-8''${encodeURIComponent(text)}`;
}
