import type { VNode } from 'preact';
import type { Next } from '../answers.ts';
import { words } from '../words.ts';
import { Bar, Proofs } from './texts.tsx';
import { inLine } from './visible.ts';

const SHARE: Readonly<Record<string, number>> = { complete: 1, 'in progress': 0.5 };

/** How far the project is, each phase with the file and line that prove it. */
export function Phases({ next: { phases, totals, names } }: { next: Next }): VNode | null {
  const { next } = words.value;
  if (phases.length === 0) return null;
  return (
    <div class="phases">
      {phases.map(({ phase, state, evidence }) => {
        const name = inLine(names[phase] ?? phase);
        const says = inLine(names[state] ?? state);
        const counted = phase === 'implementation' && totals.stories > 0;
        return (
          <section class="phase" key={phase} aria-label={`${name}: ${says}`}>
            <strong>{name}</strong>
            <span>{counted ? next.lead(totals.done, totals.stories) : says}</span>
            <Proofs evidence={evidence.slice(0, 1)} />
            <Bar
              done={counted ? totals.done : (SHARE[state] ?? 0)}
              all={counted ? totals.stories : 1}
              label={`${name}: ${says}`}
            />
          </section>
        );
      })}
    </div>
  );
}
