export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables that programs of a contract are given. Everything else stays with the server: what hosts hand to an MCP
 * server are often keys, and a script that prints its environment would show them.
 */
const GIVEN = new Set(
  (
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP ' +
    // Where toolchains and their caches are.
    'GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS JAVA_HOME VIRTUAL_ENV PYENV_ROOT PYENV_VERSION NVM_DIR NVM_BIN VOLTA_HOME ' +
    'FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR BUN_INSTALL PNPM_HOME CARGO_HOME RUSTUP_HOME DENO_DIR ' +
    'XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR DOCKER_HOST DOCKER_CONTEXT KUBECONFIG TF_DATA_DIR ' +
    // What Windows cannot do without.
    'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES ' +
    'PROGRAMFILES(X86) HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE'
  ).split(' '),
);

/** What programs are told whatever the server was told: nobody watches, and there are no colours. */
const SET = { CI: 'true', NO_COLOR: '1', TERM: 'dumb' };

/** The environment of a contract's programs: the names above, those the user has added, and our own. */
export function contractEnvironment(
  env: Environment,
  added: readonly string[],
  own: Environment = {},
): Record<string, string> {
  const wanted = new Set(added);
  const given = Object.entries(env).filter(
    ([name]) => GIVEN.has(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name) || wanted.has(name),
  );
  return Object.fromEntries(
    Object.entries({ ...Object.fromEntries(given), ...SET, ...own }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}
