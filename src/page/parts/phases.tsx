import { t } from '../message.ts';
import type { VNode } from 'preact';
import type { Next } from '../answers.ts';
import { words } from '../words.ts';
import { placeText } from './texts.tsx';
import { inLine } from './visible.ts';

const SHARE: Readonly<Record<string, number>> = { complete: 1, 'in progress': 0.5 };

/** How far the project is, in one line; what proves it is said where one points at it. */
export function Phases({ next: { phases, totals, names } }: { next: Next }): VNode | null {
  const { next } = words.value;
  if (phases.length === 0) return null;
  return (
    <ol class="phases" aria-label={t`Phases`}>
      {phases.map(({ phase, state, evidence: [proof] }) => {
        const counted = phase === 'implementation' && totals.stories > 0;
        const part = counted ? totals.done / totals.stories : (SHARE[state] ?? 0);
        return (
          <li
            key={phase}
            title={proof === undefined ? '' : inLine(`${placeText(proof)} ${proof.says ?? ''}`)}
          >
            <i aria-hidden="true">
              <i style={{ width: `${Math.round(part * 100)}%` }} />
            </i>
            <b>{inLine(names[phase] ?? phase)}</b>{' '}
            {counted
              ? next.lead(totals.done, totals.stories)
              : state === 'complete'
                ? '✓'
                : inLine(names[state] ?? state)}
          </li>
        );
      })}
    </ol>
  );
}
