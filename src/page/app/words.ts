import { computed } from '@preact/signals';
import { plural, t } from '../message.ts';

/** Every word of the app that hosts show. */
export const words = computed(() => ({
  board: t`Next steps`,
  catalogue: t`Catalogue`,
  decision: t`Decision`,
  loading: t`Loading`,
  nothingLeft: t`Everything that was planned is done.`,
  optional: t`optional`,
  start: t`Start`,
  start_this: (what: string) => t`Start: ${what}`,
  sent: t`Sent to the conversation`,
  refused: t`The host did not take it. Type it in the conversation:`,
  stories: (done: number, all: number) => t`${done} of ${all} stories done`,
  more: (count: number) => t`${count} more`,
  drift: (count: number) =>
    plural(
      count,
      'place where the project contradicts itself',
      'places where the project contradicts itself',
    ),
  search: t`Search agents and workflows`,
  kinds: { agents: t`Agents`, workflows: t`Workflows`, tasks: t`Tasks`, modules: t`Modules` },
  none: t`Nothing found.`,
  total: (count: number) => t`${count} found`,
  showMore: t`Show more`,
  recommended: t`recommended`,
  evidence: t`Evidence`,
  choose: t`Choose`,
  notApproval: t`Your choice goes into the conversation as your message. It approves nothing: tasks, sources, deliveries and programs are approved with "bmad page" or in a terminal.`,
  retry: t`Try again`,
}));
