// Turns the end of a clause into the object of a belief: separates dates and remarks, and rejects objects that make no
// sense out of context ("the blue one").

export interface Tail {
  readonly text: string;
  /** The words of the date at the end. */
  readonly when: string | undefined;
}

const MONTHS = 'January|February|March|April|May|June|July|August|September|October|November|December';
const DATE_AT_END = new RegExp(
  ` (?:back )?(?:in|since|on|as of|starting|starting in) (?:early |late |mid-?)?(?:(?:(?:${MONTHS})(?: \\d{1,2}(?:st|nd|rd|th)?)?,? )?(?:19|20)\\d\\d|(?:${MONTHS})(?: \\d{1,2}(?:st|nd|rd|th)?)?|\\d{1,2} (?:${MONTHS})(?: (?:19|20)\\d\\d)?|\\d{4}-\\d\\d-\\d\\d)$| (?:last (?:year|month|week|summer|spring|fall|autumn|winter|night)|yesterday|(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\\d{1,2}) (?:year|month|week|day)s? ago)$`,
);
const DURATION_AT_END =
  / for (?:(?:about|around|over|almost|nearly|more than|the (?:last|past)) )?(?:(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|many|several|a few|\d{1,3}|some) )?(?:years?|months?|weeks?|decades?|a while|ages|a long time|most of my life|my whole life|years now)$/;
const REMARK_AT_END =
  /,? (?:now|currently|too|as well|also|a lot|very much|so much|at the moment|right now|these days|nowadays|today|again|btw|by the way|though|actually|please|lately|anymore|any more|at all|in general|generally|the most|most of all|best|for sure|already|thanks|thank you|you know|to be honest|honestly|because of .*|due to .*|thanks to .*|including .*|especially .*|particularly .*|everyone|folks|guys|all)$/i;

/** The object's words without dates and remarks at the end. */
export function tailOf(text: string): Tail {
  // Strips emoji and marks at the end, but keeps those of C++, C# and 5 %.
  let rest = text.replace(/[^\p{L}\p{M}\p{N})\]%+#]+$/u, '');
  let when: string | undefined;
  for (let i = 0; i < 4; i++) {
    const before = rest;
    const date = DATE_AT_END.exec(rest);
    if (date !== null) {
      when ??= date[0].trim();
      rest = rest.slice(0, date.index);
    }
    rest = rest
      .replace(/ \([^()]{1,30}\)$/, '')
      .replace(DURATION_AT_END, '')
      .replace(REMARK_AT_END, '')
      .replace(/[\s,;:]+$/, '');
    if (rest === before) break;
  }
  return { text: rest, when };
}

/** Words that refer to something outside the sentence, or that change the kind of statement. */
const POINTS_ELSEWHERE =
  /\b(it|its|this|that|these|those|me|mine|myself|him|her|hers|his|them|their|they|he|she|you|your|yours|we|us|our|one|ones|here|there|such|same|other|another|else|so|than|what|whatever|how|why|who|whom|which|where|when|while|everything|anything|nothing|something|anyone|whoever|not|never|no|if|as|because|since|until|unless|too|enough|and not|more|less|fewer|much)\b/i;
const INFINITIVE_OF_SPEECH =
  /^to (see|say|hear|know|think|be|ask|bother|tell|admit|point|thank|add|believe|imagine|interrupt|complain|disagree|have|do|get|make)\b/i;
const PASSING =
  /\b(option|options|choice|approach|suggestion|suggestions|draft|version|idea|ideas|answer|question|being|having|reply|response|paragraph|sentence|example)\b/i;
const ARTICLE = /^(?:an?|the|some|any) /i;

/** `text` as an object that makes sense out of context, up to `wordsMax` words; undefined when it does not. */
export function standalone(text: string, wordsMax = 8): string | undefined {
  const count = text.split(' ').length;
  if (text === '' || count > wordsMax || text.length > 100) return undefined;
  if (POINTS_ELSEWHERE.test(text) || /["“”:;()[\]{}<>|=]/.test(text)) return undefined;
  return text;
}

/** The beginning of an example, a reason or a purpose. */
const ASIDE =
  /(?:, (?:like|such as|especially|particularly|including|you know|as|since|because|which|to|so|for|even)\b| (?:due to|because of|thanks to)\b| to (?:maximi[sz]e|minimi[sz]e|avoid|ensure|boost|improve|maintain|strengthen|save|reduce|stay|keep|prevent|increase|fully)\b).*$/;

/**
 * The object of a taste (likes, hates, prefers) that makes sense out of context and is no remark on the conversation.
 */
export function taste(text: string): string | undefined {
  const object = standalone(text.replace(ASIDE, ''), 12);
  if (object === undefined || object.includes(',')) return undefined;
  if (INFINITIVE_OF_SPEECH.test(object) || PASSING.test(object)) return undefined;
  // "the app" refers to the conversation; "the Alps" always means the same.
  return /^(?:the|an?) (?!\p{Lu})/u.test(object) ? undefined : object;
}

/** Marks a place or an employer that applies only on some days. */
const AT_TIMES = / (?:during|on weekends|on weekdays|at weekends)\b/;

/** A proper noun: a place, an organisation, a name. `article` allows "the Netherlands". */
export function proper(text: string, { article = true, wordsMax = 6 } = {}): string | undefined {
  if (AT_TIMES.test(text)) return undefined;
  const cut = text
    .split(
      / (?:with|together|because|after|before|near|and my|while|for|as|and(?= \p{Ll})|and(?= \p{Lu}[\p{L}'-]* (?:in|at) )) |[,(]/u,
    )[0]!
    .trim();
  // The part after the cut may contain a date: "Milan last year, after …".
  const object = standalone(tailOf(cut).text, wordsMax);
  if (object === undefined) return undefined;
  return (article ? /^(?:the )?\p{Lu}/u : /^\p{Lu}/u).test(object) ? object : undefined;
}

/** The name of one person or animal: one to three capitalised words and nothing else. */
export function personName(text: string): string | undefined {
  const cut = text.split(/[,(]/)[0]!.trim();
  const match =
    /^(?:(?:Dr|Mr|Mrs|Ms|Prof)\. ?)?\p{Lu}[\p{L}'-]*(?: (?:van |von |de |der |da |al-|bin )?\p{Lu}[\p{L}'-]*\.?){0,2}$/u.exec(
      cut,
    );
  return match === null || NO_NAME.test(cut) ? undefined : cut;
}

const NO_NAME =
  /^(?:I|It|This|That|These|Those|There|Here|He|She|We|They|You|Everyone|Everybody|Everything|Nobody|Nothing|Someone|Something|Today|Tomorrow|Yesterday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|July|August|September|October|November|December|My|Our|Your|His|Her|Their|The|A|An|One|What|Who|Where|When|Why|How|All|Some|Most|Many|Both|Each|Every|Another|Other|Life|Love|God|Sorry|Sure|Fine|Good|Great|Happy|Glad|Thanks|Please|Maybe|Later|Back|Now|Then|Also|User|Assistant|AI|Team|Type|Gen)(?:\b.*)?$/;

/** `text` without the article in front. */
export function bare(text: string): string {
  return text.replace(ARTICLE, '');
}

/** The members of "nuts, eggs and milk"; one alone is a list of one. */
export function members(text: string): string[] {
  return text
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*/)
    .map((member) => member.trim())
    .filter((member) => member !== '');
}
