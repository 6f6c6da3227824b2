import * as z from 'zod';
import { defineOperation } from '../operation.ts';

/** What a running session may want to hear of, as marks that can be compared with those of a moment ago. */
export const projectNews = defineOperation({
  name: 'project_news',
  title: 'Compare the state of the project',
  description: 'Marks of approved tasks, failed contracts, stories that are ready, and git sources.',
  effect: 'read',
  serves: 'surface',
  input: z.strictObject({}),
  output: z.object({
    approved: z.array(z.string()),
    failed: z.array(z.string()),
    ready: z.array(z.string()),
    sources: z.array(z.string()),
  }),
  async run(_input, context) {
    return (await import('./project-news-marks.ts')).newsMarks(context);
  },
  render: (data) => ({ body: JSON.stringify(data) }),
});
