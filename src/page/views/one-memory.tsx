import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Answers, Memory } from '../answers.ts';
import { ask } from '../api.ts';
import { session } from '../live.ts';
import { useAnswer, useNames } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Beside } from '../parts/beside.tsx';
import { tell } from '../parts/toast.tsx';
import { TextForm } from '../parts/choice.tsx';
import { Diff } from '../parts/diff.tsx';
import { Press, Shown } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/visible.ts';
import { Fold } from '../parts/work.tsx';
import { address, here, route } from '../router.ts';
import { moment, t } from '../message.ts';
import { words } from '../words.ts';

/** One memory: what it says, what it said, and which others are close to it. */
export function OneMemory({ id }: { id: string }): VNode {
  const { q, type: asked, all, of: type } = Object.fromEntries(route.value.query);
  const which = { id, ...(type === undefined ? {} : { type }) };
  const loaded = useAnswer('memory_get', which, ['memory']);
  return (
    <Beside about={t`Memory`} back={address('memory', [], { q, type: asked, all })}>
      <Shown loaded={loaded}>{(data) => <Whole found={data} onDone={loaded.reload} />}</Shown>
    </Beside>
  );
}

function Whole({ found, onDone }: { found: Answers['memory_get']; onDone: () => void }): VNode {
  const { memory, revisions, sources, stored } = found;
  const [editing, setEditing] = useState(false);
  const nameOf = useNames();
  const which = { id: memory.id, type: memory.type };
  const gone = memory.forgottenAt !== undefined || memory.supersededBy !== undefined;
  return (
    <>
      <p class="why">
        {dotted(
          words.value.memory.oneKind[memory.type] ?? memory.type,
          inLine(nameOf(memory.agent), 60),
          moment(memory.createdAt),
        )}
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
      <Fold title={t`Details`}>
        <p class="proof">
          {inLine(memory.id)} · {t`Found in`} {inLine(sources.join(' · '), 500)}
        </p>
      </Fold>
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
    </>
  );
}

function History(of: { revisions: Answers['memory_get']['revisions']; now: Memory }): VNode {
  return (
    <Fold title={`${t`Earlier versions`} (${of.revisions.length})`}>
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
    </Fold>
  );
}
