import { expect, it } from 'vitest';
import { saying } from '../../base/step.ts';
import { withScriptLines } from './script-notes.ts';

const missing = new Map([['memlog.py', 'not here']]);
const told = (text: string): string =>
  withScriptLines(text, { place: undefined, missing }, saying(undefined));

it.each(['', '   '])('what a script does is told behind the code that runs it, indented by %j', (indent) => {
  const code = ['```bash', 'uv run x/memlog.py append', '```'].map((line) => `${indent}${line}`).join('\n');
  const text = `1. Log it:\n\n${code}\n\n2. Go on.\n\n\`\`\`json\n{}\n\`\`\`\n`;
  const lines = told(text).split('\n');
  const at = lines.findIndex((line) => line.startsWith('[Instead of `memlog.py`'));
  expect(lines[at - 1]).toBe(`${indent}\`\`\``);
  expect(lines[at - 2]).toContain('memlog.py append');
});

it('and behind its line where no code ends', () => {
  expect(told('```bash\nmemlog.py append\nmore')).toMatch(/^```bash\nmemlog\.py append\n\[Instead/);
});
