import { describe, expect, it } from 'vitest';
import { saying } from '../../base/step.ts';
import { kitProgramNotes } from './activation.ts';

describe('programs of the kit', () => {
  it('are replaced by calls of the server where a text runs them', () => {
    const text = 'bash _bmad/_config/custom/cc-verify.sh, then python mem0-bridge.py and maintenance.py';
    expect(kitProgramNotes(text, saying(undefined))).toEqual([
      'Instead of `cc-verify.sh`: run_completion_contract {}.',
      'Instead of `mem0-bridge.py`: recall_structured {query:"…"}, remember_structured {type:"decisions", agent:"…", text:"…"}.',
      '`maintenance.py` need not be run: the memory is kept in order here.',
    ]);
    expect(kitProgramNotes('You are a developer.', saying(undefined))).toEqual([]);
  });
});
