import { expect, it } from 'vitest';
import { isPlain, startPremises } from './start-premises.ts';

const start = (platform: NodeJS.Platform, env: Record<string, string>) => ({
  env,
  platform,
  cwd: '/no/such/folder',
  home: '/no/such/home',
  args: [],
  programs: [],
});

it.each([
  ['win32', 'bmad_tools', ['BMAD_TOOLS', 'bmad']],
  ['win32', 'BMAD_TOOLS', ['BMAD_TOOLS', 'bmad']],
  ['linux', 'bmad_tools', undefined],
] as const)('knows a variable as %s finds it: %s', (platform, name, told) => {
  const here = start(platform, { [name]: 'bmad' });
  const premises = startPremises(here);
  if (premises === undefined) throw new Error('There is a secret.');
  expect((premises.values.at(-1) as unknown[])[0]).toEqual(told);
  expect(isPlain(here, premises, [])).toBe(told === undefined);
});

it('keeps nothing where a secret is given, however its name is spelled', () => {
  const secret = { bmad_git: 'git+https://me:token@example.com/a/b.git' };
  expect(startPremises(start('win32', secret))).toBeUndefined();
});
