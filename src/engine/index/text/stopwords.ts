// Stop words: words of grammar, not of content. They take a position and give no term.
import { createRequire } from 'node:module';

// The 33 of Lucene's English analyser, then question words and auxiliaries, which are noise in conversations. Pronouns
// stay, because many questions about a chat depend on who speaks (bench/scenarios/relevance.ts: hit@10 .631 with them
// as terms, .597 without).
const ENGLISH = `
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
was will with
those
what which who whom whose when where why how
am been being were do does did doing have has had having can could shall should would may might must ought
dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt cant couldnt
wouldnt shouldnt wont
`;

// Contractions whose joined form is another word (id, ill, well, shell): they count only with their apostrophe.
const ENGLISH_CONTRACTIONS = "i'd i'll we'd we'll we're we've he'd he'll she'd she'll it'd it'll who'd who'll there'll";

// Words in stopwords-iso's lists that carry content: counts, times, common nouns, adjectives and full verbs.
const CONTENT_WORDS: Readonly<Record<string, string>> = {
  de: `acht achte drei eins elf ende ernst fünf gut gute guter gutes groß große gross heute jahr jahre kurz lang lange leide
mahn mann neun neue neuen recht rund sache satt sechs suche tag tage tagen teil tritt uhr vier viel viele weg wenig
zehn zeit zwei zwölf hoch kommt leicht offen genug`,
  fr: `basee beau bigre boum brrr cent cher chers chère cinq clac clic couic crac deux dix douze dos effet essai force gens
hop huit mille mince neuf onze paf pan pif pire pièce plein plouf plus pur pure rare rares sept seize six stop sujet
tac tic trois vif vifs vingt vivat vive vives zut fois mot bas bat egale reste`,
  es: `ahora ayer breve buen buena bueno cinco claro cosas dia dias día días dos final fin horas hoy igual lado largo llegó
lugar mal medio modo mejor menos mayor nueva nuevo nunca ocho pais parte peor raras sal seis siete sola solas solo
solos tarde total trata tres usa usais usan usar usas uso valor veces vez cerca lejos cuatro`,
  it: `anni anno brava bravo buono basta caso cento cima citta città cosa due fine fino forza fuori gente giu giù ieri lato
lungo luogo male mesi mezzo mila mondo nome nulla nuovi nuovo oggi ora ore otto paese parte piedi pieno posto presa
press primo prima scola scopo sei sette tempo terzo tre uomo vale vari varia varie vario visto vita volta volte`,
  pt: `adeus ano anos apoio baixo boa boas bom bons breve cedo cento cima cinco coisa custa dez dia dois doze duas falta favor
fim final forma geral grupo hoje hora horas lado local longe lugar mal meio meses mil mês noite nome nova novas nove
novo novos nível obra oito onze parte perto ponto povo quinto seis sete sexta sexto tarde tempo tipo treze três usa
usar valor vez vezes vinte zero área cada agora logo`,
  nl: 'achte achter beide derde drie eerst jonge klaar later negen paar rond samen tien twee vier vijf vroeg vrij week zes',
  ru: `алло вечер вид вода война вон время глаз год года году голос город два две дверь двух дел делал делаю дело день
дом друг другое душа жена жизнь жить занят земля знать книга конец лет лицо люди мало место мир мира много народ
новый нога ночь отец плечо пол пора путь пять пятый раз рано рука ряд рядом свет семь сила слово стол суть
три тысяч улица утро час часто шесть мать`,
  sv: `adjö båda dag dagar dagen elfte elva enkel femte fem fick fin fyra god goda gott höger hög idag igår länge lätt långt
legat liten ligga nio noll sex sju sist små smått stor stora stort säga tack tidig tio tjugo tolv tre två åtta åttio
åtti vänster`,
  da: 'fem fire god godt hej lille mange næste ny nyt ni okay otte seks sige stor store syv ti to tre lad',
  no: 'bort bra folk god lage lang makt mange måte navn ny nye part punkt rett sist slutt start tid verdi',
  fi: `aika aikaa aikoo alas apu asia asiaa asian asiat avun eteen kahta kaksi kauan kerta kolme kuusi lisää neljä oikea
pian pieni sata sataa suuri tuhat uuden uudet uusi uusia uutta vasen viime viisi vähän yksi yksin hyvin hyviä hyvä
hyvät hyvää menee menen menet meni menin menit`,
  tr: `altı altý beş beþ beţ bin bir biri dokuz dört elli iki iyi iyice kýrk kırk otuz on sekiz tek tüm yedi yirmi yüz üç sıfır
hoş doğru imdi elbet`,
};

/**
 * The lists of these languages contain words, but their text is cut into bigrams or by a dictionary, so nothing would
 * match.
 */
const UNLISTED = new Set(['en', 'ja', 'ko', 'th', 'zh']);
const FUNCTION_WORD_CHARS_MAX = 5;

/** Stop words of a language (ISO 639-1), lower-case; with an apostrophe where it matters. */
export function stopWords(language: string): ReadonlySet<string> {
  if (language === 'en') return new Set([...words(ENGLISH), ...words(ENGLISH_CONTRACTIONS)]);
  if (UNLISTED.has(language)) return new Set();
  const require = createRequire(import.meta.url);
  const lists = require('stopwords-iso') as Record<string, readonly string[] | undefined>; // untyped JSON
  // The lists are very broad (1,298 words for English). Function words are short nearly everywhere, so only the short
  // words are used, without the content words above.
  const content = new Set(words(CONTENT_WORDS[language] ?? ''));
  const listed = lists[language] ?? [];
  const charsMax = language in CONTENT_WORDS ? FUNCTION_WORD_CHARS_MAX : FUNCTION_WORD_CHARS_MAX - 1;
  return new Set(
    listed
      .map((word) => word.normalize('NFKC').toLowerCase())
      .filter((word) => /^[\p{L}\p{M}]+$/u.test(word) && [...word].length <= charsMax && !content.has(word)),
  );
}

function words(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '');
}
