import { t } from '../../base/text/message.ts';
import { posix } from 'node:path';
import { quoted } from '../../base/errors.ts';
import { expected, ours } from '../../base/expected.ts';
import { readInside } from '../../base/files/files.ts';
import { HANDOVER_STATES, type Handover } from './document.ts';

interface Finding {
  level: 'error' | 'warning';
  message: string;
  line?: number | undefined;
}

export interface Validation {
  valid: boolean;
  findings: Finding[];
}

const ARTEFACT_BYTES = 50_000_000;
const MANY_ARTEFACTS = 15;

/** Whether a contract is complete: what it promises is there, and nothing that matters is open. */
export async function validateHandover(root: string, contract: Handover, stem: string): Promise<Validation> {
  const findings: Finding[] = contract.problems.map((message) => ({ level: 'error', message }));
  const add = (level: Finding['level'], message: string, line?: number): void => {
    findings.push({ level, message, ...(line === undefined ? {} : { line }) });
  };
  for (const [name, value] of [
    ['from_team', contract.from],
    ['to_team', contract.to],
    ['date', contract.date],
    ['signed_by', contract.signedBy],
  ] as const)
    if (value === undefined) add('error', t`${name} is missing from the front matter.`);
  if (contract.status === undefined || !(HANDOVER_STATES as readonly string[]).includes(contract.status))
    add(
      'error',
      t`${contract.status === undefined ? t`There is no status` : t`${quoted(contract.status)} is not a status`}, so no one has answered it. The status must be one of ${HANDOVER_STATES.join(', ')}.`,
    );
  if (contract.id !== undefined && contract.id !== stem)
    add('warning', `contract_id is ${contract.id}, but the file is called ${stem}.`);
  for (const { text, line } of contract.unfilled) add('error', t`${text} has not been filled in.`, line);
  const required = contract.artefacts.filter((artefact) => artefact.required);
  if (required.length === 0) add('error', t`No required artefact is listed: there is nothing to deliver.`);
  if (contract.artefacts.length > MANY_ARTEFACTS)
    add('warning', t`${contract.artefacts.length} artefacts: consider splitting the contract in two.`);
  for (const { name, path, required: needed, line } of contract.artefacts) {
    const level = needed ? 'error' : 'warning';
    if (path === undefined) add(level, t`${name}: no path given.`, line);
    else {
      const problem = await missing(root, path);
      if (problem !== undefined) add(level, `${name}: ${path} ${problem}.`, line);
    }
  }
  for (const { question, critical, open, line } of contract.questions)
    if (open)
      add(critical ? 'error' : 'warning', t`Open${critical ? t` and critical` : ''}: ${question}`, line);
  if (contract.decisions === 0) add('warning', t`No key decisions are listed.`);
  return { valid: !findings.some(({ level }) => level === 'error'), findings };
}

async function missing(root: string, path: string): Promise<string | undefined> {
  const inner = posix.normalize(path.replace(/^\{project-root\}\//, ''));
  if (inner.startsWith('..')) return t`is outside the project`;
  return readInside(root, inner, ARTEFACT_BYTES)
    .then(({ length }) => (length === 0 ? t`is empty` : undefined))
    .catch(ours(() => undefined, 'too_large'))
    .catch(ours(() => t`does not exist`, 'not_found'))
    .catch(expected(() => t`is outside the project or is not a file`));
}
