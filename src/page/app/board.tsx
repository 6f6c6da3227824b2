import { plural, t } from '../message.ts';
import type { VNode } from 'preact';
import type { Next, NextAction as Action } from '../answers.ts';
import { Columns } from '../parts/columns.tsx';
import { inLine } from '../parts/wording.ts';
import { Problem, Proof, Say, useData } from './parts.tsx';

const MOST_ACTIONS = 3;
const MOST_CARDS = 8;

/** Where the project stands and what comes next; a button asks for it in the conversation. */
export function Board({ given }: { given: Readonly<Record<string, string>> }): VNode {
  const { data, error, reload } = useData<Next>({ view: 'board', ...given });
  return (
    <main>
      <h1>{t`Next steps`}</h1>
      <Problem error={error} reload={reload} />
      {data === undefined && error === undefined ? <p class="soft">{t`Loading`}</p> : null}
      {data === undefined ? null : <Standing next={data} />}
    </main>
  );
}

function Standing({ next }: { next: Next }): VNode {
  const { phases, actions, drift, items = [], columns } = next;
  const stories = items.filter(({ kind }) => kind === 'story');
  return (
    <>
      <div class="phases">
        {phases.map(({ phase, name, word, stories: counted = word, evidence }) => (
          <section key={phase}>
            <strong>{inLine(name, 60)}</strong>
            <span>{inLine(counted, 60)}</span>
            <Proof evidence={evidence.slice(0, 1)} />
          </section>
        ))}
      </div>
      {actions.length === 0 ? <p class="soft">{t`Everything that was planned is done.`}</p> : null}
      <ol class="list">
        {actions.slice(0, MOST_ACTIONS).map((action, index) => (
          <li key={action.what}>
            <div>
              <p class="what">
                {shown(action)} {action.optional ? <span class="soft">{t`optional`}</span> : null}
              </p>
              <p class="soft">
                {inLine(action.why, 300)}
                {action.says === undefined ? '' : `: ${inLine(action.says, 300)}`}
              </p>
              <Proof evidence={action.evidence.slice(0, 2)} />
            </div>
            <Say
              text={messageFor(action)}
              label={t`Start`}
              name={t`Start: ${inLine(action.what, 100)}`}
              main={index === 0}
            />
          </li>
        ))}
      </ol>
      {drift.length === 0 ? null : (
        <p class="warn">
          {plural(
            drift.length,
            'place where the project contradicts itself',
            'places where the project contradicts itself',
          )}
        </p>
      )}
      {stories.length === 0 ? null : (
        <Columns
          columns={columns}
          stories={stories}
          most={MOST_CARDS}
          card={({ id, title = id }) => (
            <p class="card" key={id}>
              {inLine(title, 80)}
            </p>
          )}
        />
      )}
    </>
  );
}

const shown = ({ what }: Action): string => inLine(what, 200);

/** What the user says to start it: the step in words, and the call that does it, so that no model has to guess. */
function messageFor(action: Action): string {
  // What is read is what is said: a longer title has no part that only the model sees.
  const what = shown(action);
  const [step] = action.steps;
  if (step?.why !== action.what) return what;
  const { operation, args = {} } = step;
  if (operation !== 'execute') return `${what}: ${operation} ${JSON.stringify(args)}`;
  const { name, kind, ...rest } = args;
  return `${what}: bmad ${JSON.stringify({ operation, [String(kind)]: name, ...rest })}`;
}
