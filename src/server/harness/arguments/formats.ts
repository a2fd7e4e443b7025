// The formats of texts that a tool's schema may ask for. Each expression here takes time linear in the text.

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-](\d{2}):(\d{2}))$/;
const EMAIL = /^[^\s@]{1,64}@[^\s@.]{1,63}(?:\.[^\s@.]{1,63}){0,8}$/;
const URI = /^[A-Za-z][A-Za-z0-9+.-]{0,31}:[^\s]{1,8000}$/;
const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

const TESTS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  'date-time': (text) => /^.{10}[Tt ]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  email: (text) => EMAIL.test(text),
  uri: (text) => URI.test(text) && URL.canParse(text),
  uuid: (text) => UUID.test(text),
};

/** True for a text of the format. A format that no tool may ask for has no texts. */
export function isOfFormat(text: string, format: string): boolean {
  return Object.hasOwn(TESTS, format) && TESTS[format]?.(text) === true;
}

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** A leap second is a time of day. */
function isTime(text: string): boolean {
  const [, hours, minutes, seconds, aheadHours = 0, aheadMinutes = 0] =
    TIME.exec(text)?.map((part: string | undefined) => Number(part ?? 0)) ?? [];
  if (hours === undefined || minutes === undefined || seconds === undefined) return false;
  return hours < 24 && minutes < 60 && seconds <= 60 && aheadHours < 24 && aheadMinutes < 60;
}
