import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { defineOperation } from '../operation.ts';
import { stepsField } from '../fields.ts';
import { hostLines, isWell } from './doctor-hosts-text.ts';
import { hostsSchema } from './doctor-hosts-view.ts';

export const hostsShow = defineOperation({
  name: 'hosts_show',
  title: 'Show the hosts',
  description:
    'Which MCP hosts of this machine have an entry for this server, and whether it is in order. Nothing is started for it.',
  effect: 'read',
  command: 'hosts',
  forPeople: true,
  examples: ['hosts'],
  input: z.strictObject({}),
  output: z.object({ hosts: hostsSchema, steps: stepsField }),
  async run(_input, context, call) {
    const { checkedHosts } = await import('./doctor-hosts.ts');
    return checkedHosts(context, call, false);
  },
  failed: ({ hosts }) => !isWell(hosts),
  render: ({ hosts, steps }) => ({
    body: hostLines(hosts).join('\n'),
    note: t`${plural(hosts.filter(({ found }) => found === 'ours').length, 'host connected', 'hosts connected')}; nothing was started.`,
    steps: steps ?? [],
  }),
});
