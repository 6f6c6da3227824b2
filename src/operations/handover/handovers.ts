import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { localDay, fenced } from '../../base/text/text.ts';
import { plural, t } from '../../base/text/message.ts';
import { present } from '../../base/values.ts';
import type { Context, ProjectState } from '../context.ts';
import { projectField, textUpTo } from '../fields.ts';
import { askedBy } from '../offers.ts';
import { type Answer, defineOperation } from '../operation.ts';

const contractIdField = textUpTo(200).describe('Exact id, e.g. vision-to-build-2026-11-15');

const findingSchema = z.object({
  level: z.enum(['error', 'warning']),
  message: z.string(),
  line: z.int().optional(),
});

const handoverView = z.object({
  contract_id: z.string(),
  file: z.string(),
  status: z.string(),
  from_team: z.string(),
  to_team: z.string(),
  date: z.string(),
  signed_by: z.string(),
  artefacts: z.int(),
  open_questions: z.int(),
  /** Who has answered it last, and why. */
  answered_by: z.string().optional(),
  reason: z.string().optional(),
  /** Stands for its whole text. */
  digest: z.string(),
});
export type HandoverView = z.output<typeof handoverView>;

type Handovers = Awaited<ReturnType<ProjectState['handovers']>>['contracts'];
type KeptHandover = Awaited<ReturnType<Handovers['get']>>;

export function contractData({ id, file, contract, status, digest, answer }: KeptHandover): HandoverView {
  return {
    contract_id: id,
    file,
    status: status ?? 'unknown',
    from_team: contract.from ?? '',
    to_team: contract.to ?? '',
    date: contract.date ?? '',
    signed_by: contract.signedBy ?? '',
    artefacts: contract.artefacts.length,
    open_questions: contract.questions.filter(({ open }) => open).length,
    ...present({ answered_by: answer?.by, reason: answer?.reason }),
    digest,
  };
}

export function contractLine({ contract_id, status, file }: HandoverView): string {
  return t`- ${contract_id}: ${status} (${file})`;
}

export function findingLines(findings: readonly z.output<typeof findingSchema>[]): string[] {
  return findings.map(
    ({ level, message, line }) => t`- ${level}${line === undefined ? '' : t` in line ${line}`}: ${message}`,
  );
}

const answered = z.object({ contract: handoverView, findings: z.array(findingSchema) });
const byField = textUpTo(200).optional().describe('Who answers; default: the team that receives it');

export const deliveryList = defineOperation({
  name: 'delivery_list',
  title: 'List delivery contracts',
  description: "The project's delivery contracts and their status.",
  effect: 'read',
  behind: { manage_project: 'delivery_list' },
  command: 'delivery list',
  examples: ['delivery list'],
  input: z.strictObject({ project: projectField }),
  output: z.object({ contracts: z.array(handoverView), problems: z.array(z.string()) }),
  async run(_input, context) {
    const { contracts } = await (await context.state()).handovers();
    const { contracts: kept, problems } = await contracts.all();
    return { contracts: kept.map(contractData), problems };
  },
  render: ({ contracts, problems }) => ({
    body: [
      contracts.length === 0 ? t`There are no delivery contracts.` : contracts.map(contractLine).join('\n'),
      ...problems.map((problem) => t`Problem: ${problem}`),
    ].join('\n'),
    steps:
      contracts.length === 0
        ? [{ operation: 'create_delivery_contract', open: ['from_team', 'to_team'], why: t`Write one` }]
        : [],
  }),
});

export const deliveryValidate = defineOperation({
  name: 'delivery_validate',
  title: 'Check a delivery contract',
  description: 'Whether everything a contract promises exists and no critical question is open.',
  effect: 'read',
  behind: { manage_project: 'delivery_validate' },
  command: 'delivery validate',
  picks: { contract_id: 'contract' },
  positional: ['contract_id'],
  input: z.strictObject({ contract_id: contractIdField, project: projectField }),
  output: answered.extend({ valid: z.boolean() }),
  async run({ contract_id }, context) {
    const { contracts } = await (await context.state()).handovers();
    const kept = await contracts.get(contract_id);
    return { contract: contractData(kept), ...(await contracts.validate(kept)) };
  },
  render: ({ contract, valid, findings }) => ({
    body: [
      `${contract.contract_id} (${contract.status}) ${valid ? t`is complete.` : t`is not complete:`}`,
      ...findingLines(findings),
      t`Digest: ${contract.digest}`,
    ].join('\n'),
  }),
  failed: ({ valid }) => !valid,
});

type Answered = z.output<typeof answered>;

