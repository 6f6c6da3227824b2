import { plural, say, t } from '../../../base/text/message.ts';
import { PRODUCT } from '../../../base/product.ts';
import type { CacheView } from '../../../operations/server/doctor.ts';
import { type CheckedHost, hostWords, type Safety } from '../../../operations/server/doctor-text.ts';
import { line, type Line, span, type Span, stacked } from '../screen/paint.ts';
import { padded, wrapped, type Row } from '../screen/text.ts';
import { listing, MARKS, problemLines, titled, type Draw, type Page, muted } from './parts.ts';
import {
  FIRST_WISH,
  firstWords,
  isConnected,
  type Result,
  restLines,
  SAID,
} from '../../../operations/server/setup-text.ts';

const LABEL = 11;

/** `bmad doctor`: every check with a tick or a cross, then what is wrong in full. */
export const doctorScreen: Draw<'doctor'> = (data, page) => {
  const { width } = page;
  const { project, modules, origins, handshake, safety, cache, hosts } = data;
  const check = (mark: Span, label: string, text: string): Line[] =>
    wrapped(line(text), width, {
      first: line(mark, ' ', ...padded(line(span(say(label), 'strong')), LABEL)),
      rest: line(' '.repeat(Math.min(LABEL + 2, Math.floor(width / 3)))),
    });
  const broken = data.findings.filter(({ level }) => level === 'broken');
  const notices = data.findings.filter(({ level }) => level !== 'broken');
  const wrong = data.problems.length + broken.length;
  const unsafe = safety === undefined ? [] : safetyWords(safety);
  return stacked(
    [line(span(`${PRODUCT} ${data.version}`, 'title'), span(`  ${t`on Node ${data.node}`}`, 'muted'))],
    [
      ...check(
        project.root === undefined ? MARKS.warn : MARKS.good,
        'Project',
        project.root === undefined ? t`none (${project.from})` : `${project.root} (${project.from})`,
      ),
      ...check(modules.length === 0 ? MARKS.warn : MARKS.good, 'Modules', modules.join(', ') || t`none`),
      ...(handshake === undefined
        ? check(span('·', 'muted'), 'Handshake', t`not tried`)
        : handshake.ok
          ? check(
              MARKS.good,
              'Handshake',
              t`the server answers (protocol ${handshake.protocol}) with ${plural(handshake.tools.length, 'tool')}`,
            )
          : check(MARKS.bad, 'Handshake', handshake.trouble ?? say('failed'))),
      ...check(
        unsafe.length === 0 ? MARKS.good : MARKS.warn,
        'Safety',
        unsafe.length === 0 ? t`nothing to report` : t`to know about:`,
      ),
      ...problemLines(unsafe, page, span(' ')),
      ...check(wrong === 0 ? MARKS.good : MARKS.bad, 'Problems', wrong === 0 ? t`none` : String(wrong)),
      ...problemLines([...data.problems, ...broken.map(({ text }) => text)], page),
      ...problemLines([...notices.map(({ text }) => text), ...data.warnings], page, MARKS.warn),
    ],
    listing(
      [
        { title: t`content from` },
        { title: 'rank', end: true },
        { title: 'agents', end: true },
        { title: 'workflows', end: true },
        { title: 'tasks', end: true, drop: 2 },
        { title: 'skills', end: true, drop: 2 },
      ],
      origins.map((origin) => ({
        cells: [
          line(span(origin.name, 'name')),
          ...[origin.priority, origin.agents, origin.workflows, origin.tasks, origin.skills].map((count) =>
            line(String(count)),
          ),
        ],
        below: line(span(origin.root, 'muted')),
      })),
      page,
    ),
    hosts === undefined ? [] : titled(t`Hosts`, hostPart(hosts, page)),
    cache === undefined ? [] : cacheTable(cache, page),
  );
};

/** Each host with a mark, its file, and what was noticed about its entry. */
function hostPart(hosts: readonly CheckedHost[], { width }: Page): Line[] {
  if (hosts.length === 0) return [line(t`none found on this machine`)];
  return hosts.flatMap((host) => {
    const { standing, checks } = hostWords(host);
    const isBroken = host.checks.some(({ level }) => level === 'broken');
    const mark = isBroken ? MARKS.bad : host.found === 'ours' ? MARKS.good : MARKS.warn;
    return [
      ...wrapped(line(standing), width, { first: line(mark, ' '), rest: line('  ') }),
      ...wrapped(line(span(host.file, 'muted')), width, { first: line('  '), rest: line('  ') }),
      ...checks.flatMap((text) => wrapped(line(text), width, { first: line('  '), rest: line('    ') })),
    ];
  });
}

