import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { localDay } from '../../base/text/local-time.ts';
import type { Context } from '../context.ts';
import { contractData, handoverView, findingLines, findingSchema } from './handover-view.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const TEAM = /^[a-z0-9][a-z0-9-]{0,39}$/;
const teamField = z
  .string()
  .trim()
  .toLowerCase()
  .transform((name) => name.replace(/^team-/, ''))
  .pipe(z.string().regex(TEAM, 'Letters, digits and "-", e.g. vision, build, ops.'));
const texts = z.array(z.string().min(1).max(2_000)).max(100);

export const createDeliveryContract = defineOperation({
  name: 'create_delivery_contract',
  title: 'Hand work over to a team',
  description:
    'Hand work over to another team: writes a delivery contract from the artefacts of a run, the decisions and the open requests, and checks it.',
  effect: 'write',
  toolset: 'project',
  command: 'delivery create',
  positional: ['from_team', 'to_team'],
  input: z.strictObject({
    from_team: teamField.describe('Who delivers'),
    to_team: teamField.describe('Who receives'),
    signed_by: z.string().max(200).default('').describe('Who signs it'),
    run_id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Run whose artefacts are delivered; default: the latest finished'),
    branch: z.string().min(1).max(100).optional().describe('Session branch of the run'),
    artefacts: z.array(z.string().min(1).max(500)).max(200).default([]).describe('Paths'),
    questions: texts.default([]).describe('Open questions; a leading "!" means critical'),
    project: projectField,
  }),
  output: z.object({
    contract: handoverView,
    valid: z.boolean(),
    findings: z.array(findingSchema),
    /** The run whose artefacts are in it, and whether it was chosen for want of a run_id. */
    run: z.object({ run_id: z.string(), branch: z.string(), chosen: z.boolean() }).optional(),
  }),

  async run(input, context) {
    const { from_team, to_team, signed_by, run_id, branch, artefacts, questions, project } = input;
    const state = await context.state(project);
    const desk = await state.handovers();
    const known = await remembered(context, project);
    // Whoever names the artefacts has named what is delivered.
    const takesLatest = artefacts.length === 0;
    const gathered = await desk.gather({ runId: run_id, branch, known, takesLatest });
    const { artefacts: produced, decisions, requests, language } = gathered;
    const named = artefacts.map((path) => ({ name: path.split('/').at(-1) ?? path, path }));
    const required = [...named, ...produced.filter(({ path }) => !artefacts.includes(path))];
    const kept = await desk.contracts.create({
      from: from_team,
      to: to_team,
      signedBy: signed_by.trim(),
      runId: gathered.run?.id,
      language,
      required: required.map((artefact) => ({ ...artefact, criterion: undefined })),
      optional: [],
      outOfScope: [],
      questions: [
        ...questions.map((text) => ({
          question: text.replace(/^!\s*/, ''),
          critical: text.startsWith('!'),
          owner: to_team,
        })),
        ...requests,
      ],
      criteria: [],
      decisions,
      context: [],
    });
    const { valid, findings } = kept.validation;
    const { run } = gathered;
    return {
      contract: contractData(kept),
      valid,
      findings,
      ...(run === undefined
        ? {}
        : { run: { run_id: run.id, branch: run.branch, chosen: run_id === undefined } }),
    };
  },

  render: ({ contract, valid, findings, run }) => ({
    body: [
      t`Written: ${contract.file}, ${plural(contract.artefacts, 'artefact')}, ${plural(contract.open_questions, 'open question')}.`,
      ...(run?.chosen === true
        ? [
            t`Taken from ${run.run_id}, the latest finished run of the branch ${run.branch}; run_id names another.`,
          ]
        : []),
      valid ? t`It is complete.` : t`It is not complete yet:`,
      ...findingLines(findings),
    ].join('\n'),
    ...(valid
      ? { note: t`Someone on the receiving team accepts or rejects it.` }
      : { note: t`Correct the file by hand, then check it.` }),
    steps: valid
      ? [
          { operation: 'delivery_accept', args: which(contract), why: t`Accept it` },
          { operation: 'delivery_reject', args: which(contract), open: ['reason'], why: t`Reject it` },
        ]
      : [{ operation: 'delivery_validate', args: which(contract), why: t`Check it` }],
  }),
});

const which = ({ contract_id }: { contract_id: string }) => ({ contract_id });

/** Every decision that is known, in the memory and in the files of the project; nothing when the memory cannot be asked. */
async function remembered(
  context: Context,
  project: string | undefined,
): Promise<{ decision: string; agent: string; date: string }[] | undefined> {
  try {
    const { entries } = await (await context.memory(project)).browse('decisions');
    return entries.map(({ entry, dated }) => ({
      decision: entry.text,
      agent: entry.agent,
      date: dated ? localDay(new Date(entry.createdAt)) : '',
    }));
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    context.log.info(`no memories for the contract: ${error.message}`);
    return undefined;
  }
}
