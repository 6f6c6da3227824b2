import * as z from 'zod';
import { stripAddressCredentials } from '../base/secret-names.ts';
import { cell } from '../base/text.ts';
import { defineOperation } from './operation.ts';

/** Addresses may have credentials in them. */
function shown(value: unknown): string {
  const values = [value ?? []].flat().map((entry) => stripAddressCredentials(String(entry)));
  return values.length === 0 ? '(not set)' : values.join(', ');
}

export const configShow = defineOperation({
  name: 'config_show',
  title: 'Show the configuration',
  description: 'Show every setting, its value, and where the value comes from.',
  effect: 'read',
  command: 'config show',
  examples: ['config show'],
  input: z.strictObject({}),
  output: z.object({
    settings: z.array(z.object({ name: z.string(), value: z.string(), from: z.string() })),
    project: z.object({ root: z.string().optional(), from: z.string() }),
    warnings: z.array(z.string()),
  }),

  async run(_input, context) {
    const project = await context.describeProject();
    return {
      settings: Object.entries(context.configFrom).map(([name, from]) => {
        const value = context.config[name as keyof typeof context.config];
        return {
          name: context.settingKeys[name] ?? name,
          value: shown(value),
          from,
        };
      }),
      project: { from: project.from, ...(project.root === undefined ? {} : { root: project.root }) },
      warnings: [...context.configWarnings],
    };
  },

  render({ settings, project, warnings }) {
    const rows = settings.map(({ name, value, from }) => `| ${name} | ${cell(value)} | ${cell(from)} |`);
    const lines = [
      '| setting | value | from |',
      '|---|---|---|',
      ...rows,
      '',
      `Project in use: ${project.root ?? 'none'} (${project.from})`,
    ];
    return { body: [...lines, ...warnings.map((warning) => `Warning: ${warning}`)].join('\n') };
  },
});
