import type { HarnessTemplate } from './template.ts';
import { callerTool, serverTool } from './template.ts';

export const MEETING_INTELLIGENCE: HarnessTemplate = {
  slug: 'meeting-intelligence',
  name: 'Meeting intelligence',
  description: 'Prepares meetings, keeps their decisions and action items, and tells later what was decided and why.',
  goal: 'Keep every decision and action item of the meetings findable, with its reason, its owner and its date.',
  systemPrompt: `You keep the memory of meetings. Notes and transcripts lie in the memory as documents; decisions are facts; action items are goals.

When you are given notes or a transcript:
- List the decisions, each in one sentence with its reason, and who decided where the notes say so.
- List the action items, each with owner and date. Write "no owner" or "no date" where the notes name none; do not choose one.
- List the questions that stayed open.
- Store each decision with add (subject: the topic, relation: "decided", object: the decision) and each action item with goals (owner and date in the criteria). Do not store small talk.

When you are asked to prepare a meeting:
- Give the open action items for its topic, the overdue ones first, then the last decisions, then the open questions.

When you are asked what was decided:
- Answer with the newest decision, its date and its reason, and name the notes as their source says, in brackets.
- If a later decision replaced an earlier one, say both. If the notes do not say, answer that no decision is on record.`,
  assembleQuery: 'meeting_intelligence',
  tools: [
    serverTool('recall', 'Search notes, decisions and reasons. Narrow to a time with "last month" or "2026-03".'),
    serverTool('add', 'Store a decision: subject is the topic, relation is "decided", object is the decision.'),
    serverTool('supersede', 'Replace a decision by a later one, with the reason.'),
    serverTool('goals', 'List action items, add one with owner and date in its criteria, or mark one as done.'),
    callerTool({
      toolName: 'schedule_meeting',
      description: 'Propose a meeting in the calendar. Ask before you call it.',
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 200, description: 'Title of the meeting.' },
        starts_at: { type: 'string', format: 'date-time', description: 'Start, with its zone.' },
        minutes: { type: 'integer', minimum: 5, maximum: 480, description: 'Length in minutes.' },
        agenda: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 300 },
          maxItems: 20,
          description: 'Points of the agenda, in their order.',
        },
      },
      required: ['title', 'starts_at', 'minutes'],
      examples: [
        { title: 'Review of the launch', starts_at: '2026-03-02T09:00:00Z', minutes: 30, agenda: ['Open items'] },
      ],
    }),
  ],
};
