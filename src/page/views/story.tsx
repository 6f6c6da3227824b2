import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Answers, Next, StoryShown } from '../answers.ts';
import { ask, saidOf } from '../api.ts';
import { session } from '../live.ts';
import { useAnswer, type Loaded } from '../loading.ts';
import { age, dayName, t } from '../message.ts';
import { Actions } from '../parts/actions.tsx';
import { Select } from '../parts/choice.tsx';
import { Diff } from '../parts/diff.tsx';
import { PasteLine, usePrompts } from '../parts/hosts.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { saidOfIt, inLine, visible } from '../parts/wording.ts';
import { Press, Shown, When, Wrong } from '../parts/shown.tsx';
import { Reasons } from '../parts/texts.tsx';
import { Beside, Fold } from '../parts/work.tsx';
import { address, here, refine, route } from '../router.ts';
import { stateOf, words } from '../words.ts';

/** One story beside the board, under an address of its own. */
export function StoryPanel({ story, next }: { story: string; next: Loaded<Next> }): VNode {
  const loaded = useAnswer('story_show', { story }, ['progress', 'runs']);
  const epic = route.value.query.get('epic') ?? undefined;
  return (
    <Beside about={story} back={address('board', [], { epic })}>
      <Shown loaded={loaded}>
        {(data) => (
          <Whole
            story={data}
            next={next.data}
            onDone={() => [loaded, next].forEach(({ reload }) => reload())}
          />
        )}
      </Shown>
    </Beside>
  );
}

function Whole(of: { story: StoryShown; next: Next | undefined; onDone: () => void }): VNode {
  const { story, next } = of;
  const { id, number, epic, title, text, criteria, tasks, drift, places, run } = story;
  const done = tasks.filter((task) => task.done).length;
  return (
    <>
      <p class="why">
        {[number, t`epic ${[epic.number, epic.title].filter(Boolean).join(', ')}`]
          .map((each) => inLine(each, 80))
          .join(' · ')}
      </p>
      <h2>{inLine(title, 400)}</h2>
      {text === undefined ? <p class="soft">{t`It has no text yet.`}</p> : <Markdown text={text.text} />}
      <Move story={story} onDone={of.onDone} />
      {drift.map(({ kind, says }) => (
        <p class="note drift" key={`${kind} ${says}`}>
          {inLine(saidOfIt(id, says), 300)}
        </p>
      ))}
      {criteria === undefined ? null : (
        <>
          <h3>{t`Criteria`}</h3>
          <Markdown text={criteria.text} />
        </>
      )}
      {tasks.length === 0 ? null : (
        <>
          <h3>
            {t`Tasks`} <span class="soft">{t`${done} of ${tasks.length}`}</span>
          </h3>
          <ul class="ticks">
            {tasks.map((task, index) => (
              <li key={index} class={`${task.done ? 'd' : ''} deep-${task.depth}`}>
                {visible(task.text)}
              </li>
            ))}
          </ul>
        </>
      )}
      {run === undefined ? null : (
        <>
          <h3>{t`Run`}</h3>
          <p>
            <a href={address('now', ['runs', run.id])}>{inLine(run.workflow, 80)}</a>{' '}
            <span class="soft">
              {stateOf(run.status)} · {age(run.at)}
            </span>
          </p>
        </>
      )}
      {story.column === 'review' || story.column === 'done' ? <Proven next={next} /> : null}
      <Doing id={id} next={next} />
      <History story={story} />
      <Fold title={t`Evidence`}>
        <Reasons items={places} />
      </Fold>
    </>
  );
}

/** A move is a change of files: it is shown as that, and then written as it was shown. */
function Move({ story, onDone }: { story: StoryShown; onDone: () => void }): VNode | null {
  const { id, status = '', words: legal, columns } = story;
  const [proposed, setProposed] = useState<Answers['story_status'] | undefined>(undefined);
  const [wanted, setWanted] = useState('');
  const [problem, setProblem] = useState('');
  const to = route.value.query.get('to');
  useEffect(() => {
    if (to === null) return;
    const word = legal.findLast((each) => columns[each] === to);
    if (word === undefined) setProblem(t`A story of this project has no status for that column.`);
    else void choose(word);
  }, [to]);
  if (legal.length === 0 || session.value?.readOnly === true) return null;
  async function choose(word: string): Promise<void> {
    if (word === '') refine({ to: undefined });
    setWanted(word);
    setProblem('');
    setProposed(undefined);
    if (word === '' || word === status) return;
    try {
      setProposed(await ask('story_status', { story: id, status: word, show: true, ...here() }));
    } catch (error) {
      setProblem(saidOf(error));
    }
  }
  const args = { story: id, status: wanted, proposal: proposed?.proposal };
  const write = { label: t`Write this`, operation: 'story_status', args };
  return (
    <div class="move">
      <Select
        label={t`Status`}
        now={wanted === '' ? status : wanted}
        among={[...new Set([status, ...legal])].map((word) => [word, stateOf(word) || '–'])}
        onChoose={(word) => void choose(word)}
      />
      <Wrong text={problem} />
      {proposed === undefined ? null : (
        <div role="group" aria-label={t`What would be written`}>
          {proposed.files.length === 0 ? <p class="soft">{t`Nothing would change.`}</p> : null}
          {proposed.files.map(({ file, diff }) => (
            <Diff key={file} text={diff} title={file} />
          ))}
          {proposed.notes.map((note) => (
            <p class="soft" key={note}>
              {inLine(note, 300)}
            </p>
          ))}
          <Actions
            about={`${story.number} ${inLine(story.title, 80)} → ${wanted}`}
            actions={proposed.files.length === 0 ? [] : [write]}
            onDone={() => {
              void choose('');
              onDone();
            }}
          >
            <Press class="plain" says={t`Cancel`} onPress={() => choose('')} />
          </Actions>
        </div>
      )}
    </div>
  );
}

/** What the check says, it says about the project: a story alone has no verdict. */
function Proven({ next }: { next: Next | undefined }): VNode | null {
  const proof = next?.verification;
  if (proof === undefined) return null;
  const says: Readonly<Record<string, string>> = {
    PASS: t`The project’s check has passed.`,
    FAIL: t`The project’s check fails; it says nothing about this story alone.`,
    outdated: t`The project has changed since its check passed.`,
  };
  return (
    <p class="soft">
      {says[proof.verdict] ?? t`The project has not been checked.`} <a href={address('proof')}>{t`Proof`}</a>
    </p>
  );
}

/** The line that goes on with it, where it is one of the next steps. */
function Doing({ id, next }: { id: string; next: Next | undefined }): VNode | null {
  const promptOf = usePrompts();
  const action = next?.actions.find(({ steps }) =>
    steps.some(({ args }) => JSON.stringify(args ?? {}).includes(id)),
  );
  const [start] = action?.steps ?? [];
  if (action === undefined || start === undefined) return null;
  return (
    <div data-next>
      <h3>{inLine(action.what)}</h3>
      <PasteLine start={start} prompt={promptOf(start)} main />
    </div>
  );
}

function History({ story }: { story: StoryShown }): VNode | null {
  const dates = (['done', 'started', 'planned'] as const).filter((what) => story[what] !== undefined);
  if (dates.length === 0) return null;
  return (
    <>
      <h3>{t`History`}</h3>
      <ol class="stream">
        {dates.map((what) => (
          <li key={what}>
            <When at={story[what]} as={dayName} />
            <span>{words.value.dates[what]}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
