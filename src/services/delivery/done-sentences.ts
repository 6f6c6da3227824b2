/** A sentence of BMAD's texts that asks for something the server has done, or for nothing at all. */
interface DoneSentence {
  is: RegExp;
  /** Settings that have to be empty, beside those that the sentence names as `{workflow.x}`. */
  empty?: readonly string[];
  /** Whether it names values without braces: `user_name`. */
  isPlain?: true;
}

const HOOKS = ['activation_steps_prepend', 'activation_steps_append'];

/** A list of values, each with what may be said of it. */
const VALUES = String.raw`\`\{\w+\}\`(?: \((?:under|skip)(?:[^()\`]|\`[^\`]*\`)*\))?(?:(?:, and|,| and) \`\{\w+\}\`(?: \((?:under|skip)(?:[^()\`]|\`[^\`]*\`)*\))?)*`;

const SENTENCES: readonly DoneSentence[] = [
  {
    is: /(?:\*\*)?Resolve customization:(?:\*\*)? `(?:uv run|python3) [^`]+\/resolve_customization\.py [^`]+`(?: \(on failure read `\{skill-root\}\/customize\.toml`, use defaults\))?\./,
  },
  { is: /Run: `(?:uv run|python3) [^`]+\/resolve_customization\.py [^`]+`/ },
  {
    is: /On failure, (?:use a subagent to )?read `\{skill-root\}\/customize\.toml` directly(?: and use defaults| with defaults)?\./,
  },
  {
    is: /\*\*If the script fails\*\*, resolve the `\w+` block yourself by reading these three files in base → team → user order and applying the same structural merge rules as the resolver: 1\. `\{skill-root\}\/customize\.toml` — defaults 2\. `\{project-root\}\/_bmad\/custom\/\{skill-name\}\.toml` — team overrides 3\. `\{project-root\}\/_bmad\/custom\/\{skill-name\}\.user\.toml` — personal overrides Any missing file is skipped\. Scalars override, tables deep-merge, arrays of tables keyed by `code` or `id` replace matching entries and append new entries, and all other arrays append\./,
  },
  {
    is: /(?:Execute|Run|Then execute) (?:each )?(?:entry in )?`\{\w+\.activation_steps_\w+\}`(?:, then `\{\w+\.activation_steps_\w+\}`)?(?: entry)?(?: in order)?(?: before proceeding)?\./,
  },
  {
    is: /Run each `\{\w+\.activation_steps_\w+\}` entry; if either hook list was non-empty, confirm every entry ran before continuing\./,
    empty: HOOKS,
  },
  {
    is: /Run each `\{\w+\.activation_steps_\w+\}` entry; treat each `\{\w+\.persistent_facts\}` entry as foundational context \((?:[^()`]|`[^`]*`)*\)\./,
  },
  {
    is: /Execute `\{\w+\.activation_steps_\w+\}`; treat `\{\w+\.persistent_facts\}` entries as standing context \((?:[^()`]|`[^`]*`)*\)\./,
  },
  {
    is: /Then run each `\{\w+\.activation_steps_\w+\}` entry, and hold each `\{\w+\.persistent_facts\}` entry as session-long context \((?:[^()`]|`[^`]*`)*\)\./,
  },
  {
    is: /Then execute each `\{\w+\.activation_steps_\w+\}` entry in order, hold `\{\w+\.persistent_facts\}` as standing context for the session, and treat `\{\w+\.review_guidance\}` entries as standing review directives for every lens\./,
  },
  {
    is: /Treat (?:every|each) (?:entry in )?`\{\w+\.persistent_facts\}`(?: entry)? as foundational context(?: you carry)?(?: for the rest of the (?:workflow run|run|session))?\. Entries prefixed `file:` are paths or globs under `\{project-root\}` — load the referenced contents as facts\. All other entries are facts verbatim\./,
  },
  {
    is: /Treat (?:each )?`\{\w+\.persistent_facts\}`(?: entry)? as foundational context \((?:[^()`]|`[^`]*`)*\)\./,
  },
  {
    is: /Hold `\{\w+\.persistent_facts\}` as standing context — empty unless the user opted in — and consult `\{\w+\.external_sources\}` on demand\./,
  },
  {
    is: /`\{\w+\.external_sources\}` is an org-configured registry of internal tools(?: \([^()]*\))?; consult them alongside generic web research on the same triggers(?: in `[^`]+`)?, org tools preferred when their directive matches\.(?: If a named tool is unavailable at runtime, fall back to standard behavior and note the gap when relevant\.)?/,
  },
  {
    is: new RegExp(
      String.raw`Load \`\{project-root\}\/_bmad\/\w+\/config\.yaml\` \((?:and|\+) \`config\.user\.yaml\` if present\)(?: to resolve|\. Resolve) ${VALUES}\.(?: Missing keys → neutral defaults; never block\.)?`,
    ),
  },
  {
    is: new RegExp(
      String.raw`Resolve (?:central )?config: \`(?:uv run|python3) [^\`]+\/resolve_config\.py [^\`]+\`(?: \(merges (?:[^()\`]|\`[^\`]*\`)*\))?[.;] [Ff]rom the merged JSON (?:resolve|read) ${VALUES}(?:; \`\{date\}\` is today)?(?:; missing keys take neutral defaults, never block)?\.(?: On failure (?:or missing values →|use) neutral defaults; never block\.)?`,
    ),
  },
  { is: /\*\*Resolve core config:\*\* `(?:uv run|python3) [^`]+\/resolve_config\.py [^`]+`\./ },
  {
    is: /\*\*Load config\*\* from `\{project-root\}\/_bmad\/\w+\/config\.yaml`: `\w+`(?:, `\w+`)*, and `date` \(system datetime\), plus `\w+` from `\{project-root\}\/_bmad\/core\/config\.yaml`\./,
    isPlain: true,
  },
  {
    is: /Activation is complete\. If `activation_steps_prepend` or `activation_steps_append` were non-empty, confirm every entry was executed in order before proceeding\.(?: Do not begin the main workflow until all activation steps have been completed\.)?/,
    empty: HOOKS,
  },
  { is: /Activation is complete after all activation steps have run\./, empty: HOOKS },
  {
    is: /\*\*Resolve the workflow block\.\*\* Run `(?:uv run|python3) [^`]+\/resolve_customization\.py [^`]+`\. If it fails, resolve `\{workflow\.\*\}` yourself by reading `\{skill-root\}\/customize\.toml`, then `\{project-root\}\/_bmad\/custom\/\{skill-name\}\.toml`, then `\.user\.toml` in that order, merging base → team → user \((?:[^()`]|`[^`]*`)*\)\./,
  },
  {
    is: /\*\*Run (?:prepend|append) steps\*\* — execute each entry in `\{\w+\.activation_steps_\w+\}` in order\./,
  },
  {
    is: /\*\*Load persistent facts\*\* — treat every `\{\w+\.persistent_facts\}` entry as standing context\. `file:` entries are paths\/globs under `\{project-root\}` whose contents load as facts; all others are literal facts\./,
  },
  // Rendered texts have the settings in them.
  {
    is: /Execute each of these steps in order(?: before proceeding)? \(`_None\._` means skip\): _None\._/,
  },
  {
    is: /Treat every entry below as foundational context you carry for the rest of the workflow run\. Entries prefixed `file:` are paths or globs under `\{project-root\}` (?:--|—) load the referenced contents as facts\. All other entries are facts verbatim \(`_None\._` means none\): _None\._/,
  },
];

/** Sentences as BMAD writes them, where a blank stands for any white space. Each is known to the letter. */
export const DONE_SENTENCES: readonly DoneSentence[] = SENTENCES.map((sentence) => ({
  ...sentence,
  is: new RegExp(sentence.is.source.replaceAll(' ', String.raw`\s{1,20}`), 'y'),
}));
