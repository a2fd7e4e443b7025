// Names of people in scripts without capitals. Evidence: introductions, forms of address, and lists of given names.
import {
  ARABIC_ENDINGS,
  ARABIC_FAMILY,
  ARABIC_GIVEN,
  ARABIC_WORDS,
  HEBREW_FAMILY,
  HEBREW_GIVEN,
  HEBREW_WORDS,
  THAI_GIVEN,
} from '../name-lists-other.ts';
import type { Scan } from '../scan.ts';

const HAN_SURNAMES =
  '王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤張劉陳楊黃趙吳孫馬鄭謝許韓馮鄧蔣葉蘇魏呂盧鍾譚陸賈';
const CHINESE_CUED = new RegExp(
  `(?:姓名|联系人|客户|患者|收件人|我叫|我是|名字是|名叫|叫做|负责人|經理|经理)(?:姓名)?[:是为: ]{0,2}([${HAN_SURNAMES}]\\p{Script=Han}{1,2})(?!\\p{Script=Han})`,
  'gu',
);
const CHINESE_TITLED = new RegExp(
  `([${HAN_SURNAMES}]\\p{Script=Han}{0,2}?)(?=先生|女士|小姐|老师|医生|經理|经理|教授|太太)`,
  'gu',
);
const JAPANESE = /([\p{Script=Han}\p{Script=Katakana}ー]{2,6})(?=さん|様|さま|君|くん|ちゃん|氏|先生)/gu;
const JAPANESE_CUED = /(?:名前は|氏名[:は]?|担当者[:は]|私は)\s?([\p{Script=Han}]{2,6})(?=です|と申し|、|。|$|\s)/gu;
const NO_JAPANESE_NAME = /^(?:お?客|皆|神|王|奥|患者|先生|会員|株主|生徒|母|父|兄|姉|社員|店員|業者)/;
const KOREAN =
  /(?<!\p{Script=Hangul})([김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용]\p{Script=Hangul}{2})(?= ?(?:씨|님|선생님|선생|군|양|대리|과장|부장|사장|교수)(?!\p{Script=Hangul}{2}))/gu;

/** "my name is" with up to three following words of the script. A word that is never a name ends it. */
const INTRODUCED: readonly RegExp[] = [
  /(?:मेरा नाम|मेरी नाम|उसका नाम|उनका नाम|माझे नाव|नाम:|नाम है) ?(\p{Script=Devanagari}{2,20}(?: \p{Script=Devanagari}{2,20}){0,2})/gu,
  /(?:श्रीमती|श्री|सुश्री|डॉ\.?|कुमारी) (\p{Script=Devanagari}{2,20}(?: \p{Script=Devanagari}{2,20}){0,2})/gu,
  /(?:আমার নাম|তার নাম|জনাব|শ্রী|শ্রীমতী|ডাঃ) (\p{Script=Bengali}{2,20}(?: \p{Script=Bengali}{2,20}){0,2})/gu,
  /(?:என் பெயர்|திரு\.?|திருமதி) (\p{Script=Tamil}{2,20}(?: \p{Script=Tamil}{2,20})?)/gu,
  /(?:నా పేరు|శ్రీ|శ్రీమతి) (\p{Script=Telugu}{2,20}(?: \p{Script=Telugu}{2,20})?)/gu,
  /(?:મારું નામ|શ્રી|શ્રીમતી) (\p{Script=Gujarati}{2,20}(?: \p{Script=Gujarati}{2,20})?)/gu,
  /(?:ਮੇਰਾ ਨਾਮ|ਸ੍ਰੀ|ਸ਼੍ਰੀ) (\p{Script=Gurmukhi}{2,20}(?: \p{Script=Gurmukhi}{2,20})?)/gu,
  /(?:მე მქვია|ჩემი სახელია|ბატონი|ქალბატონი) (\p{Script=Georgian}{2,20}(?: \p{Script=Georgian}{2,20})?)/gu,
  /(?:Իմ անունը|իմ անունը|Պարոն|պարոն|Տիկին|տիկին) (\p{Script=Armenian}{2,20}(?: \p{Script=Armenian}{2,20})?)/gu,
];
/** Verbs, postpositions and days that may follow a name. */
const BEHIND_NAMES: ReadonlySet<string> = new Set(
  (
    'है हैं था थी थे ने को का की के से में पर जी कल आज और या तो भी साहब आए आएंगे आएगी आएगा गए गया आहे आणि ' +
    'এবং ও আজ কাল হয় আছেন எனக்கு என்று మరియు અને છે ਹੈ ਅਤੇ და არის է և'
  ).split(' '),
);
const ARABIC_WORD = /\p{Script=Arabic}{2,20}\.?/gu;
const ARABIC_TITLE =
  /(?:^|[^\p{L}])(?:و|ل|ب)?(?:السيد|السيدة|الآنسة|الدكتور|الدكتورة|د\.|الأستاذ|الأستاذة|المهندس|المهندسة|الشيخ|الشيخة|الحاج|الحاجة|للسيد|للسيدة|آقای|خانم|دکتر|جناب|سرکار|محترمہ|صاحبہ|اسمي|اسمه|اسمها|اسم من|نام من|میرا نام|اسم|الاسم:|نام:)\s?$/u;
