import { say, t } from '../../base/text/message.ts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { BmadError, checkRead, expected, ours, quoted } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { listInside, readInside } from '../../base/files/files.ts';
import { shortDigest } from '../../base/values.ts';
import type { Step } from '../../base/step.ts';
import { localDay } from '../../base/text/text.ts';
import { conflictsIn, conflictText } from '../../base/text/diff.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { DecidedBy, Decision, Decisions } from '../../model/memory.ts';
import {
  type Handover,
  HANDOVER_STATES,
  type HandoverState,
  readHandover,
  validateHandover,
  type Validation,
} from './document.ts';
import { strayRefusal, type Kit } from '../../kit/kit.ts';
import { linedHandoffs, type LinedHandoff } from '../../kit/session/handoffs.ts';
import type { View } from '../../lines/view.ts';
import { answerIn, composeHandover, withStatus, type HandoverParts } from './compose.ts';
import { type AgentRequest, contextSections, requestsIn } from '../../kit/session/context-sections.ts';
import { decisionsIn } from '../../kit/memories/decisions.ts';
import { DECISIONS_FILE, SHARED_CONTEXT_FILE } from '../../kit/memories/entries.ts';
import { textToRead } from '../../kit/text.ts';
import { ENGLISH, languageOf, projectWording } from '../../kit/language.ts';
import type { Run, RunsReading } from '../../model/run.ts';

interface KeptHandover {
  id: string;
  /** From the top of the project. */
  file: string;
  contract: Handover;
  /** What it is worth on this machine, whatever its file says; nothing for a file that is no contract. */
  status: Standing | undefined;
  text: string;
  /** Stands for that text: to accept the one is to accept no other. */
  digest: string;
  answer: ReturnType<typeof answerIn>;
}

const CONTRACT_BYTES = 2_000_000;
const LOCK_WAIT_MS = 15_000;
const ENDING = '.md';
const nothing = ours(() => [], 'not_found');
const NEW_CONTRACT: Omit<Step, 'why'> = {
  operation: 'create_delivery_contract',
  open: ['from_team', 'to_team'],
};

export type HandoverDesk = ReturnType<typeof openHandovers>;

/** The contracts of a project: files in `contracts/` of its output folder. */
class Handovers {
  readonly #root: string;
  readonly #place: string | undefined;
  readonly #decisions: Decisions;

  constructor(root: string, folder: string | undefined, decisions: Decisions) {
    this.#root = root;
    this.#place = folder;
    this.#decisions = decisions;
  }

  /** The folder of the contracts. */
  get #folder(): string {
    if (this.#place !== undefined) return this.#place;
    throw new BmadError('unavailable', t`The project has no output folder for delivery contracts.`, {
      hint: t`Create a folder _bmad-output in the project, or install BMAD there, then try again.`,
    });
  }

  async all(): Promise<{ contracts: KeptHandover[]; problems: string[] }> {
    const contracts: KeptHandover[] = [];
    const problems: string[] = [];
    for (const id of await this.#ids()) {
      const read = await this.#read(id).catch(expected(({ message }) => void problems.push(message)));
      if (read !== undefined) contracts.push(read);
    }
    return { contracts, problems };
  }

