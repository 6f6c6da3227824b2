import { t } from '../message.ts';
import type { VNode } from 'preact';
import type { Answers } from '../answers.ts';
import type { Loaded } from '../loading.ts';
import { Group, Shown } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { words } from '../words.ts';

const TONES = { ok: 'soft', notice: 'drift', broken: 'bad' } as const;

const isWell = ({ level }: { level: keyof typeof TONES }): boolean => level !== 'broken';

/** The hosts of this machine: which have an entry for this server, and what stands in the way of those that have. */
export function Hosts({ loaded }: { loaded: Loaded<Answers['hosts_show']> }): VNode {
  const { health } = words.value;
  return (
    <section>
      <Group title={t`Hosts on this machine`} count={loaded.data?.hosts.length} />
      <Shown loaded={loaded}>
        {({ hosts }) =>
          hosts.length === 0 ? (
            <p class="soft">{t`No host was found.`}</p>
          ) : (
            <ul class="list rows">
              {hosts.map(({ host, name, scope, file, found, checks }) => (
                <li key={`${host} ${scope}`} data-entry tabIndex={0}>
                  <span>
                    {inLine(name)} <span class="soft">{health.scopes[scope]}</span>
                  </span>
                  <span class={found === 'ours' && checks.every(isWell) ? 'good' : 'soft'}>
                    {health.found[found]}
                  </span>
                  <span class="proof">{inLine(file, 500)}</span>
                  {checks.map(({ level, text, fix }) => (
                    <span key={text} class={`check ${TONES[level]}`}>
                      {inLine([text, fix].filter(Boolean).join(' '), 600)}
                    </span>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}