const HEBREW_WORD = /\p{Script=Hebrew}{2,20}/gu;
const HEBREW_TITLE =
  /(?:^|[^\p{L}])ו?(?:מר|גברת|גב'|ד"ר|דוקטור|פרופ'|פרופסור|עו"ד|הרב|שמי|שמו|שמה|קוראים לי|קוראים לו|קוראים לה|השם שלי)\s$/u;
const THAI =
  /(?:นางสาว|นาย|นาง|คุณ|ดร\.|ชื่อ|เด็กชาย|เด็กหญิง) ?(\p{Script=Thai}{2,24})(?: (\p{Script=Thai}{2,16})(?![\p{Script=Thai}]))?/gu;
const THAI_TITLED = /^(?:นางสาว|เด็กชาย|เด็กหญิง)/;
const CASELESS =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thai}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Georgian}\p{Script=Armenian}]/u;

export function findOtherScripts(scan: Scan): void {
  const { text } = scan;
  if (!CASELESS.test(text)) return;
  for (const pattern of [CHINESE_CUED, CHINESE_TITLED, JAPANESE_CUED, JAPANESE, KOREAN]) {
    for (const { 0: all, 1: name = '', index } of text.matchAll(pattern)) {
      const from = index + all.lastIndexOf(name);
      if (name.length >= 2 || pattern === CHINESE_TITLED)
        if (!NO_JAPANESE_NAME.test(name)) scan.add('person_name', from, from + name.length, 0.8, 'dictionary');
    }
  }
  for (const pattern of INTRODUCED)
    for (const { 0: all, 1: words = '', index } of text.matchAll(pattern)) {
      const name = untilOther(words);
      const from = index + all.length - words.length;
      if (name !== '') scan.add('person_name', from, from + name.length, 0.8, 'regex');
    }
  findListed(scan, ARABIC_WORD, ARABIC);
  findListed(scan, HEBREW_WORD, HEBREW);
  findThai(scan);
}

/** The first word and the following ones, up to a word that is never a name. */
function untilOther(words: string): string {
  const parts = words.split(' ');
  const end = parts.findIndex((part) => BEHIND_NAMES.has(part));
  return parts.slice(0, end < 0 ? 2 : Math.min(end, 2)).join(' ');
}

/** How names of a script are recognised: by lists, by endings, and by forms of address. */
interface Script {
  readonly title: RegExp;
  readonly given: ReadonlySet<string>;
  /** Given names that are also everyday words. */
  readonly words: ReadonlySet<string>;
  /** True for a word that continues a name after a given name. */
  readonly goesOn: (word: string) => boolean;
  /** Letters that are written as part of the following name: "and", "to". */
  readonly prefix: RegExp;
  /** True for a word that, after a title, is a role and not a name. */
  readonly isRole: (word: string) => boolean;
}

const ARABIC: Script = {
  title: ARABIC_TITLE,
  given: ARABIC_GIVEN,
  words: ARABIC_WORDS,
  goesOn: (word) =>
    ARABIC_GIVEN.has(word) ||
    ARABIC_FAMILY.has(word) ||
    ARABIC_ENDINGS.test(word) ||
    /^(?:بن|ابن|بنت|أبو|ابو|آل|عبد)$/.test(word),
  prefix: /^[ولب]/,
  isRole: (word) => word.startsWith('ال'),
};
const HEBREW: Script = {
  title: HEBREW_TITLE,
  given: HEBREW_GIVEN,
  words: HEBREW_WORDS,
  goesOn: (word) => HEBREW_GIVEN.has(word) || HEBREW_FAMILY.has(word) || /^בן$|^בר$/.test(word),
  prefix: /^[ולבמש]/,
  isRole: (word) => word.startsWith('ה'),
};

interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** No name has more words. */
const WORDS_MAX = 4;

function findListed(scan: Scan, pattern: RegExp, script: Script): void {
  const words = [...scan.text.matchAll(pattern)].map(
    ({ 0: text, index }): Word => ({
      text: text.replace(/\.$/, ''),
      from: index,
      to: index + text.replace(/\.$/, '').length,
    }),
  );
  for (let at = 0; at < words.length; at++) {
    const taken = nameAt(scan.text, words, at, script);
    if (taken === undefined) continue;
    const last = words[at + taken.count - 1]!;
    scan.add('person_name', taken.from, last.to, taken.titled ? 0.85 : 0.75, 'dictionary');
    at += taken.count - 1;
  }
}

function nameAt(
  text: string,
  words: readonly Word[],
  at: number,
  script: Script,
): { readonly from: number; readonly count: number; readonly titled: boolean } | undefined {
  const first = words[at]!;
  const bare =
    script.given.has(first.text) || first.text.length < 4 ? first.text : first.text.replace(script.prefix, '');
  const titled = script.title.test(text.slice(Math.max(0, first.from - 16), first.from));
  const known = script.given.has(bare);
  if (!known && (!titled || script.isRole(first.text))) return undefined;
  const from = known ? first.to - bare.length : first.from;
  let count = 1;
  while (count < WORDS_MAX && isNext(text, words, at + count, script)) count += 1;
  // A name that is also a word needs another part of a name, or a title.
  if (!titled && count === 1 && script.words.has(bare)) return undefined;
  return { from, count, titled };
}

function isNext(text: string, words: readonly Word[], at: number, { goesOn }: Script): boolean {
  const [last, next] = [words[at - 1], words[at]];
  return last !== undefined && next !== undefined && text.slice(last.to, next.from) === ' ' && goesOn(next.text);
}

/** Thai does not separate words: after a title, a name ends at a blank. "you" is a title too. */
function findThai(scan: Scan): void {
  for (const { 0: all, 1: first = '', 2: second, index } of scan.text.matchAll(THAI)) {
    const listed = THAI_GIVEN.has(first);
    if (!listed && !(THAI_TITLED.test(all) && second !== undefined)) continue;
    const from = index + all.indexOf(first, all.length - first.length - (second === undefined ? 0 : second.length + 1));
    scan.add('person_name', from, index + all.length, 0.8, 'dictionary');
  }
}
