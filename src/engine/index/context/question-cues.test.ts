import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../base/testing/any-text.ts';
import { asksForTime, namedRoles } from './question-cues.ts';

test('a question that asks for a time is recognised', () => {
  const yes = [
    'When did I move?',
    'Do you know when the release is?',
    'since when',
    'What date was it?',
    'which day of the week',
    'what time',
    'How long ago did we talk?',
    'how many days are between them',
    'How old is Anna?',
    'Wann bin ich umgezogen?',
    'Seit wann wohnt Anna hier?',
    'Um wie viel Uhr fährt der Zug?',
    'Welches Datum hat der Vertrag?',
    'Quand est-ce que nous partons ?',
    'Depuis quand habite-t-elle ici ?',
    'À quelle heure part le train ?',
    '¿Cuándo me mudé?',
    '¿Qué día es la fiesta?',
    '¿Cuánto tiempo llevamos aquí?',
    '我什么时候搬家的？',
    '我們哪天去杭州？',
    '会议是几点？',
  ];
  const no = [
    '',
    'What should I wear when it rains?',
    'how many books',
    'what do you think of timing',
    'who was it',
    'Welche Farbe hat das Rad?',
    'Que fait-on quand il pleut ?',
    '¿Qué hago cuando llueve?',
    '我的猫叫什么名字？',
  ];
  for (const text of yes) assert.ok(asksForTime(text), text);
  for (const text of no) assert.ok(!asksForTime(text), text);
});

test('a question names the user and the assistant as subjects, and a request names nobody', () => {
  const cases = [
    ['en', 'Where did I put the lantern?', ''],
    ['en', 'Can you tell me where the lantern is?', ''],
    ['en', 'What did you recommend for the roof?', 'assistant'],
    ['en', 'Which of the books you suggested is the longest?', 'assistant'],
    ['en', 'What was your advice about the roof?', 'assistant'],
    ['en', 'Can you list what needs a new roof?', ''],
    ['en', 'What do you need for the roof?', ''],
    ['en', 'What did the user say about the roof?', 'user'],
    ['en', 'How was the user interface changed?', ''],
    ['en', 'What did the assistant recommend?', 'assistant'],
    ['en', 'Which tips did you give me for my exam?', 'assistant'],
    ['en', 'What did the user answer, and what had you suggested?', 'user assistant'],
    ['en', 'Where is the lantern?', ''],
    ['de', 'Was hat der Nutzer über das Dach gesagt?', 'user'],
    ['de', 'Sag mir, wo die Laterne ist.', ''],
    ['de', 'Was hast du für das Dach empfohlen?', 'assistant'],
    ['fr', 'Qu’a dit l’utilisateur ?', 'user'],
    ['fr', 'Rappelle-moi où est la lanterne.', ''],
    ['fr', 'Quel était ton conseil pour le toit ?', 'assistant'],
    ['es', '¿Qué dijo el usuario?', 'user'],
    ['es', '¿Qué libro recomendaste?', 'assistant'],
    ['zh', '用户说了什么？', 'user'],
    ['zh', '请告诉我灯笼在哪里', ''],
    ['zh', '你之前推荐的书是什么？', 'assistant'],
  ] as const;
  for (const [language, question, roles] of cases) {
    const named = namedRoles(question, language);
    assert.equal(
      Object.entries(named)
        .flatMap(([role, is]) => (is ? [role] : []))
        .join(' '),
      roles,
      question,
    );
  }
  assert.deepEqual(namedRoles('the user', undefined), { user: false, assistant: false });
});

test('long repetitive questions are read in linear time', () => {
  // A quadratic implementation would take minutes here.
  const long = (text: string): string => text.repeat(60_000);
  for (const text of ['when ', 'what w', 'how ', 'which a ']) assert.ok(asksForTime(`${long(text)} since when`), text);
  for (const text of ['you ', 'du hat ', 'the user ', 'tu m', 'has a ', '你之前', 'you aaa ly ', 'wie viele '])
    for (const language of ['en', 'de', 'fr', 'es', 'zh'] as const) {
      namedRoles(long(text), language);
      asksForTime(long(text));
    }
});

test('any question is read', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      assert.equal(typeof asksForTime(text), 'boolean');
      for (const language of ['en', 'de', 'fr', 'es', 'zh'] as const) namedRoles(text, language);
    }),
  );
});
