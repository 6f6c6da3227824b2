import { shortName } from '../../model/record.ts';
import type { Activation } from '../context.ts';

const STEP_FILE = /\/(steps[\w-]*)\/step-(\d+)([a-z]?)-[^/]+\.md$/;

/**
 * The file of the next step of a document in progress, if this is the workflow that writes it. Without it, a model would
 * begin with the first step again.
 */
export function nextStepFile(
  { record, material: { files, further } }: Activation,
  { kind, nextStep }: { kind: string; nextStep?: number | undefined },
): string | undefined {
  // There are several kinds of research, and one word for their documents.
  if (nextStep === undefined || kind === 'research' || !shortName(record.name).includes(kind))
    return undefined;
  const [main] = files;
  const steps = further.flatMap((uri) => {
    const [, folder, number, part] = STEP_FILE.exec(uri) ?? [];
    return main?.text.includes(`${folder ?? ''}/`) === true ? [{ uri, number: Number(number), part }] : [];
  });
  // Whether the parts of the last step that is marked have been done, the number does not say.
  if (steps.some(({ number, part }) => number === nextStep - 1 && part !== '')) return undefined;
  const found = steps.filter(({ number, part }) => number === nextStep && part === '');
  return found.length === 1 ? found[0]?.uri : undefined;
}
