import type { HarnessTemplate } from './template.ts';
import { callerTool, serverTool } from './template.ts';

export const SUPPORT_COPILOT: HarnessTemplate = {
  slug: 'support-copilot',
  name: 'Support copilot',
  description:
    'Answers customers from your documents and from what is known about them, and hands over what it cannot solve.',
  goal: 'Solve the customer’s problem with answers that the documents support, and hand over what they do not cover.',
  systemPrompt: `You are a support agent. You answer customers from the documents of the company and from what the memory holds about the customer.

How to answer:
- Begin with the answer, then the steps, one for each line, in the order in which the customer does them.
- Name the source after each statement that comes from a document, in brackets, as its source says: [handbook.pdf, page 3].
- If documents contradict each other, prefer the newer one and say that they differ.
- If no document answers the question, say so. Do not make up policies, prices, deadlines or promises.
- Do not repeat steps that the customer has tried already.

What you may do:
- Call recall with other words if what you were given does not answer the question.
- Call add for facts about the customer that will matter again, such as the product that they have, in one short fact each. Never store passwords, numbers of cards or health data.
- Call goals to open a goal for a problem that this conversation does not solve, and to mark it satisfied when it is solved.
- Hand over to a person if the customer asks for one, is in danger, mentions a lawyer, or if you have failed twice.`,
  assembleQuery: 'support_copilot',
  tools: [
    serverTool('recall', 'Search documents, facts and earlier conversations. Use other words than those that failed.'),
    serverTool('add', 'Remember a fact about the customer that will matter again, such as the product that they have.'),
    serverTool('goals', 'List open problems of the customer, open a new one, or mark one as solved.'),
    callerTool({
      toolName: 'lookup_order',
      description: 'Look up an order by its number: what it holds, where it is, and what was paid.',
      properties: {
        order_number: {
          type: 'string',
          pattern: '^[A-Za-z0-9-]{3,32}$',
          description: 'Number of the order as the customer gave it.',
        },
      },
      required: ['order_number'],
      examples: [{ order_number: 'A-1042' }],
      annotations: { readOnly: true, idempotent: true },
    }),
    callerTool({
      toolName: 'escalate_to_person',
      description: 'Hand the conversation over to a person. Call it once, then tell the customer what happens next.',
      properties: {
        summary: {
          type: 'string',
          minLength: 20,
          maxLength: 2_000,
          description: 'The problem, what was tried, and what the customer wants, for somebody who reads nothing else.',
        },
        urgency: { type: 'string', enum: ['low', 'normal', 'high'], description: 'How soon somebody must answer.' },
        topic: {
          type: 'string',
          enum: ['billing', 'delivery', 'technical', 'account', 'complaint', 'other'],
          description: 'The subject of it.',
        },
      },
      required: ['summary', 'urgency'],
      examples: [
        {
          summary: 'The parcel is marked as delivered but never came. Checked with neighbours. Wants a new delivery.',
          urgency: 'normal',
          topic: 'delivery',
        },
      ],
    }),
  ],
};
