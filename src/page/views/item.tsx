import type { VNode } from 'preact';
import type { Explained } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Compare } from '../parts/diff.tsx';
import { AllLines, starting, usePrompts } from '../parts/hosts.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Empty, Group, Heading, Shown } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { dotted, inLine, placeText } from '../parts/wording.ts';
import { Fold } from '../parts/work.tsx';
import { address, route } from '../router.ts';
import { labelled, number, plural, t } from '../message.ts';
import { words } from '../words.ts';

/** Kinds that are started, and that operations take as an argument; others are found by their address. */
const STARTED = new Set(['agent', 'workflow', 'skill', 'task', 'tool']);

/** One entry of the catalogue: its text, where it comes from, what changes it, what it costs, how to start it. */
export function Item(): VNode {
  const { rest, query } = route.value;
  const [kind = '', name = ''] = rest;
  const module = query.get('module') ?? undefined;
  const starts = STARTED.has(kind);
  const which = {
    target: module === undefined || name.includes('/') ? name : `${module}/${name}`,
    ...(starts ? { kind } : {}),
  };
  const text = useAnswer('read', which, ['content']);
  const explained = useAnswer('explain', which, ['content']);
  const promptOf = usePrompts();
  const lost = [text, explained].find(({ problem }) => problem?.status === 404)?.problem;
  if (lost !== undefined)
    return (
      <>
        <Heading title={inLine(name, 120)} />
        <Empty title={inLine(lost.message, 300)} />
        <p>
          <a href={address('catalogue')}>{words.value.views.catalogue}</a>
        </p>
      </>
    );
  return (
    <>
      <Heading title={inLine(name, 120)} lead={dotted(kind, module, text.data?.origin)} />
      {starts ? (
        <>
          <Group title={t`How to start it`} />
          <AllLines start={starting(name, kind)} prompt={promptOf(starting(name, kind))} />
          <Cost name={which.target} kind={kind} text={text.data?.tokens} />
        </>
      ) : null}
      <Group title={t`Where it comes from`} />
      <Shown loaded={explained}>
        {(data) => (
          <>
            <Provenance data={data} starts={starts} onChange={explained.reload} />
            <Overrides layers={data.layers} />
          </>
        )}
      </Shown>
      <Group title={t`Text`} />
      <Shown loaded={text}>
        {(data) => (
          <>
            <p class="proof">
              {inLine(data.uri)} · {plural(data.bytes, 'byte')} · {t`${number(data.tokens)} tokens`}
            </p>
            {data.complete ? null : <p class="soft">{t`This is the first part of the text.`}</p>}
            <Text text={data.text} markdown={data.mimeType === 'text/markdown'} />
          </>
        )}
      </Shown>
    </>
  );
}

function Cost({ name, kind, text }: { name: string; kind: string; text: number | undefined }): VNode {
  const { data } = useAnswer('compile_context', { name, ...(kind === 'agent' ? { kind } : {}) }, ['content']);
  return (
    <p>
      <b>{t`Cost`}</b>{' '}
      <span class="proof">
        {text === undefined ? '' : labelled(t`Text`, t`${number(text)} tokens`)}
        {data === undefined ? '' : ` · ${labelled(t`with its context`, t`${number(data.needed)} tokens`)}`}
      </span>
    </p>
  );
}

/** Which of them is served is for a person to say; it is kept in the person's configuration. */
function Provenance(of: { data: Explained; starts: boolean; onChange: () => void }): VNode {
  const { data, starts, onChange } = of;
  return (
    <ol class="list">
      {data.candidates.map(({ name, origin, priority, path, chosen, why, status }) => (
        <li class="item" key={path} data-entry tabIndex={0}>
          <span class={`dot ${chosen ? 'good' : 'soft'}`} aria-hidden="true" />
          <div>
            <p class="what">
              {inLine(origin)} {chosen ? <small class="good">{t`the one that is served`}</small> : null}
            </p>
            <p class="why">
              {inLine(dotted(name, String(priority), status === 'verified' ? '' : status, why))}
            </p>
            <p class="proof">{inLine(path, 500)}</p>
            {chosen || !starts ? null : (
              <Actions
                about={inLine(origin)}
                onDone={onChange}
                actions={[
                  { label: t`Use this one`, operation: 'prefer_origin', args: { name, origin }, equal: true },
                ]}
              />
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

type Layer = Explained['layers'][number];

function readValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const shownEntry = (entry: unknown): string =>
  typeof entry === 'string' ? entry : JSON.stringify(entry, null, 2);

/** Lists are compared line by line, so that one changed entry is one changed line; lists of several files add up. */
function shownValue(layers: readonly Layer[]): string {
  const values = layers.map(({ value }) => readValue(value));
  if (values.every(Array.isArray)) return values.flat().map(shownEntry).join('\n');
  return shownEntry(values.at(-1));
}

/** Every value that more than one file sets: what it was, and what it is. */
function Overrides({ layers }: { layers: readonly Layer[] }): VNode {
  const keys = [...new Set(layers.map(({ key }) => key))];
  const changed = keys.flatMap((key) => {
    const own = layers.filter((layer) => layer.key === key);
    const [before, ...later] = own;
    const after = own.filter(({ chosen }) => chosen);
    return before === undefined || later.length === 0 ? [] : [{ key, before, after }];
  });
  return (
    <section>
      <Group title={t`Overrides`} count={changed.length} />
      {changed.length === 0 ? <p class="soft">{t`Nothing is overridden.`}</p> : null}
      {changed.map(({ key, before, after }) => (
        <div key={key}>
          <p class="proof">{inLine(key)}</p>
          <Compare
            before={shownValue([before])}
            after={shownValue(after)}
            left={labelled(t`before`, inLine(placeText(before ?? {})))}
            right={labelled(t`in force`, inLine(placeText(after.at(-1) ?? {})))}
          />
        </div>
      ))}
    </section>
  );
}

function Text({ text, markdown }: { text: string; markdown: boolean }): VNode {
  if (!markdown) return <Exact text={text} label={t`Text`} />;
  return (
    <>
      <Fold title={t`As written`}>
        <Exact text={text} label={t`Text`} />
      </Fold>
      <Markdown text={text} />
    </>
  );
}
