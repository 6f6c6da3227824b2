import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { ours } from '../../base/errors.ts';
import { MASK, stripAddressCredentials } from '../../base/secrets/rules.ts';
import { isSecretName } from '../../base/secrets/names.ts';
import { cell } from '../../base/text/text.ts';
import { agentToolNames, AGENT_TOOL_LIMIT } from '../activation/agent-tools.ts';
import type { Context } from '../context.ts';
import { defineOperation } from '../operation.ts';

export const configShow = defineOperation({
  name: 'config_show',
  title: 'Show the configuration',
  description:
    'Show every setting with its value and where it comes from, and which tools are offered and why.',
  effect: 'read',
  command: 'config show',
  forPeople: true,
  examples: ['config show'],
  input: z.strictObject({}),
  output: z.object({
    settings: z.array(z.object({ name: z.string(), value: z.string(), from: z.string() })),
    project: z.object({ root: z.string().optional(), from: z.string() }),
    bmad: z
      .array(z.object({ name: z.string(), value: z.string(), from: z.string() }))
      .describe("What the project's files set of BMAD's own configuration"),
    tools: z.array(
      z.object({ name: z.string(), toolset: z.string(), offered: z.boolean(), why: z.string() }),
    ),
    /** What has to be said about the tools of agents. */
    agentTools: z.string(),
    warnings: z.array(z.string()),
  }),

  async run(_input, context) {
    const project = await context.describeProject();
    return {
      settings: Object.entries(context.configFrom).map(([name, from]) => {
        const value = context.config[name as keyof typeof context.config];
        return {
          name: context.settingKeys[name] ?? name,
          // A key may be too short to be known as a secret everywhere; here it is never shown.
          value: value !== undefined && isSecretName(name) ? MASK : context.secrets.redact(valueText(value)),
          from: String(from),
        };
      }),
      project: { from: String(project.from), ...(project.root === undefined ? {} : { root: project.root }) },
      bmad: await bmadRows(context),
      ...(await toolRows(context)),
      warnings: [...context.configWarnings],
    };
  },

  render({ settings, project, bmad, tools, agentTools, warnings }) {
    const rowsOf = (some: typeof settings): string[] =>
      some.map(({ name, value, from }) => `| ${name} | ${cell(value)} | ${cell(from)} |`);
    const toolLines = tools.map(
      ({ name, toolset, offered, why }) =>
        `| ${name} | ${toolset} | ${offered ? t`yes` : t`no`} | ${cell(why)} |`,
    );
    const lines = [
      t`| setting | value | from |`,
      '|---|---|---|',
      ...rowsOf(settings),
      '',
      t`Project in use: ${project.root ?? t`none`} (${project.from})`,
      '',
      ...(bmad.length === 0
        ? []
        : [t`| the project's BMAD | value | from |`, '|---|---|---|', ...rowsOf(bmad), '']),
      t`| tool | toolset | offered | decided by |`,
      '|---|---|---|---|',
      ...toolLines,
      '',
      agentTools,
    ];
    return { body: [...lines, ...warnings.map((warning) => t`Warning: ${warning}`)].join('\n') };
  },
});

/** Addresses may have credentials in them, also malformed ones. */
function valueText(value: Config[keyof Config]): string {
  const text = [value ?? []]
    .flat()
    .map((entry) => stripAddressCredentials(String(entry)))
    .join(', ');
  return text === '' ? t`(not set)` : text;
}

/** The same values, from the same files, as agents and workflows are started with; nothing without a usable project. */
async function bmadRows(context: Context): Promise<{ name: string; value: string; from: string }[]> {
  const settings = await context
    .workspace()
    .then(({ delivery }) => delivery.projectSettings())
    .catch(ours(() => []));
  return settings.map(({ name, value, file, line }) => ({
    name,
    value: context.secrets.redact(value),
    from: `${file}${line === undefined ? '' : `:${line}`}`,
  }));
}

type Config = Context['config'];
type ToolRow = { name: string; toolset: string; offered: boolean; why: string };

/** The fixed tools always; those of agents only where one may be offered, because the content has to be read for them. */
async function toolRows(context: Context): Promise<{ tools: ToolRow[]; agentTools: string }> {
  const { tools } = context;
  const row = (tool: Parameters<typeof tools.of>[0]): ToolRow => {
    const { offered, why } = tools.of(tool);
    return { name: tool.name, toolset: tool.toolset ?? '', offered, why: String(why) };
  };
  const fixed = tools.fixed.map(row);
  if (!tools.agents) {
    const { why } = tools.of({ name: '', toolset: 'agents', effect: 'read' });
    return { tools: fixed, agentTools: t`Agent tools: none, by ${why}.` };
  }
  const names = [...agentToolNames(await context.workspace(), context).keys()];
  const rows = names.map((name) => row({ name, toolset: 'agents', effect: 'read' }));
  const offered = rows.filter((each) => each.offered).length;
  const rest =
    offered > AGENT_TOOL_LIMIT
      ? t` Only ${AGENT_TOOL_LIMIT} are listed; to choose them, name them in "tools".`
      : '';
  return {
    tools: [...fixed, ...rows.slice(0, AGENT_TOOL_LIMIT)],
    agentTools: t`Agent tools: ${offered} of ${plural(rows.length, 'agent')}.${rest}`,
  };
}
