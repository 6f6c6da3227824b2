import { t } from '../message.ts';
import type { VNode } from 'preact';
import type { Listed } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Choice, SearchField } from '../parts/choice.tsx';
import { PasteLine, starting, usePrompts } from '../parts/hosts.tsx';
import { bareName, firstSentence, phaseName, dotted, inLine } from '../parts/wording.ts';
import { Empty, Group, Heading, Pages, Shown } from '../parts/shown.tsx';
import { useSettled } from '../parts/settled.ts';
import { address, queried, refine } from '../router.ts';
import { stateOf, words } from '../words.ts';

const KINDS = ['agents', 'workflows', 'skills', 'tasks', 'knowledge', 'templates', 'checklists'] as const;
type Kind = (typeof KINDS)[number];

/** Agents, workflows, skills and knowledge: all of them, or what the words find. */
export function Catalogue(): VNode {
  const { catalogue } = words.value;
  const typed = queried('q');
  const settled = useSettled(typed);
  const kind = KINDS.find((name) => name === queried('kind'));
  return (
    <>
      <Heading title={t`Catalogue`}>
        <SearchField label={t`Search agents and workflows`} />
      </Heading>
      <Choice
        label={t`Kind`}
        now={kind ?? ''}
        among={[['', t`all`], ...KINDS.map((name) => [name, catalogue.kinds[name]] as const)]}
        onChoose={(name) => refine({ kind: name })}
      />
      {settled !== '' ? (
        <SearchHits query={settled} kind={kind} />
      ) : kind === undefined ? (
        <>
          <People />
          <Workflows />
        </>
      ) : (
        <ListOf key={kind} kind={kind} />
      )}
    </>
  );
}

/** Who can be asked: a face, a name, what they are for. */
function People(): VNode {
  const loaded = useAnswer('list', { what: 'agents', limit: 100 }, ['content']);
  const promptOf = usePrompts();
  return (
    <Shown loaded={loaded}>
      {({ items }) =>
        items.length === 0 ? (
          <NoMatch />
        ) : (
          <ul class="people">
            {items.map((item) => (
              <li class="panel" key={`${item.module ?? ''} ${item.name}`} data-entry tabIndex={0}>
                <span class="face" aria-hidden="true">
                  {inLine(item.icon ?? Array.from(item.person ?? item.name)[0] ?? '·', 4)}
                </span>
                <h2>
                  <a href={placeOf(item)}>{inLine(item.person ?? item.name, 60)}</a>
                </h2>
                <small class="soft">{inLine(roleOf(item), 80)}</small>
                <p>{inLine(firstSentence(item.description ?? ''), 180)}</p>
                <div class="x">
                  <a class="soft" href={placeOf(item)}>
                    {t`Where from`}
                  </a>
                  <PasteLine bare start={startOf(item)} prompt={promptOf(startOf(item))} />
                </div>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}

const NoMatch = (): VNode => (
  <Empty title={t`Nothing matches.`} how={t`Try other words, or fewer filters.`} />
);
const placeOf = ({ kind, name, module }: Listed): string => address('item', [kind, name], { module });
const startOf = ({ name, kind }: Listed) => starting(name, kind);

/** The title without the name and the icon that stand beside it. */
function roleOf({ title = '', person = '', icon = '', name }: Listed): string {
  const role = title.replace(person, '').replace(icon, '').trim();
  return role === '' ? bareName(name) : role;
}

/** What has no place in the order of the work comes after what has one. */
const isLast = (phase: string): boolean => phase === '' || phase === 'anytime';

/** What can be done, in the order of the work. */
function Workflows(): VNode {
  const promptOf = usePrompts();
  return (
    <Pages operation="list" args={{ what: 'workflows', limit: 100 }} topics={['content']}>
      {({ items }) => {
        const phases = [...new Set(items.map(({ phase }) => phase ?? ''))].sort((a, b) =>
          isLast(a) === isLast(b) ? (a < b ? -1 : 1) : Number(isLast(a)) - Number(isLast(b)),
        );
        return phases.map((phase) => {
          const own = items.filter((item) => (item.phase ?? '') === phase);
          return (
            <section key={phase}>
              <Group title={isLast(phase) ? t`At any time` : stateOf(phaseName(phase))} count={own.length} />
              <ul class="list flows">
                {own.map((item) => (
                  <li key={`${item.module ?? ''} ${item.name}`} data-entry tabIndex={0}>
                    <a class="what" href={placeOf(item)}>
                      {inLine(item.name, 60)}
                    </a>
                    <span class="soft">
                      {inLine(firstSentence(item.description ?? item.title ?? ''), 160)}
                    </span>
                    <PasteLine bare start={startOf(item)} prompt={promptOf(startOf(item))} />
                  </li>
                ))}
              </ul>
            </section>
          );
        });
      }}
    </Pages>
  );
}

function ListOf({ kind }: { kind: Kind }): VNode {
  const { catalogue } = words.value;
  return (
    <Pages operation="list" args={{ what: kind, limit: 200 }} topics={['content']}>
      {({ items, total }, isFirst) => (
        <section>
          {isFirst ? <Group title={catalogue.kinds[kind]} count={total} /> : null}
          {items.length > 0 || !isFirst ? <Entries items={items} /> : <NoMatch />}
        </section>
      )}
    </Pages>
  );
}

function SearchHits({ query: text, kind }: { query: string; kind: Kind | undefined }): VNode {
  const loaded = useAnswer(
    'search',
    { query: text, limit: 50, ...(kind === undefined ? {} : { type: kind }) },
    ['content'],
  );
  return (
    <Shown loaded={loaded}>
      {({ items }) => (items.length === 0 ? <NoMatch /> : <Entries items={items} />)}
    </Shown>
  );
}

function Entries({ items }: { items: readonly Listed[] }): VNode {
  return (
    <ul class="list entries">
      {items.map((item) => (
        <li key={`${item.kind} ${item.module ?? ''} ${item.name} ${item.uri ?? ''}`}>
          <a data-entry href={placeOf(item)} title={inLine(item.uri ?? item.name)}>
            <span class="what">{inLine(item.name, 80)}</span>
            <span class="why">{inLine(item.description ?? item.title ?? '', 160)}</span>
            <span class="proof">
              {inLine(dotted(item.kind, item.module, item.phase, item.origin, item.version))}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
