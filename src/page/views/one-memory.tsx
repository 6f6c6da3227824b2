import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Answers } from '../answers.ts';
import type { Memory } from '../answers.ts';
import { ask, Problem } from '../api.ts';
import { session } from '../live.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { announce } from '../parts/announced.tsx';
import { Diff } from '../parts/diff.tsx';
import { Group, Shown } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { address, project } from '../router.ts';
import { moment } from '../message.ts';
import { words } from '../words.ts';

/** One memory: what it says, what it said, and which others are close to it. */
export function OneMemory({ id, type }: { id: string; type: string }): VNode {
  const which = { id, ...(type === '' ? {} : { type }) };
  const loaded = useAnswer('memory_get', which, ['memory']);
  return (
    <section>
      <Group title={inLine(id)} />
      <Shown loaded={loaded}>{(data) => <Whole found={data} onDone={loaded.reload} />}</Shown>
    </section>
  );
}

function Whole({ found, onDone }: { found: Answers['memory_get']; onDone: () => void }): VNode {
  const { memory: said } = words.value;
  const { memory, revisions, sources, stored } = found;
  const [editing, setEditing] = useState(false);
  const which = { id: memory.id, type: memory.type };
  const gone = memory.forgottenAt !== undefined || memory.supersededBy !== undefined;
  return (
    <div class="panel" data-entry tabIndex={0} aria-label={inLine(memory.text, 120)}>
      <p class="why">
        {inLine(memory.type)} · {inLine(memory.agent)} · {moment(memory.createdAt)}
        {memory.forgottenAt === undefined ? null : <b class="drift"> {said.forgotten}</b>}
        {memory.supersededBy === undefined ? null : (
          <a class="drift" href={address('memory', [memory.supersededBy])}>
            {' '}
            {said.replaced}
          </a>
        )}
      </p>
      {editing ? (
        <Edit
          memory={memory}
          onDone={() => {
            setEditing(false);
            onDone();
          }}
        />
      ) : (
        <Exact text={memory.text} />
      )}
      <p class="proof">
        {said.sources} {inLine(sources.join(' · '), 500)}
      </p>
      {stored ? (
        <div class="acts">
          {editing || gone || session.value?.readOnly === true ? null : (
            <button type="button" onClick={() => setEditing(true)}>
              {said.edit}
            </button>
          )}
          <Actions
            about={inLine(memory.text, 80)}
            onDone={onDone}
            actions={
              gone
                ? [{ label: said.restore, operation: 'memory_restore', args: which }]
                : [{ label: said.forget, operation: 'memory_forget', args: which, danger: false }]
            }
          />
        </div>
      ) : (
        <p class="soft">{said.fromFile}</p>
      )}
      {revisions.length === 0 ? null : <History revisions={revisions} now={memory} />}
      {gone ? null : <Close memory={memory} onDone={onDone} />}
    </div>
  );
}

function Edit({ memory, onDone }: { memory: Memory; onDone: () => void }): VNode {
  const { memory: said, shell } = words.value;
  const field = useId();
  const [text, setText] = useState(memory.text);
  const [problem, setProblem] = useState('');
  const save = async (): Promise<void> => {
    try {
      const where = project.value === undefined ? {} : { project: project.value };
      await ask('memory_update', { id: memory.id, type: memory.type, text, ...where });
      announce(shell.done);
      onDone();
    } catch (error) {
      setProblem(error instanceof Problem && error.status !== 0 ? error.message : shell.noServer);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label for={field}>{said.edit}</label>
      <textarea id={field} rows={5} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="go">
        {said.save}
      </button>{' '}
      <button type="button" onClick={onDone}>
        {shell.cancel}
      </button>
      {problem === '' ? null : (
        <p class="bad" role="alert">
          {inLine(problem, 600)}
        </p>
      )}
    </form>
  );
}

function History(of: { revisions: Answers['memory_get']['revisions']; now: Memory }): VNode {
  const { memory: said } = words.value;
  return (
    <details>
      <summary>
        {said.history} ({of.revisions.length})
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

/** What is close in meaning; a person says which of them holds. */
function Close({ memory, onDone }: { memory: Memory; onDone: () => void }): VNode {
  const { memory: said } = words.value;
  const loaded = useAnswer('recall_structured', { query: memory.text.slice(0, 1000), limit: 6 }, ['memory']);
  return (
    <>
      <h3>{said.close}</h3>
      <Shown loaded={loaded}>
        {({ hits }) => {
          const others = hits.filter(({ id, stored }) => id !== memory.id && stored);
          return others.length === 0 ? (
            <p class="soft">{said.nothingClose}</p>
          ) : (
            <ul class="list">
              {others.map((hit) => (
                <li class="item" key={hit.id}>
                  <span class="dot soft" aria-hidden="true" />
                  <div>
                    <p>
                      <a href={address('memory', [hit.id], { of: hit.type })}>{inLine(hit.snippet, 400)}</a>
                    </p>
                    <p class="proof">
                      {inLine(hit.type)} · {inLine(hit.agent)}
                    </p>
                  </div>
                  <Actions
                    about={inLine(hit.snippet, 80)}
                    onDone={onDone}
                    actions={[
                      {
                        label: said.supersede,
                        operation: 'memory_supersede',
                        args: { id: hit.id, type: hit.type, by: memory.id },
                        danger: true,
                      },
                      {
                        label: said.keepBoth,
                        operation: 'memory_keep_both',
                        args: { id: memory.id, type: memory.type, other: hit.id },
                      },
                    ]}
                  />
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
    </>
  );
}
