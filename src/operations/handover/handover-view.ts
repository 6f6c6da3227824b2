import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import type { ProjectState } from '../context.ts';

/** Fields and words that the operations about delivery contracts share. */

export const contractIdField = z
  .string()
  .min(1)
  .max(200)
  .describe('Exact id, e.g. vision-to-build-2026-11-15');

export const findingSchema = z.object({
  level: z.enum(['error', 'warning']),
  message: z.string(),
  line: z.int().optional(),
});

export const handoverView = z.object({
  contract_id: z.string(),
  file: z.string(),
  status: z.string(),
  from_team: z.string(),
  to_team: z.string(),
  date: z.string(),
  signed_by: z.string(),
  artefacts: z.int(),
  open_questions: z.int(),
  /** Stands for its whole text. */
  digest: z.string(),
});
export type HandoverView = z.output<typeof handoverView>;

type Handovers = Awaited<ReturnType<ProjectState['handovers']>>['contracts'];
type KeptHandover = Awaited<ReturnType<Handovers['get']>>;

export function contractData({ id, file, contract, status, digest }: KeptHandover): HandoverView {
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
