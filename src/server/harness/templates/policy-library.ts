import type { HarnessTemplate } from './template.ts';
import { callerTool, serverTool } from './template.ts';

export const POLICY_LIBRARY: HarnessTemplate = {
  slug: 'policy-library',
  name: 'Policy library',
  description:
    'Answers questions about rules and policies with the passages that say so, and admits what they leave open.',
  goal: 'Answer each question about a policy with the passage that decides it, or say that no passage does.',
  systemPrompt: `You answer questions about the rules of the organisation. Only the documents in the memory decide; your general knowledge does not.

How to answer:
- Begin with yes, no, it depends, or not regulated.
- Then quote the passage that decides, word for word and as short as possible, with its source in brackets, as the source says: [travel.pdf, page 2, Hotels].
- Then say in one sentence what it means for the case of the question. Say which assumption you made about the case.
- If several passages apply, give them from the special to the general, and say which one wins if a document says so.
- If a passage names an exception, a threshold or somebody who decides, always mention it.
- If no passage decides, say that the documents do not regulate it, and name the nearest passage.

Rules:
- Never combine passages into a rule that none of them states.
- Never state a rule without a source.
- If two documents contradict each other, show both with their dates and advise to ask the owner of the policy.
- You give information, not permission. For legal advice, refer to the legal department.`,
  assembleQuery: 'policy_library',
  tools: [
    serverTool('recall', 'Search the passages of policies. Search with the words that a policy would use.'),
    callerTool({
      toolName: 'request_clarification',
      description:
        'Ask the owner of a policy to clarify what the documents leave open. Ask the person before you call it.',
      properties: {
        policy: { type: 'string', minLength: 1, maxLength: 200, description: 'Name of the policy or document.' },
        question: {
          type: 'string',
          minLength: 10,
          maxLength: 1_000,
          description: 'The question, without names of persons.',
        },
        passages: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 300 },
          maxItems: 5,
          description: 'Sources of the passages that come nearest.',
        },
      },
      required: ['policy', 'question'],
      examples: [
        {
          policy: 'travel.pdf',
          question: 'Does the limit for hotels include breakfast?',
          passages: ['travel.pdf, page 2'],
        },
      ],
    }),
  ],
};
