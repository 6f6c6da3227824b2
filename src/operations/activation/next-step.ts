import { shortName } from '../../model/record.ts';
import type { Activation } from '../context.ts';

const STEP_FILE = /\/(steps[\w-]*)\/step-(\d+)-[^/]+\.md$/;

/**
 * The file of the next step of a document in progress, if this is the workflow that writes it. Without it, a model would
 * begin with the first step again.
 */
export function nextStepFile(
  { record, material: { files, further } }: Activation,
  { kind, nextStep }: { kind: string; nextStep?: number | undefined },
): string | undefined {
  if (nextStep === undefined || !shortName(record.name).includes(kind)) return undefined;
  const [main] = files;
  const found = further.filter((uri) => {
    const [, folder, number] = STEP_FILE.exec(uri) ?? [];
    return Number(number) === nextStep && main?.text.includes(`${folder ?? ''}/`) === true;
  });
  return found.length === 1 ? found[0] : undefined;
}
