import { t } from '../message.ts';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Answers, Listed as Item } from '../answers.ts';
import { useSettled } from '../parts/settled.ts';
import { inLine } from '../parts/wording.ts';
import { Problem, Say, useData } from './parts.tsx';

type CataloguePage = Pick<Answers['list'], 'total' | 'items' | 'next'>;

const KINDS = ['agents', 'workflows', 'tasks', 'modules'] as const;
type Kind = (typeof KINDS)[number];

/** Everything that can be started, by kind or by search; a button asks for it in the conversation. */
export function Catalogue(of: {
  args: Readonly<Record<string, unknown>>;
  given: Readonly<Record<string, string>>;
}): VNode {
  const kinds = { agents: t`Agents`, workflows: t`Workflows`, tasks: t`Tasks`, modules: t`Modules` };
  const asked = of.args['what'];
  const [what, setWhat] = useState<Kind>(KINDS.find((kind) => kind === asked) ?? 'agents');
  const [typed, setTyped] = useState(typeof of.args['query'] === 'string' ? of.args['query'] : '');
  const query = useSettled(typed);
  return (
    <main>
      <h1>{t`Catalogue`}</h1>
      <div class="tools">
        <input
          type="search"
          aria-label={t`Search agents and workflows`}
          placeholder={t`Search agents and workflows`}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <span role="group" aria-label={t`Catalogue`}>
          {KINDS.map((kind) => (
            <button
              key={kind}
              type="button"
              aria-pressed={query === '' && kind === what}
              onClick={() => {
                setTyped('');
                setWhat(kind);
              }}
            >
              {kinds[kind]}
            </button>
          ))}
        </span>
      </div>
      <Items
        key={`${what} ${query}`}
        asked={{ view: 'catalogue', ...(query === '' ? { what } : { query }), ...of.given }}
      />
    </main>
  );
}

function Items({ asked }: { asked: Readonly<Record<string, unknown>> }): VNode {
  const { data, error, reload } = useData<CataloguePage>(asked);
  const [more, setMore] = useState(false);
  if (data === undefined)
    return error === undefined ? <p class="soft">{t`Loading`}</p> : <Problem error={error} reload={reload} />;
  return (
    <>
      <p class="soft" role="status">
        {data.total === 0 ? t`Nothing found.` : t`${data.total} found`}
      </p>
      <Rows items={data.items} />
      {data.next === undefined ? null : more ? (
        <Items asked={{ ...asked, cursor: data.next }} />
      ) : (
        <button type="button" onClick={() => setMore(true)}>
          {t`Show more`}
        </button>
      )}
    </>
  );
}

function Rows({ items }: { items: readonly Item[] }): VNode | null {
  if (items.length === 0) return null;
  return (
    <ul class="list">
      {items.map((item) => (
        <li key={`${item.kind} ${item.module ?? ''} ${item.name}`}>
          <div>
            <p class="what">
              {item.icon === undefined ? '' : `${inLine(item.icon, 4)} `}
              {inLine(item.title ?? item.name, 80)}{' '}
              <span class="proof">
                {inLine([item.name, item.module, item.phase, item.origin].filter(Boolean).join(' · '), 160)}
              </span>
            </p>
            <p class="soft">{inLine([item.person, item.description].filter(Boolean).join(': '), 220)}</p>
          </div>
          {item.kind === 'module' ? null : (
            <Say text={messageFor(item)} label={t`Start`} name={t`Start: ${inLine(item.name, 80)}`} />
          )}
        </li>
      ))}
    </ul>
  );
}

function messageFor({ kind, name, module }: Item): string {
  const whole = module === undefined || name.includes('/') ? name : `${module}/${name}`;
  const as = kind === 'agent' ? 'agent' : 'workflow';
  return `${name}: bmad ${JSON.stringify({ operation: 'execute', [as]: whole })}`;
}