/** What deserves a look; most projects have nothing. */
function safetyWords(safety: Safety): string[] {
  const { programs, allowed, outside, replaced, disguised, open, stores } = safety;
  const told = (words: string, list: readonly string[]): string[] =>
    list.length === 0 ? [] : [[t`${words}:`, ...list].join('\n')];
  return [
    ...told(
      t`Programs of this project, ${allowed ? t`allowed on this machine` : t`not allowed yet`}`,
      programs,
    ),
    ...told(t`Content from outside the project`, outside),
    ...told(t`Served instead of the built-in one`, replaced),
    ...(disguised === 0 ? [] : [t`Hidden characters or look-alike names: ${disguised}, see the problems`]),
    ...told(t`Open to other users of this machine (mode 700 closes a folder)`, open),
    ...(stores.length === 0 ? [] : [t`Stores in trouble: ${stores.length}, see the problems`]),
  ];
}

function cacheTable({ parts }: CacheView, page: Page): Line[] {
  const filled = parts.filter(({ files }) => files > 0);
  return titled(
    say('Cache'),
    listing(
      [
        { title: 'part' },
        { title: 'files', end: true },
        { title: 'size', end: true },
        { title: '', flexible: true },
      ],
      filled.map(({ part, files, bytes, damaged, outdated, folder }) => ({
        cells: [
          line(part),
          line(String(files)),
          line(`${(bytes / 1_048_576).toFixed(1)} MiB`),
          line(
            span(
              [
                ...(damaged === 0 ? [] : [t`${damaged} damaged`]),
                ...(outdated === 0 ? [] : [t`${outdated} of another version`]),
              ].join(', '),
              'warn',
            ),
          ),
        ],
        below: line(span(folder, 'muted')),
      })),
      page,
    ),
  );
}

/**
 * `bmad setup` and `bmad remove`: every host with a tick or a cross, then what to say there. A change that is only shown, and
 * a text to paste, are as they are in the answer.
 */
export const setupScreen: Draw<'setup'> = ({ dry_run: dry, results, handshakes, notes }, page) => {
  if (dry || results.some(({ outcome }) => outcome === 'printed')) return undefined;
  const connected = results.filter(isConnected);
  return stacked(
    listing([{ title: '' }, { title: '' }, { title: '', flexible: true }], results.map(hostRow), page),
    handshakes.flatMap(({ hosts, ok, tools, trouble = '' }) =>
      problemLines(
        [
          ok
            ? t`The server answers with ${plural(tools, 'tool')}: ${hosts.join(', ')}`
            : t`Handshake FAILED for ${hosts.join(', ')}: ${trouble}`,
        ],
        page,
        ok ? MARKS.good : MARKS.bad,
      ),
    ),
    notes.flatMap((note) => wrapped(muted(note), page.width)),
    titled(t`Still to do`, problemLines(restLines(connected), page, MARKS.warn)),
    connected.length === 0
      ? []
      : [
          ...wrapped(line(span(firstWords(connected), 'strong')), page.width),
          ...wrapped(line(span(say(FIRST_WISH), 'name')), page.width, {
            first: line('  '),
            rest: line('  '),
          }),
        ],
  );
};

export const removeScreen: Draw<'remove'> = (data, page) =>
  setupScreen({ ...data, handshakes: [], notes: [] }, page);

const MARK_OF: Readonly<Partial<Record<Result['outcome'], Line[number]>>> = {
  refused: MARKS.bad,
  absent: span('·', 'muted'),
  shared: MARKS.warn,
};

/** What was done for one host, where, and what else belongs to it. */
function hostRow(result: Result): Row {
  const { name, scope, file, installed, outcome, problem = '', commands = [], copy } = result;
  const { dropped = [], kept = [] } = result;
  const more = [
    ...(installed || !isConnected(result) ? [] : [t`It does not seem to be installed.`]),
    ...(commands.length === 0 ? [] : [t`Its commands: ${commands.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [t`Left out, because the project had added it: ${dropped.join(', ')}`]),
    ...(kept.length === 0 ? [] : [t`Kept in the entry: ${kept.join(', ')}`]),
    ...(copy === undefined || outcome !== 'updated' ? [] : [t`The file as it was: ${copy}`]),
  ];
  const below = line(...(problem === '' ? [] : [`${problem} `]), span(more.join(' '), 'muted'));
  return {
    cells: [
      line(MARK_OF[outcome] ?? MARKS.good, ' ', span(name, 'strong')),
      line(say(SAID[outcome]) + (scope === 'project' ? t` in this project` : '')),
      muted(file),
    ],
    ...(problem === '' && more.length === 0 ? {} : { below }),
  };
}
