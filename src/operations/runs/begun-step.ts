import { t } from '../../base/text/message.ts';
import type { RunData } from './run-view.ts';

interface At {
  resume_step?: number | undefined;
  last_step?: string | undefined;
}

/** A step counts once its last part is done: after 2 and 2b, where 2c follows, step 2 has been begun. */
export function begunText({ resume_step: step, last_step: last }: At): string {
  const name = last?.replaceAll('\\', '/').split('/').at(-1) ?? '';
  const digits = /^(?:step)?[\s_-]?(?:[a-z]-)?(\d{1,6})/i.exec(name)?.[1];
  return step !== undefined && Number(digits) === step ? t`, step ${step} begun` : '';
}

type Begun = Pick<RunData, 'workflow' | 'workflow_path' | 'served' | 'served_instead'>;

/** Whether a run was begun under a name that another version has, or with a file that is not here. */
export function isOtherVersion({ workflow, served, served_instead: isOther }: Begun): boolean {
  return served !== undefined && (isOther === true || (workflow !== undefined && served !== workflow));
}

export function otherVersionNote(run: Begun): string[] {
  if (!isOtherVersion(run)) return [];
  const begun = run.workflow ?? run.workflow_path;
  return [
    t`It was begun as ${begun ?? t`another`}, and ${run.served ?? ''} may number its steps differently: compare what is done before you continue.`,
  ];
}
