import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Answers } from '../answers.ts';
import type { Memory } from '../answers.ts';
import { ask } from '../api.ts';
import { session } from '../live.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { tell } from '../parts/toast.tsx';
import { TextForm } from '../parts/choice.tsx';
import { Diff } from '../parts/diff.tsx';
import { Press } from '../parts/press.tsx';
import { Group, Shown } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { address, here } from '../router.ts';
import { moment, t } from '../message.ts';

/** One memory: what it says, what it said, and which others are close to it. */
export function OneMemory({ id, type }: { id: string; type: string }): VNode {
  const which = { id, ...(type === '' ? {} : { type }) };
  const loaded = useAnswer('memory_get', which, ['memory']);
  return (
    <section>
      <Group title={t`Memory`} />
      <Shown loaded={loaded}>{(data) => <Whole found={data} onDone={loaded.reload} />}</Shown>
    </section>
  );
}

function Whole({ found, onDone }: { found: Answers['memory_get']; onDone: () => void }): VNode {
  const { memory, revisions, sources, stored } = found;
  const [editing, setEditing] = useState(false);
  const which = { id: memory.id, type: memory.type };
  const gone = memory.forgottenAt !== undefined || memory.supersededBy !== undefined;
  return (
    <div class="panel" data-entry tabIndex={0} aria-label={inLine(memory.text, 120)}>
      <p class="why">
        {inLine(memory.type)} · {inLine(memory.agent)} · {moment(memory.createdAt)}
        {memory.forgottenAt === undefined ? null : <b class="drift"> {t`forgotten`}</b>}
        {memory.supersededBy === undefined ? null : (
          <a class="drift" href={address('memory', [memory.supersededBy])}>
            {' '}
            {t`replaced`}
          </a>
        )}
      </p>
      {editing ? (
        <TextForm
          label={t`Edit`}
          say={t`Save`}
          text={memory.text}
          onCancel={() => setEditing(false)}
          onSend={async (text) => {
            await ask('memory_update', { ...which, text, ...here() });
            tell({ text: t`Saved.` });
            setEditing(false);
            onDone();
          }}
        />
      ) : (
        <Exact text={memory.text} />
      )}
      <details>
        <summary>{t`Details`}</summary>
        <p class="proof">
          {inLine(memory.id)} · {t`Found in`} {inLine(sources.join(' · '), 500)}
        </p>
      </details>
      {stored ? (
        <div class="row-acts">
          {editing || gone || session.value?.readOnly === true ? null : (
            <Press says={t`Edit`} onPress={() => setEditing(true)} />
          )}
          <Actions
            about={inLine(memory.text, 80)}
            onDone={onDone}
            actions={
              gone
                ? [{ label: t`Restore`, operation: 'memory_restore', args: which }]
                : [{ label: t`Forget`, operation: 'memory_forget', args: which, equal: true }]
            }
          />
        </div>
      ) : (
        <p class="soft">{t`from a file: edit it there`}</p>
      )}
      {revisions.length === 0 ? null : <History revisions={revisions} now={memory} />}
    </div>
  );
}

function History(of: { revisions: Answers['memory_get']['revisions']; now: Memory }): VNode {
  return (
    <details>
      <summary>
        {t`Earlier versions`} ({of.revisions.length})
      </summary>
      {of.revisions.toReversed().map(({ revision, text, agent, at }) => (
        <Diff
          key={revision}
          title={`${revision}, ${agent}, ${moment(at)}`}
          text={text
            .split('\n')
            .map((each) => `-${each}`)
            .join('\n')}
        />
      ))}
    </details>
  );
}
