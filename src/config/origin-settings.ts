import * as z from 'zod';
import { meta, PERSONAL, settingMeta } from './setting-meta.ts';

/** Which origin something is served from when several have it: whom to trust first is for a person to say. */
export const originSettings = {
  originOrder: entries(
    'Order of origins, the first wins: project, cli, env, user, git, package, or the name of one. Those not named follow as usual.',
    'origins',
    'Order of origins',
  ),
  prefer: entries(
    'Origin to use for one agent, workflow or module, whatever the order: "analyst=package", "bmm=user".',
    'name=origin',
    'Preferred origins',
  ),
};

function entries(description: string, placeholder: string, summary: string) {
  return z
    .array(z.string().min(1).max(300))
    .max(200)
    .default([])
    .describe(description)
    .register(settingMeta, meta(placeholder, summary, { ...PERSONAL, separator: ',' }));
}
