import { BmadError, quoted } from '../../base/errors.ts';
import { CLI_PROGRAM } from '../../base/product.ts';
import { nearest } from '../../base/text/suggest.ts';
import { OPTIONS } from './commands.prepared.ts';
import { COMPLETION } from './overview.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof SHELLS)[number];

/** Commands whose first word is the name of an agent or a workflow, which are asked for when Tab is pressed. */
const NAMED = ['execute', 'read', 'explain', 'context'];

/** What each shell is told once, in the file that it reads when it starts. */
const PUT: Record<Shell, string> = {
  bash: `eval "$(${CLI_PROGRAM} ${COMPLETION} bash)"   in ~/.bashrc`,
  zsh: `eval "$(${CLI_PROGRAM} ${COMPLETION} zsh)"   in ~/.zshrc, after compinit`,
  fish: `${CLI_PROGRAM} ${COMPLETION} fish > ~/.config/fish/completions/${CLI_PROGRAM}.fish`,
  powershell: `${CLI_PROGRAM} ${COMPLETION} powershell | Out-String | Invoke-Expression   in $PROFILE`,
};

/** The script for a shell that was typed; an unknown word is an error that names those there are. */
export function completionFor(typed: string | undefined): string {
  const shell = SHELLS.find((known) => known === typed?.toLowerCase());
  if (shell !== undefined) return completionScript(shell);
  const shown = SHELLS.map((each) => `  ${PUT[each]}`).join('\n');
  throw new BmadError(
    'invalid_input',
    typed === undefined ? 'Which shell?' : `There is no completion for ${quoted(typed)}.`,
    { suggestions: nearest(typed ?? '', [...SHELLS]), hint: `Put one of these where it says:\n${shown}` },
  );
}

/** The words after each beginning of a command: of `''` the commands, of `run` its own, of `run open` its options. */
function wordsAfter(): Map<string, string[]> {
  const words = new Map<string, string[]>([
    ['', [COMPLETION, 'serve']],
    [COMPLETION, [...SHELLS]],
  ]);
  const add = (after: string, word: string): void => {
    const known = words.get(after) ?? [];
    if (!known.includes(word)) words.set(after, [...known, word]);
  };
  for (const { command, options } of OPTIONS) {
    const [first = '', inner] = command.split(' ');
    add('', first);
    if (inner !== undefined) add(first, inner);
    for (const option of options) add(command, option);
  }
  for (const [after, all] of words) words.set(after, all.sort());
  return words;
}

/** Only letters and dashes: nothing here needs quoting in any shell. */
const PLAIN = /^[\w -]*$/;

export function completionScript(shell: Shell): string {
  const words = wordsAfter();
  for (const each of [...words.keys(), ...[...words.values()].flat()])
    if (!PLAIN.test(each)) throw new Error(`${each} needs quoting in a shell.`);
  return { bash, zsh, fish, powershell }[shell](words);
}

const NAMES = `for what in agents workflows; do ${CLI_PROGRAM} list $what --detail brief 2>/dev/null; done | tr ',' ' '`;

/** Puts the words that may come behind those typed into a variable, in bash and zsh alike. */
function choice(words: ReadonlyMap<string, readonly string[]>, variable: string): string {
  const cases = [...words].map(([after, all]) => `    '${after}') ${variable}='${all.join(' ')}' ;;`);
  return `  case "$typed" in
${cases.join('\n')}
    *) case "\${typed% *}" in
${cases.map((each) => `  ${each}`).join('\n')}
      esac ;;
  esac
  case "$typed" in ${NAMED.map((each) => `'${each}'`).join('|')})
    case "$current" in -*) ;; *) ${variable}="$${variable} $(${NAMES})" ;; esac ;;
  esac`;
}

function bash(words: ReadonlyMap<string, readonly string[]>): string {
  return `# ${CLI_PROGRAM}: completion for bash
_${CLI_PROGRAM}_completion() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
${choice(words, 'words')}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${CLI_PROGRAM}_completion ${CLI_PROGRAM}
`;
}

/** Its own, since zsh reads the substring of an array that bash takes in another way. */
function zsh(words: ReadonlyMap<string, readonly string[]>): string {
  return `# ${CLI_PROGRAM}: completion for zsh
_${CLI_PROGRAM}_completion() {
  local current="\${words[CURRENT]}" typed='' found='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
${choice(words, 'found')}
  compadd -- \${=found}
}
compdef _${CLI_PROGRAM}_completion ${CLI_PROGRAM}
`;
}

/** `just` holds where nothing else is typed but options, `after` also where more words have followed. */
function fish(words: ReadonlyMap<string, readonly string[]>): string {
  const typed = `__${CLI_PROGRAM}_typed`;
  const lines = [...words].map(([after, all]) => {
    const inner = all.some((word) => !word.startsWith('-'));
    const when = `${typed} ${[inner ? 'just' : 'after', after].join(' ').trim()}`;
    return `complete -c ${CLI_PROGRAM} -f -n '${when}' -a '${all.join(' ')}'`;
  });
  const names = NAMED.map(
    (each) =>
      `complete -c ${CLI_PROGRAM} -f -n '${typed} just ${each}' -a '(for what in agents workflows; ${CLI_PROGRAM} list $what --detail brief 2>/dev/null; end | string split ", ")'`,
  );
  return `# ${CLI_PROGRAM}: completion for fish
function ${typed}
  set -l typed (commandline -opc | string match -v -- '-*')
  set -e typed[1]
  set -l wanted $argv[2..-1]
  test $argv[1] = after; and set typed $typed[1..(count $wanted)]
  test "$typed" = "$wanted"
end
${[...lines, ...names].join('\n')}
`;
}

function powershell(words: ReadonlyMap<string, readonly string[]>): string {
  const table = [...words].map(([after, all]) => `    '${after}' = '${all.join(' ')}'`);
  return `# ${CLI_PROGRAM}: completion for PowerShell
Register-ArgumentCompleter -Native -CommandName ${CLI_PROGRAM} -ScriptBlock {
  param($current, $line, $position)
  $after = @{
${table.join('\n')}
  }
  $typed = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" } | Where-Object { $_ -notlike '-*' })
  if ($current -ne '' -and $current -notlike '-*' -and $typed.Count -gt 0) { $typed = @($typed | Select-Object -SkipLast 1) }
  $words = $null
  for ($count = [Math]::Min(2, $typed.Count); $count -ge 0 -and $null -eq $words; $count--) {
    $words = $after[(@($typed | Select-Object -First $count) -join ' ')]
  }
  "$words".Split(' ') | Where-Object { $_ -like "$current*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;
}

/** Whether a flag is an option of the command typed before it, though all commands have one of that name. */
export function isOwnOption(flag: string, before: readonly string[]): boolean {
  const first = before.findIndex((word) => !word.startsWith('-'));
  const typed = first === -1 ? '' : `${before.slice(first).join(' ')} `;
  return OPTIONS.some(({ command, options }) => typed.startsWith(`${command} `) && options.includes(flag));
}
