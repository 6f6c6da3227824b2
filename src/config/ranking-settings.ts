import * as z from 'zod';
import { intBetween, meta, PERSONAL, settingMeta } from './setting-meta.ts';

/** How agents and workflows are put in order, and what is noted for it. */
export const rankingSettings = {
  usage: z
    .boolean()
    .default(true)
    .describe(
      'Record on this machine, per project, which agents and workflows were started and when, and rank those first. Names and times only; nothing is sent anywhere.',
    )
    .register(settingMeta, { ...PERSONAL, summary: 'Record starts, for ranking' }),
  boost: z
    .array(z.string().min(1).max(300))
    .max(200)
    .default([])
    .describe('Agents, workflows or modules to rank first, by name: "bmm/bmad-prd", "architect", "bmm".')
    .register(settingMeta, meta('names', 'What to rank first', { rare: true, separator: ',' })),
  rankHalfLife: z
    .number()
    .min(0.01)
    .max(36_500)
    .default(14)
    .describe('Days after which a start counts half as much.')
    .register(settingMeta, meta('days', 'Half-life of recency', { rare: true })),
  rankRecency: weight('recency', 35, 'how recently something was started'),
  rankFrequency: weight('frequency', 25, 'how often something was started'),
  rankManifest: weight('manifest', 15, 'what the manifests say about something'),
  rankBoost: weight('boost', 25, 'being named in the setting boost'),
  rerank: z
    .boolean()
    .default(true)
    .describe(
      'Ask the client’s model which candidate is meant when several are left and the client supports it.',
    )
    .register(settingMeta, { ...PERSONAL, summary: 'Ask the client’s model to choose' }),
  rerankMs: intBetween(1, 120_000)
    .default(10_000)
    .describe('How long the client’s model may take; later answers are ignored.')
    .register(settingMeta, meta('ms', 'Time limit for the client’s model', { rare: true })),
};

function weight(signal: string, preset: number, meaning: string) {
  return z
    .number()
    .min(0)
    .max(1_000)
    .default(preset)
    .describe(`Weight of ${meaning} in the ranking.`)
    .register(settingMeta, meta('weight', `Weight of ${signal}`, { rare: true }));
}
