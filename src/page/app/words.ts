import { computed } from '@preact/signals';
import { plural, t } from '../message.ts';

/** What the app that hosts show has by name. */
export const words = computed(() => ({
  kinds: { agents: t`Agents`, workflows: t`Workflows`, tasks: t`Tasks`, modules: t`Modules` },
  drift: (count: number) =>
    plural(
      count,
      'place where the project contradicts itself',
      'places where the project contradicts itself',
    ),
}));
