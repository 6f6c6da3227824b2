import { t } from '../base/text/message.ts';
import { attempt, broken } from '../base/expected.ts';
import { parseYaml } from '../base/parse/parse.ts';
import { decodeText, encodingOf } from '../base/text/decode.ts';
import { behaviourOf } from '../model/format.ts';
import type { BmadRecord } from '../model/record.ts';

export interface FileFault {
  message: string;
  /** Nobody can follow such a file, so it is not started. */
  halts?: true;
}

/** What is wrong with the main file of a record, whatever generation it is of. */
export function fileFaults(
  record: Pick<BmadRecord, 'kind' | 'format' | 'bmadRelativePath'>,
  bytes: Uint8Array,
): FileFault[] {
  const { bmadRelativePath: file } = record;
  const text = decodeText(bytes);
  if (text.trim() === '') return [{ message: t`${file}: the file is empty`, halts: true }];
  const faults: FileFault[] = [];
  if (encodingOf(bytes) !== 'utf-8')
    faults.push({ message: t`${file}: the file is UTF-16; it is read, but other tools expect UTF-8` });
  const isYaml =
    /\.ya?ml$/i.test(file) && (behaviourOf(record).needsEngine === true || record.format === 'v4-workflow');
  if (isYaml) {
    const wrong = attempt(
      () => void parseYaml(file, text),
      broken((error) => error.message, file),
    );
    if (typeof wrong === 'string') faults.push({ message: wrong, halts: true });
  }
  return faults;
}
