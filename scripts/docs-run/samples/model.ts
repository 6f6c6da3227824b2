import type { Sample } from '../sample.ts';

/** A model that has read the guide: the architect asks the product manager, who knows, and then decides. */
export function model(sample: Sample): void {
  sample.model = ({ messages, systemPrompt = '' }) => {
    const asked = JSON.stringify(messages);
    const answer = /product manager/i.test(systemPrompt)
      ? 'About 400 orders a day in the first year.'
      : asked.includes('400 orders')
        ? 'A table in PostgreSQL: at 400 orders a day a broker only adds something to run.'
        : 'DELEGATE pm: How many orders a day do we plan for?';
    return { role: 'assistant', model: 'claude-x', content: { type: 'text', text: answer } };
  };
}
