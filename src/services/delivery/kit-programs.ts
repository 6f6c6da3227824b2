import type { SayStep, Step } from '../../base/step.ts';

/** Programs that texts of the custom kit call, and what does their work here, on the same files. */
const INSTEAD: Readonly<Record<string, readonly Omit<Step, 'why'>[]>> = {
  'cc-verify.sh': [{ operation: 'run_completion_contract' }],
  'mem0-bridge.py': [
    { operation: 'recall_structured', args: { query: '…' } },
    { operation: 'remember_structured', args: { type: 'decisions', agent: '…', text: '…' } },
  ],
  'maintenance.py': [],
};

/** What to do where a text runs a program of the kit, which many projects do not have. */
export function kitProgramNotes(text: string, say: SayStep): string[] {
  return Object.entries(INSTEAD).flatMap(([name, steps]) => {
    if (!text.includes(name)) return [];
    return steps.length === 0
      ? [`\`${name}\` need not be run: the memory is kept in order here.`]
      : [`Instead of \`${name}\`: ${steps.map(say).join(', ')}.`];
  });
}