function answerData(
  kept: Parameters<typeof contractData>[0] & { validation: Pick<Answered, 'findings'> },
): Answered {
  return { contract: contractData(kept), findings: kept.validation.findings };
}

function answerText({ contract, findings }: Answered): Answer {
  return { body: [contractLine(contract), ...findingLines(findings)].join('\n') };
}

/** A command and nothing else: the model that wrote a contract must not accept it for the team that receives it. */
export const deliveryAccept = defineOperation({
  name: 'delivery_accept',
  title: 'Accept a delivery contract',
  description:
    'Accept a complete contract on behalf of the receiving team: exactly the text with this digest.',
  effect: 'write',
  writes: ({ digest }) => digest !== undefined,
  command: 'delivery accept',
  reviews: true,
  forPeople: true,
  positional: ['contract_id'],
  input: z.strictObject({
    contract_id: contractIdField,
    by: byField,
    digest: z
      .string()
      .regex(/^[0-9a-f]{16}$/, 'Expected the 16 digits that "delivery validate" gives.')
      .optional()
      .describe('Of the text you accept; without it, you are shown the text and nothing changes'),
    project: projectField,
  }),
  output: answered.extend({ accepted: z.boolean(), text: z.string().optional() }),
  async run({ contract_id, by, digest }, context, call) {
    const { contracts } = await (await context.state()).handovers();
    if (digest === undefined) {
      const kept = await contracts.get(contract_id);
      const { findings } = await contracts.validate(kept);
      return { contract: contractData(kept), findings, accepted: false, text: kept.text };
    }
    const answer = { status: 'accepted', by, digest, via: askedBy(call) } as const;
    return { ...answerData(await contracts.answer(contract_id, answer, call.signal)), accepted: true };
  },
  failed: ({ accepted }) => !accepted,
  render: ({ contract, findings, text }) =>
    text === undefined
      ? answerText({ contract, findings })
      : {
          body: [
            contractLine(contract),
            ...findingLines(findings),
            '',
            fenced(text, 'markdown'),
            t`Digest: ${contract.digest}`,
          ].join('\n'),
          asStored: true,
          note: t`Nothing is accepted yet. What is shown was written by others; read all of it.`,
          steps: findings.some(({ level }) => level === 'error')
            ? []
            : [
                {
                  operation: 'delivery_accept',
                  args: { contract_id: contract.contract_id, digest: contract.digest },
                  why: t`Accept exactly this`,
                },
              ],
        },
});

export const deliveryReject = defineOperation({
  name: 'delivery_reject',
  title: 'Reject a delivery contract',
  description: 'Reject a contract with a reason, or ask to renegotiate it.',
  effect: 'write',
  behind: { manage_project: 'delivery_reject' },
  command: 'delivery reject',
  picks: { contract_id: 'contract' },
  forPeople: true,
  positional: ['contract_id', 'reason'],
  input: z.strictObject({
    contract_id: contractIdField,
    reason: z.string().trim().min(1).max(2_000).describe('What is missing or wrong'),
    renegotiate: z
      .boolean()
      .default(false)
      .describe('Ask for a new version instead of rejecting it for good'),
    by: byField,
    project: projectField,
  }),
  output: answered,
  async run({ contract_id, reason, renegotiate, by }, context, call) {
    const { contracts } = await (await context.state()).handovers();
    const status = renegotiate ? 'renegotiating' : 'rejected';
    // A model may say what is missing; no person has decided anything by it.
    const via = call.typed === true || call.person === true ? askedBy(call) : undefined;
    return answerData(await contracts.answer(contract_id, { status, by, reason, via }, call.signal));
  },
  render: answerText,
});

const TEAM = /^[a-z0-9][a-z0-9-]{0,39}$/;
const teamField = z
  .string()
  .trim()
  .toLowerCase()
  .transform((name) => name.replace(/^team-/, ''))
  .pipe(z.string().regex(TEAM, 'Letters, digits and "-", e.g. vision, build, ops.'));
const texts = z.array(textUpTo(2_000)).max(100);

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
    run_id: textUpTo(200)
      .optional()
      .describe('Run whose artefacts are delivered; default: the latest finished'),
    branch: textUpTo(100).optional().describe('Session branch of the run'),
    artefacts: z.array(textUpTo(500)).max(200).default([]).describe('Paths'),
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
    const { from_team, to_team, signed_by, run_id, branch, artefacts, questions } = input;
    const state = await context.state();
    const desk = await state.handovers();
    const known = await remembered(context);
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
): Promise<{ decision: string; agent: string; date: string }[] | undefined> {
  try {
    const { entries } = await (await context.memory()).browse('decisions');
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
