// Cues of a question: whether it asks for a time, and whose turns it names by role. The assistant is also named by what
// it said before (`did you recommend`, `your advice`); a `you` that only makes a request (`can you list …`) names nobody.
// `I` names nobody either: users ask about themselves in most questions, and the role term favours their turns already.
// All are linear in the question's length.
import type { QuestionLanguage } from '../text/question-lists.ts';

const ASKS_TIME: readonly RegExp[] = [
  /^\s*when\b|\b(?:since|until|till|by|and|or|tell me|know|remember|say|said) when\b|\bwhen(?:['’]s| exactly)?,? (?:did|do|does|was|were|is|are|am|will|would|should|shall|can|could|have|has|had)\b|\b(?:what|which) (?:\w+ )?(?:time|date|dates|day|days|week|weekday|month|months|year|years|season|deadline)\b|\bhow (?:long|old|recently|soon|often)\b|\bhow (?:many|much) (?:more )?(?:seconds|minutes|hours|days|weeks|months|years|time)\b/i,
  // German, French, Spanish, Chinese.
  /(?<!\p{L})(?:wann|um wie ?viel uhr|wie (?:lange|oft|alt|spät)|wie ?viele? (?:sekunden|minuten|stunden|tage|wochen|monate|jahre|zeit)|welche[mnrs]? (?:tag|datum|monat|jahr|woche|uhrzeit|zeit))(?!\p{L})/iu,
  /(?:^[\s¿]*|(?<!\p{L})(?:depuis|jusqu['’]à|et|pour) )quand(?!\p{L})|(?<!\p{L})(?:quand est-ce|à quelle heure|(?:depuis|pendant) combien de temps|quels? (?:jours?|mois|ans?)|quelles? (?:dates?|années?|semaines?|heures?|saisons?)|combien de (?:secondes|minutes|heures|jours|semaines|mois|ans|temps))(?!\p{L})/iu,
  /(?:^[\s¿]*cuando|(?<!\p{L})(?:cuándo|(?:qué|cuál|en qué) (?:hora|día|fecha|semana|mes|año)s?|cuánto tiempo|cuánt[oa]s (?:segundos|minutos|horas|días|semanas|meses|años)))(?!\p{L})/iu,
  /什[么麼]时候|什麼時候|何[时時]|几点|幾點|几月|幾月|几号|幾號|哪(?:一)?[天年]|哪个月|哪個月|多久|多长时间|多長時間|[几幾]个?(?:小时|小時|天|周|月|年|岁|歲)|日期/u,
];

/** Whether a question asks for a time: when, which day, how long. */
export function asksForTime(question: string): boolean {
  return ASKS_TIME.some((pattern) => pattern.test(question));
}

/** Verbs of a person, by which `the user said` differs from `the user interface`. */
const DOES =
  'say|said|says|mention(?:s|ed)?|ask(?:s|ed)?|want(?:s|ed)?|like[sd]?|prefer(?:s|red)?|tell|told|think|thinks|thought|plan(?:s|ned)?|buy|bought|live[sd]?|work(?:s|ed)?|have|has|had|is|was|did|does|do|go|goes|went|use[sd]?|need(?:s|ed)?|feel|feels|felt|decide[sd]?|choose|chose|make|made|visit(?:ed)?|start(?:ed)?|get|got|give|gave|recommend(?:s|ed)?|suggest(?:s|ed)?|answer(?:s|ed)?|explain(?:s|ed)?|report(?:s|ed)?|describe[sd]?|advise[sd]?|propose[sd]?';
const ENDS = String.raw`(?=['’]s\b|\s*[?.!,]|\s*$|(?: (?:\w{1,20}ly|also|ever|first|last|once))? (?:${DOES})\b)`;

interface RoleCues {
  readonly user: RegExp;
  readonly assistant: RegExp;
}

const ROLE_CUES: Readonly<Record<QuestionLanguage, RoleCues>> = {
  en: {
    user: new RegExp(String.raw`\bthe user${ENDS}`, 'i'),
    assistant: new RegExp(
      String.raw`\bdid you\b|\byou(?:['’]ve| have| had)?(?: (?:\w{1,20}ly|also|once))? (?!(?:need|exceed|proceed|succeed|feed|speed)\b)(?:\w{2,20}ed|said|told|gave|made|wrote|chose|found|thought|put)\b|\byour (?:own )?(?:advice|answers?|suggestions?|recommendations?|tips?|ideas?|explanations?|responses?|reply|replies|summary|instructions?|examples?)\b|\bthe assistant${ENDS}`,
      'i',
    ),
  },
  de: {
    user: /(?<!\p{L})(?:der|die|den|dem|des) (?:be)?nutzer(?:in|s)?(?!\p{L})/iu,
    assistant:
      /(?<!\p{L})(?:hast du|du (?:\p{L}{1,20} ){0,4}hast|hattest du|haben sie mir|dein(?:e[mnrs]?)? (?:rat|ratschl|vorschl|empfehlung|antwort|tipp|idee|erklärung)\p{L}*|(?:der|die|den|dem) assistent(?:in|en)?)(?!\p{L})/iu,
  },
  fr: {
    user: /(?<!\p{L})l['’]utilisat(?:eur|rice)(?!\p{L})/iu,
    assistant:
      /(?<!\p{L})(?:(?:tu|vous) (?:m['’]|me |nous )?(?:as|avez|avais|aviez)|as-tu|avez-vous|(?:ton|ta|tes|votre|vos) (?:conseil|avis|réponse|suggestion|recommandation|idée|explication)s?|l['’]assistante?)(?!\p{L})/iu,
  },
  es: {
    user: /(?<!\p{L})(?:el|la|del|al) usuari[oa](?!\p{L})/iu,
    assistant:
      /(?<!\p{L})(?:(?:recomend|suger|aconsej|mencion|explic|d|propus|dij)(?:aste|iste)|(?:has|habías) \p{L}{1,20}(?:ado|ido|cho)|tus? (?:consejo|respuesta|sugerencia|recomendación|recomendacione|idea|explicación)s?|(?:el|la|del) asistente)(?!\p{L})/iu,
  },
  zh: {
    user: /用[户戶]/u,
    assistant:
      /[你您](?:之前|上次|曾[经經]?|已[经經]|是?怎[么麼])?(?:给我|給我|向我|对我|對我)?(?:的)?(?:建[议議]|推[荐薦]|[说說]|告[诉訴]|提到|回答|解[释釋])|助手|助理/u,
  },
};

/** The roles that a question names. */
export interface NamedRoles {
  readonly user: boolean;
  readonly assistant: boolean;
}

/** `language`: that of the question; undefined: unknown, so that it names nobody. */
export function namedRoles(question: string, language: QuestionLanguage | undefined): NamedRoles {
  if (language === undefined) return { user: false, assistant: false };
  const { user, assistant } = ROLE_CUES[language];
  return { user: user.test(question), assistant: assistant.test(question) };
}
