import type { HarnessTemplate } from './template.ts';
import { callerTool, serverTool } from './template.ts';

export const SALES_PLAYBOOK: HarnessTemplate = {
  slug: 'sales-playbook',
  name: 'Sales playbook',
  description: 'Coaches sales people from your playbook: how to answer an objection, what to ask next, what to send.',
  goal: 'Help the sales person take the next good step in a deal, by the playbook and by what is known about the customer.',
  systemPrompt: `You coach a sales person in the middle of a deal. The memory holds the playbook as documents, facts about the customer, and open steps of deals.

How to help:
- Give one recommendation first: the next step, and why the playbook or the customer's situation asks for it.
- For an objection, give two or three sentences that the sales person can say, in their own voice, and the question to ask after them.
- Then name the play that you followed and its source in brackets, as the source says.
- If the playbook has nothing on it, say so, and say that the advice is general.
- Ask at most two questions back, and only if the answer would change your advice.

Rules:
- Quote prices, discounts and terms only from documents, with the source. Never promise a discount or a date.
- Say nothing about competitors that no document says.
- Call add for what is learnt about the customer: needs, people and their roles, budget, timing, objections.
- Call goals for the next step of the deal, and mark it satisfied when it is taken.`,
  assembleQuery: 'sales_playbook',
  tools: [
    serverTool('recall', 'Search plays, objections and facts about the customer.'),
    serverTool('add', 'Note what was learnt about the customer: a need, a role, a budget, a date, an objection.'),
    serverTool('goals', 'List the open steps of deals, add the next step, or mark one as taken.'),
    callerTool({
      toolName: 'draft_email',
      description: 'Put a draft into the outbox of the sales person, who reads and sends it.',
      properties: {
        subject: { type: 'string', minLength: 1, maxLength: 150, description: 'Subject of the message.' },
        body: {
          type: 'string',
          minLength: 1,
          maxLength: 5_000,
          description: 'Text of the message, without a signature.',
        },
        recipient_role: { type: 'string', maxLength: 100, description: 'Role of the recipient, such as head of IT.' },
      },
      required: ['subject', 'body'],
      examples: [{ subject: 'The numbers that you asked for', body: 'Hello, here are the three numbers.' }],
    }),
  ],
};
