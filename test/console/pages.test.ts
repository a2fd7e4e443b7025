// Every page of the console in a real browser, over a real conversation: both themes and three widths, accessible, by
// keyboard alone.
import assert from 'node:assert/strict';
import { checkAccessible, lookAt, type Pages, shot, signIn } from './browser.ts';
import { fillWithHistory, hasHistory } from './history.ts';
import { consoleTests } from './opened.ts';

const inConsole = consoleTests();

inConsole(
  'every page is complete and accessible, in both themes and at three widths',
  { expected: /status of 400/, isSignedIn: false },
  async ({ t, server, page }) => {
    if (!hasHistory(t)) return;
    const { corrected } = await fillWithHistory(server);
    const pages: Pages = {
      overview: ['', 'request timeout ms'],
      memories: ['memories?memory=default', 'Purges pending'],
      'new-memory': ['memories?new=1', 'Make it'],
      grains: ['m/default/grains', 'plan the sprints'],
      'grains-filtered': ['m/default/grains?type=belief&user=ada', 'Bergen'],
      'grains-none': ['m/default/grains?user=nobody', 'No grain fits'],
      grain: [`m/default/grains?type=belief&grain=${corrected}`, '3 versions'],
      'recall-empty': ['m/default/recall', 'Nothing is asked yet'],
      recall: ['m/default/recall?q=where+does+Ada+live&a.record_provenance=true', 'Ada lives in Bergen'],
      'recall-compared': [
        'm/default/recall?q=the+project+schedule&compare=1&b.recency_weight=0.8&b.limit=5',
        'Copy B as',
      ],
      'recall-refused': ['m/default/recall?q=x&a.min_score=7', 'VAL-E001'],
      sessions: ['m/default/sessions?session=chat-1', 'Context for a prompt'],
      'sessions-list': ['m/default/sessions', 'chat-2'],
      goals: ['m/default/goals', 'finish the project'],
      'goals-tree': ['m/default/goals?session=chat-1', 'plan the sprints'],
      'no-page': ['nothing', 'There is no such page'],
    };
    await page.goto(`${server.http}/console/`);
    await page.waitForSelector('input[type=password]');
    await shot(page, 'sign-in');
    await checkAccessible(page, 'sign-in');
    await signIn(page, server.http, server.key);
    await lookAt(page, server.http, pages);
    assert.deepEqual(server.errors, []);
  },
);
