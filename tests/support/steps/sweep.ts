import * as z from 'zod';
import { operations } from '../../../src/operations/index.ts';
import type { AnyOperation } from '../../../src/operations/operation.ts';
import type { PrintedStep } from './printed.ts';
import { sampleOf } from './samples.ts';
import { countStep, type Surface } from './surfaces.ts';

interface Property {
  type?: string;
  enum?: string[];
}

/** Inputs that keep a call from starting what takes long or goes out of this machine. */
const CAUTIOUS: Readonly<Record<string, Record<string, unknown>>> = { doctor: { handshake: false } };
/** A first time costs seconds and says nothing about steps: models of embedders, remotes, programs of the project. */
const LEFT_OUT = new Set(['run_completion_contract', 'memory_reindex', 'sources_resolve']);

/**
 * Nothing, something unknown, what is required, and each argument as nobody should give it; `briefly`, only names of
 * things that do not exist.
 */
function inputsFor(operation: AnyOperation, briefly: boolean): Record<string, unknown>[] {
  const schema = z.toJSONSchema(operation.input, { io: 'input' });
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Property>);
  const isNeeded = (name: string): boolean =>
    (schema.required ?? []).includes(name) || operation.needsOneOf?.[0] === name;
  const needed = properties.filter(([name]) => isNeeded(name));
  const plain = {
    ...Object.fromEntries(needed.map(([name, property]) => [name, sensible(name, property)])),
    ...CAUTIOUS[operation.name],
  };
  return [
    {},
    { nonsense: 1 },
    // Where nothing is needed, it has been asked already.
    ...(Object.keys(plain).length === 0 ? [] : [plain]),
    ...properties.flatMap(([name, property]) =>
      (briefly ? unknownNames(name, property) : wrong(name, property)).map((value) => ({
        ...plain,
        [name]: value,
      })),
    ),
  ];
}

function sensible(name: string, { type, enum: choices }: Property): unknown {
  if (choices !== undefined) return choices.find((each) => each === sampleOf(name)) ?? choices[0];
  const known = sampleOf(name);
  if (known !== undefined) return type === 'array' ? [known].flat() : known;
  return (
    { integer: 1, number: 1, boolean: true, array: ['something'], object: {} }[type ?? ''] ?? 'something'
  );
}

function wrong(name: string, { type, enum: choices }: Property): unknown[] {
  if (choices !== undefined) return ['no-such-choice', choices.at(-1)];
  if (type === 'boolean') return name === 'handshake' ? [] : [true];
  if (type === 'integer' || type === 'number') return [-1, 100_000];
  if (type === 'array') return [['no/such/thing']];
  return name === 'uri' || name === 'target'
    ? ['no/such/file.md', '../x', 'bmad://core']
    : ['no-such-thing', ''];
}

/** What is kept or searched for as it is given, whatever it says. */
const FREE_TEXTS = new Set(
  'change context duration error fix impact lesson message purpose reason result root_cause rule signed_by summary text title what_happened worker'.split(
    ' ',
  ),
);

/** A thing that is not there, for an argument that names one. */
function unknownNames(name: string, property: Property): unknown[] {
  const isName = property.type === 'string' && property.enum === undefined && !FREE_TEXTS.has(name);
  return isName && !['project', 'cursor', 'detail'].includes(name) ? wrong(name, property).slice(0, 1) : [];
}

/** What happened in a sweep. */
export interface Swept {
  asked: number;
  /** Different steps that were taken, by what they call and which arguments they have. */
  taken: Map<string, string>;
  /** Those that led nowhere, with what printed them. */
  nowhere: string[];
}

/** Asks for everything with all sorts of input, and takes each kind of step that an answer or an error recommends. */
export async function sweep(surface: Surface, { briefly = false } = {}): Promise<Swept> {
  const swept = emptySweep();
  for (const operation of operations) {
    if (LEFT_OUT.has(operation.name)) continue;
    for (const input of inputsFor(operation, briefly)) {
      const text = await surface.ask(operation, input).catch((error: unknown) => String(error));
      if (text === undefined) break;
      swept.asked += 1;
      await takeSteps(surface, text, `${operation.name} ${JSON.stringify(input)}`, swept);
    }
  }
  return swept;
}

export function emptySweep(): Swept {
  return { asked: 0, taken: new Map(), nowhere: [] };
}

/** Takes the steps of a text, each kind once. */
export async function takeSteps(
  surface: Pick<Surface, 'name' | 'stepsIn' | 'take'>,
  text: string,
  from: string,
  { taken, nowhere }: Swept,
): Promise<void> {
  for (const step of surface.stepsIn(text)) {
    const kind = kindOf(step);
    if (taken.has(kind) || step.text.includes('run_completion_contract')) continue;
    taken.set(kind, step.text);
    countStep(step);
    const why = await surface.take(step);
    if (why !== undefined) nowhere.push(`${surface.name}: ${step.text}\n  ${why}\n  printed by ${from}`);
  }
}

/** Steps are the same if they call the same with arguments of the same names. */
function kindOf({ kind, name, args, words = [] }: PrintedStep): string {
  const inner = args['args'];
  const names = [...Object.keys(args), ...Object.keys(typeof inner === 'object' ? (inner ?? {}) : {})];
  const which = [args['operation'], args['action'], args['what'], args['type']].filter(
    (word) => typeof word === 'string',
  );
  const flags = words.filter((word) => word.startsWith('--'));
  return [kind, name, ...which, ...names.sort(), ...flags, words.length].join(' ');
}
