import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fenced } from '../../base/text/text.ts';
import {
  contractData,
  contractIdField,
  contractLine,
  handoverView,
  findingLines,
  findingSchema,
} from './handover-view.ts';
import { projectField } from '../fields.ts';
import { askedBy } from '../for-people.ts';
import { defineOperation, type Answer } from '../operation.ts';

const answered = z.object({ contract: handoverView, findings: z.array(findingSchema) });
const byField = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe('Who answers; default: the team that receives it');

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
  async run({ project }, context) {
    const { contracts } = await (await context.state(project)).handovers();
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
  async run({ contract_id, project }, context) {
    const { contracts } = await (await context.state(project)).handovers();
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
  async run({ contract_id, by, digest, project }, context, call) {
    const { contracts } = await (await context.state(project)).handovers();
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
  async run({ contract_id, reason, renegotiate, by, project }, context, call) {
    const { contracts } = await (await context.state(project)).handovers();
    const status = renegotiate ? 'renegotiating' : 'rejected';
    // A model may say what is missing; no person has decided anything by it.
    const via = call.typed === true || call.person === true ? askedBy(call) : undefined;
    return answerData(await contracts.answer(contract_id, { status, by, reason, via }, call.signal));
  },
  render: answerText,
});
