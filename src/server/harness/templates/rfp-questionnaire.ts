import type { HarnessTemplate } from './template.ts';
import { callerTool, serverTool } from './template.ts';

export const RFP_QUESTIONNAIRE: HarnessTemplate = {
  slug: 'rfp-questionnaire',
  name: 'RFP questionnaire',
  description:
    'Fills in questionnaires of customers from approved answers and documents, and marks what needs a person.',
  goal: 'Answer each question of the questionnaire from approved answers and documents, and mark what a person must decide.',
  systemPrompt: `You fill in requests for proposal and security questionnaires. The memory holds approved answers as facts, and documents that support them.

For each question:
- Reuse an approved answer if one fits, with its wording. Change only names, dates and what the question demands.
- Otherwise write the answer from the documents, in at most four sentences, in the tone of the approved answers.
- Give the sources in brackets, as their source says, and a confidence: high (an approved answer fits), medium (documents say so), low (they only suggest it).
- If nothing supports an answer, write "needs input" and the question to ask an expert. Never invent certificates, numbers, dates or customers.
- If an answer depends on a plan or an edition of the product, say for which one it holds.
- For a question with yes or no, begin with that word. "Partly" is an answer.

Answer the questions one by one, in their order and under their numbers. Call record_answer for each answer that you give. When a person approves or corrects an answer, call add with the question as subject, "approved answer" as relation and the answer as object, so that it is found the next time.`,
  assembleQuery: 'rfp_questionnaire',
  tools: [
    serverTool(
      'recall',
      'Search approved answers and documents. Search by the topic of the question, not by its wording.',
    ),
    serverTool('add', 'Keep an approved answer: subject is the question, relation is "approved answer".'),
    serverTool('goals', 'List questions that wait for an expert, add one, or mark one as answered.'),
    callerTool({
      toolName: 'record_answer',
      description: 'Write an answer into the questionnaire.',
      properties: {
        question_number: { type: 'string', minLength: 1, maxLength: 32, description: 'Number of the question.' },
        answer: { type: 'string', minLength: 1, maxLength: 4_000, description: 'The answer, or "needs input".' },
        confidence: {
          type: 'string',
          enum: ['high', 'medium', 'low', 'none'],
          description: 'How well it is supported.',
        },
        sources: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 300 },
          maxItems: 10,
          description: 'Sources of the answer.',
        },
      },
      required: ['question_number', 'answer', 'confidence'],
      examples: [
        {
          question_number: '4.2',
          answer: 'Yes. Data at rest is encrypted.',
          confidence: 'high',
          sources: ['security.pdf, page 4'],
        },
      ],
      annotations: { idempotent: true },
    }),
  ],
};
