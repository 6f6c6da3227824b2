import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';

const SETUP: Step = { operation: 'setup', why: 'Connect this server to your hosts' };
const REMOVE: Step = { operation: 'remove', why: 'Disconnect it from them' };

/** What other programs call a command of ours. */
const OTHER_WORDS: Readonly<Partial<Record<string, Step>>> = {
  init: SETUP,
  install: SETUP,
  connect: SETUP,
  configure: SETUP,
  uninstall: REMOVE,
  disconnect: REMOVE,
};

/** The error for such a word, if nothing in the content is called by it. */
export function otherWord(word: string): BmadError | undefined {
  const step = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined;
  if (step === undefined) return undefined;
  return new BmadError(
    'not_found',
    t`There is no command ${quoted(word)}; the one for it is "${step.operation}".`,
    {
      subject: word,
      steps: [step],
    },
  );
}
