import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { projectField, stepsField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { linesPlace, onMachine, PLACES } from '../project/state-place.ts';
import { defineOperation } from '../operation.ts';

/** What answers is made from the lines, so nobody has to be careful with it; a server may have what others wrote, too. */
function indexText({ engine, index }: { engine: string; index?: string | undefined }): string {
  if (engine === 'none') return t`Index: none; the memory cannot be opened`;
  if (index === undefined) return t`Index: in the memory of this process, made from the lines`;
  return engine === 'qdrant'
    ? t`Index: ${engine}, ${index}`
    : t`Index: ${engine}, ${index}; it can be deleted at any time and is made again from the lines`;
}

export const memoryStatus = defineOperation({
  name: 'memory_status',
  title: 'Memory status',
  description:
    'Show where memories are kept, what finds them and compares their meaning, how many there are, and whether anything is not working.',
  effect: 'read',
  behind: { manage_memories: 'status' },
  command: 'memory status',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    project: z.string(),
    owner: z.enum(['project', 'user']),
    place: z.string().describe('The folder of the lines that are the memories'),
    files: z.int().describe('Files of lines in it'),
    git: z.enum(['private', 'shared', 'user']).describe('Whether git sees them'),
    mirror: z
      .object({ place: z.string(), files: z.int(), only: z.int().describe('Files that are only there') })
      .optional()
      .describe('This user’s own lines once more, out of the reach of git'),
    engine: z.string().describe('What finds them'),
    index: z.string().optional().describe('Where that is; made from the lines, unless it is a server'),
    details: z.record(z.string(), z.string()),
    embedder: z.string(),
    dim: z.int().optional(),
    memories: z.int().optional(),
    superseded: z.int().optional(),
    forgotten: z.int().optional(),
    vectors: z.object({ done: z.int(), total: z.int(), running: z.boolean() }),
    fileEntries: z.int(),
    degraded: z.boolean(),
    notes: z.array(z.string()),
    steps: stepsField,
  }),
  async run({ project }, context) {
    const status = await (await context.memory(project)).status();
    const state = await context.state(project);
    const machine = status.owner === 'user' ? undefined : await onMachine(state);
    const { store, embedder, stats } = status;
    return {
      project: status.project,
      owner: status.owner,
      place: status.folder,
      files: status.lines.files,
      git: linesPlace(await state.place()),
      ...(status.lines.mirror === undefined ? {} : { mirror: status.lines.mirror }),
      engine: store?.engine ?? 'none',
      ...(store === undefined || store.engine === 'memory' ? {} : { index: store.place }),
      details: store?.details ?? {},
      embedder: embedder?.id ?? 'none',
      ...(embedder === undefined ? {} : { dim: embedder.dim }),
      ...(stats === undefined
        ? {}
        : { memories: stats.live, superseded: stats.superseded, forgotten: stats.forgotten }),
      vectors: status.embedding,
      fileEntries: status.fileEntries,
      degraded: status.degraded,
      notes: [...status.notes, ...(machine === undefined ? [] : [machine.text])],
      steps: [...status.steps, ...(machine?.steps ?? [])],
    };
  },
  failed: ({ engine }) => engine === 'none',
  render: (data) => ({
    body: lines(
      t`Project: ${data.project}`,
      t`Lines: ${plural(data.files, 'file')} in ${data.place} (${data.owner === 'project' ? t`the project's own; ${say(PLACES[data.git])}` : t`the user's, because the project has no memory folder`})`,
      data.mirror === undefined
        ? undefined
        : t`Mirror: ${plural(data.mirror.files, 'file')} in ${data.mirror.place}${data.mirror.only === 0 ? '' : t`; ${data.mirror.only} of them only there`}`,
      indexText(data),
      Object.entries(data.details).map(([name, value]) => t`  ${name}: ${value}`),
      data.embedder === 'none'
        ? t`Meaning: not compared, words only`
        : data.vectors.total === 1
          ? t`Meaning: ${data.embedder}, ${data.dim ?? 0} dimensions; ${data.vectors.done} of 1 memory has a vector`
          : t`Meaning: ${data.embedder}, ${data.dim ?? 0} dimensions; ${data.vectors.done} of ${data.vectors.total} memories have a vector${data.vectors.running ? t`, the others are being computed` : ''}`,
      data.memories === undefined
        ? undefined
        : t`Memories: ${data.memories}, ${data.superseded ?? 0} superseded, ${data.forgotten ?? 0} forgotten`,
      t`Entries in the project's own files, also searched: ${data.fileEntries}`,
      data.degraded ? t`Degraded: yes` : t`Degraded: no`,
      data.notes.map((note) => `- ${note}`),
    ),
    steps: data.steps ?? [],
  }),
});
