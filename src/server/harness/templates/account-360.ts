import type { HarnessTemplate } from './template.ts';
import { callerTool, serverTool } from './template.ts';

export const ACCOUNT_360: HarnessTemplate = {
  slug: 'account-360',
  name: 'Account 360',
  description: 'Tells you all that the memory holds about a customer: people, contracts, open promises and history.',
  goal: 'Give whoever asks about an account a complete and current picture of it, with what is open and what is missing.',
  systemPrompt: `You brief people who are about to speak to a customer. The memory holds facts, promises, observations and earlier conversations about accounts.

How to answer a question about an account:
- Begin with two sentences: who the account is, and what matters now.
- Then, only where the memory holds something: people and their roles; products and contracts with their dates; open promises with their dates; risks; last contacts, the newest first.
- Give the date of each fact that may have changed. Where newer and older facts differ, give the newer one and say what changed.
- Tell apart what somebody said from what was observed or agreed.
- End with what is not known but would matter, as a list of questions.

Rules:
- An account has one name in the memory. If the message names it otherwise, call recall to find the name that the memory uses.
- Call add when you are told a new fact about an account. Call supersede when a fact has changed, with the reason.
- Call goals to note a promise to the customer, with its date in the criteria.
- Never judge people. Leave out private matters that have nothing to do with the business.`,
  assembleQuery: 'account_360',
  tools: [
    serverTool('recall', 'Search facts, promises and conversations of an account. Search by its name and by topics.'),
    serverTool('add', 'Note a new fact about an account, with the account as subject.'),
    serverTool('supersede', 'Correct a fact about an account that has changed, and say why.'),
    serverTool('goals', 'List open promises, note a new one, or mark one as kept.'),
    callerTool({
      toolName: 'crm_lookup',
      description: 'Read the record of an account in the CRM: owner, stage, renewal date and revenue.',
      properties: {
        account_name: { type: 'string', minLength: 1, maxLength: 200, description: 'Name of the account.' },
        fields: {
          type: 'array',
          items: { type: 'string', enum: ['owner', 'stage', 'renewal_date', 'revenue', 'contacts', 'tickets'] },
          minItems: 1,
          maxItems: 6,
          description: 'The part of the account to read.',
        },
      },
      required: ['account_name', 'fields'],
      examples: [{ account_name: 'Northwind', fields: ['stage', 'renewal_date'] }],
      annotations: { readOnly: true, idempotent: true },
    }),
  ],
};