  async #ids(): Promise<string[]> {
    if (this.#place === undefined) return [];
    return (await listInside(this.#root, this.#place).catch(nothing))
      .filter(({ name, kind }) => kind === 'file' && name.endsWith(ENDING))
      .map(({ name }) => name.slice(0, -ENDING.length));
  }

  async get(id: string): Promise<KeptHandover> {
    const names = await this.#ids();
    // One that is there and cannot be read says why.
    if (names.includes(id)) return this.#read(id);
    const ids = (await this.all()).contracts.map((kept) => kept.id);
    throw new BmadError('not_found', t`There is no delivery contract ${quoted(id)}.`, {
      subject: id.slice(0, 200),
      suggestions: nearest(id, ids),
      ...(ids.length === 0
        ? { steps: [{ ...NEW_CONTRACT, why: t`Create the first one` }] }
        : { hint: t`Contracts: ${ids.slice(-10).join(', ')}.` }),
    });
  }

  validate({ contract, id }: KeptHandover): Promise<Validation> {
    return validateHandover(this.#root, contract, id);
  }

  /** Writes a new contract. Others of the same day have other ids, also those made on another machine. */
  async create(
    parts: Omit<HandoverParts, 'id' | 'date'>,
  ): Promise<KeptHandover & { validation: Validation }> {
    await this.#refuseStray();
    const date = localDay(new Date());
    const id = `${parts.from}-to-${parts.to}-${date}-${randomBytes(3).toString('hex')}`;
    await replaceShared(this.#root, this.#file(id), composeHandover({ ...parts, id, date }));
    const kept = await this.#read(id);
    return { ...kept, validation: await this.validate(kept) };
  }

  /**
   * What the team that receives says. Only a complete contract can be accepted, and what was accepted stays so. A person's
   * decision is kept first: it is what counts here, and the file tells the other team of it.
   */
  async answer(
    id: string,
    answer: {
      status: Exclude<HandoverState, 'pending-acceptance'>;
      by: string | undefined;
      reason?: string | undefined;
      /** Of the text that was read: nobody accepts another. */
      digest?: string | undefined;
      /** How a person was asked; a model may only say what is missing. */
      via?: DecidedBy | undefined;
    },
    signal: AbortSignal,
  ): Promise<KeptHandover & { validation: Validation }> {
    return this.#locked(signal, async () => {
      const kept = await this.get(id);
      const { text, digest, contract } = kept;
      const accepts = answer.status === 'accepted';
      const validation = await this.validate(kept);
      if (contract.status === answer.status && kept.status === answer.status) return { ...kept, validation };
      if (kept.status === 'rejected' || (kept.status === 'accepted' && !accepts))
        throw new BmadError('conflict', t`${id} is ${say(kept.status)} already.`, {
          subject: id,
          hint: t`An agreed contract does not change.`,
          steps: [{ ...NEW_CONTRACT, why: t`Create a new contract` }],
        });
      // What was accepted before, or elsewhere, may have moved on since: a person confirms it all the same.
      if (accepts && contract.status !== 'accepted' && !validation.valid) {
        const first = validation.findings.filter(({ level }) => level === 'error').slice(0, 3);
        throw new BmadError('conflict', t`${id} is not complete and cannot be accepted.`, {
          subject: id,
          hint: t`${first.map(({ message }) => message).join(' ')} Correct the file, or reject the contract.`,
        });
      }
      if (accepts || answer.digest !== undefined) checkRead(id, answer.digest ?? '', digest);
      const isTold = contract.status === answer.status;
      const told = isTold ? text : withStatus(text, { ...answer, at: localDay(new Date()) });
      if (answer.via !== undefined)
        await this.#decisions.decide({
          kind: 'delivery',
          id,
          digest,
          yes: accepts,
          by: answer.by ?? contract.to ?? '',
          via: answer.via,
          parts: { answered: shortDigest(told), status: answer.status },
        });
      if (!isTold) await replaceShared(this.#root, this.#file(id), told);
      return { ...(await this.#read(id)), validation };
    });
  }

  async #read(id: string): Promise<KeptHandover> {
    const file = this.#file(id);
    const text = await this.#text(id);
    const conflicts = conflictsIn(text);
    // Nobody can accept a text that says two things.
    if (conflicts !== undefined)
      throw new BmadError('unavailable', `${conflictText(file, conflicts)}.`, {
        subject: file,
        hint: t`Resolve the conflict in the file, then try again.`,
      });
    const contract = readHandover(file, text);
    const digest = shortDigest(text);
    const status = standing(contract, digest, await this.#decisions.last('delivery', id));
    return { id, file, contract, status, text, digest, answer: answerIn(text) };
  }

  async #text(id: string): Promise<string> {
    return (await readInside(this.#root, this.#file(id), CONTRACT_BYTES)).toString('utf8');
  }

  #file(id: string): string {
    return `${this.#folder}/${id}${ENDING}`;
  }

  async #refuseStray(): Promise<void> {
    const stray = await strayRefusal(this.#root, this.#folder, t`no contract is written there`);
    if (stray !== undefined) throw stray;
  }

  async #locked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#refuseStray();
    const options = { waitMs: LOCK_WAIT_MS, signal, tidy: true, inside: this.#root };
    return withLock(join(this.#root, this.#folder, '.lock'), options, work);
  }
}

/** A contract says what was answered; whether somebody has accepted it here is kept with the user. */
type Standing = HandoverState | 'accepted elsewhere' | 'changed since it was accepted';

function standing(
  { status, id, from, to }: Handover,
  digest: string,
  decided: Decision | undefined,
): Standing | undefined {
  const isThis = decided !== undefined && [decided.digest, decided.parts?.['answered']].includes(digest);
  if (decided?.yes === true) return isThis ? 'accepted' : 'changed since it was accepted';
  if (status === 'accepted') return 'accepted elsewhere';
  // What a person has refused is not reopened by an edit that puts the old text back.
  const said = isThis ? decided?.parts?.['status'] : status;
  const known = HANDOVER_STATES.find((each) => each === said);
  // A word that is no status answers nothing.
  return known ?? ([id, from, to].some((each) => each !== undefined) ? 'pending-acceptance' : undefined);
}

/** A contract is for another team, so it lies in the project; one without an output folder has none and gets none. */
export function openHandovers(
  kit: Kit,
  decisions: Decisions,
  view: () => Promise<View>,
  runs: () => Promise<KnownRuns>,
) {
  const { root, output } = kit;
  return {
    contracts: new Handovers(root, output === undefined ? undefined : `${output}/contracts`, decisions),
    gather: async (choice: Choice) => gather(kit, choice, await linedHandoffs(await view()), await runs()),
  };
}

interface KnownDecision {
  decision: string;
  agent: string;
  /** The day; empty when nobody wrote it down. */
  date: string;
}

interface HandoverMaterial {
  run: Run | undefined;
  artefacts: { name: string; path: string }[];
  decisions: KnownDecision[];
  /** What agents have asked of each other and nobody has done. */
  requests: { question: string; critical: boolean; owner: string }[];
  /** The language of the project's own files. */
  language: 'fr' | 'en';
}

interface Choice {
  runId: string | undefined;
  branch: string | undefined;
  /** Whether, without a run, the latest finished one of the branch is meant. */
  takesLatest: boolean;
  /** What the memory knows was decided, newest first, the log of the project included; without it, the log alone. */
  known?: readonly KnownDecision[] | undefined;
}

/** The runs of the project as everybody sees them. */
interface KnownRuns {
  one(id: string, branch?: string): Promise<Run>;
  read(): Promise<RunsReading>;
}

const DECISIONS = 12;

/** What a run has produced and what the project has decided: the body of a contract. */
async function gather(
  kit: Kit,
  { known, ...choice }: Choice,
  handedOver: readonly LinedHandoff[],
  runs: KnownRuns,
): Promise<HandoverMaterial> {
  const run = await runOf(runs, choice);
  const shared = await textToRead(kit, SHARED_CONTEXT_FILE, []);
  return {
    run,
    artefacts: (run?.state?.artefacts ?? []).map(({ name, path, file }) => ({ name, path: file ?? path })),
    decisions: mostTelling(known ?? (await loggedDecisions(kit))),
    requests: openRequests([
      ...requestsIn(contextSections(shared ?? ''), (text) => text),
      ...handedOver.filter(({ inbox }) => inbox),
    ]),
    language: languageOf(shared, await projectWording(kit)) === ENGLISH ? 'en' : 'fr',
  };
}

function openRequests(requests: readonly AgentRequest[]): HandoverMaterial['requests'] {
  return requests
    .filter(({ done }) => !done)
    .map(({ from, to, text }) => ({
      question: `[${from} → ${to ?? '?'}] ${text}`,
      critical: false,
      owner: to ?? '?',
    }));
}

/** The run that came to its end last, in a branch that is not put away. */
function latestFinished({ branches }: RunsReading, branch: string): Run | undefined {
  return branches
    .filter(({ name, archive }) => name === branch && archive === undefined)
    .flatMap(({ runs }) => runs)
    .filter(({ status }) => status === 'completed')
    .sort((a, b) => b.latest - a.latest)[0];
}

async function runOf(
  runs: KnownRuns,
  { runId, branch, takesLatest }: Pick<Choice, 'runId' | 'branch' | 'takesLatest'>,
): Promise<Run | undefined> {
  if (runId !== undefined) return runs.one(runId, branch);
  if (!takesLatest) return undefined;
  const reading = await runs.read();
  return latestFinished(reading, branch ?? reading.current);
}

/** The latest decisions, those about the architecture first. */
function mostTelling(decisions: readonly KnownDecision[]): KnownDecision[] {
  const weight = ({ decision }: KnownDecision): number => (decision.includes('[ARCH]') ? 1 : 0);
  return decisions
    .map((each, index) => ({ each, index }))
    .sort(
      (a, b) =>
        weight(b.each) - weight(a.each) || b.each.date.localeCompare(a.each.date) || a.index - b.index,
    )
    .slice(0, DECISIONS)
    .map(({ each }) => each);
}

/** Those of the log, the last one first. */
async function loggedDecisions(kit: Kit): Promise<KnownDecision[]> {
  const entries = decisionsIn((await textToRead(kit, DECISIONS_FILE, [])) ?? '', DECISIONS_FILE);
  return entries
    .map((entry) => ({ decision: entry.text, agent: entry.agent, date: entry.date ?? '' }))
    .toReversed();
}
